// Checks of arrays at the door, and rows that are left out together.
// Must not know of files, axes' names or models.
#include "core/data/door.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/data/number.hpp"

namespace locus {
namespace {

constexpr double largest_exact = 0x1p53;  // beyond it float64 skips integers

std::int64_t row_width(const Array& array) {
  const std::int64_t rows = array.shape().empty() ? 1 : array.shape().front();
  return rows == 0 ? 0 : array.count() / rows;
}

struct Fault {
  std::int64_t first = 0, count = 0;
};

/// The first entry for which `bad` holds, and how many there are.
template <class Bad>
Fault find_bad(const Array& array, Bad bad) {
  Fault fault;
  for (std::int64_t k = 0, count = array.count(); k < count; ++k) {
    if (!bad(array.number(k))) continue;
    if (fault.count++ == 0) fault.first = k;
  }
  return fault;
}

void report(Code code, const Array& array, const Named& named, const Fault& fault, const std::string& expected, const std::string& help,
            Diagnostics& diagnostics) {
  Diagnostic d{code, {}, {}, {}, {}, help, named.name};
  const std::string place = entry_text(array, fault.first, named.columns);
  d.message = (place.empty() ? "it" : place) + " is " + number_word(array.number(fault.first)) + ", " + expected;
  if (fault.count > 1) d.notes.push_back({{}, std::to_string(fault.count) + " entries of " + std::to_string(array.count()) + " are like this"});
  diagnostics.add(std::move(d));
}

bool finite_row(const Array& array, std::int64_t row, std::int64_t width) {
  for (std::int64_t k = row * width; k < (row + 1) * width; ++k)
    if (!std::isfinite(array.number(k))) return false;
  return true;
}

}  // namespace

std::string entry_text(const Array& array, std::int64_t k, const std::vector<std::string>& columns) {
  const auto& shape = array.shape();
  if (shape.empty()) return {};
  if (shape.size() <= 2) {
    const std::int64_t width = shape.size() == 2 ? shape[1] : 1;
    const std::size_t column = static_cast<std::size_t>(k % width);
    const std::string row = "row " + std::to_string(k / width + 1);
    if (column < columns.size()) return row + ", column '" + columns[column] + "'";
    return shape.size() == 2 ? row + ", column " + std::to_string(column + 1) : row;
  }
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; k /= shape[axis]) index[axis] = k % shape[axis] + 1;
  return "entry " + shape_text(index);
}

bool check_finite(const Array& array, const Named& named, Missing policy, Diagnostics& diagnostics) {
  if (policy != Missing::refuse || array.dtype() == Dtype::int64 || array.dtype() == Dtype::boolean) return true;
  const Fault fault = find_bad(array, [](double value) { return !std::isfinite(value); });
  if (fault.count == 0) return true;
  report(Code::E420, array, named, fault, "a finite number was expected",
         "`--missing drop` leaves out such rows, `--missing nan` lets them through as they are", diagnostics);
  return false;
}

std::optional<Array> as_integers(const Array& array, const Named& named, Diagnostics& diagnostics) {
  const Fault fault =
      array.dtype() == Dtype::int64
          ? Fault{}
          : find_bad(array, [](double value) { return !(std::fabs(value) <= largest_exact) || value != std::trunc(value); });
  if (fault.count == 0) return array.cast(Dtype::int64);
  const double value = array.number(fault.first);
  const bool large = std::fabs(value) > largest_exact;
  report(Code::E421, array, named, fault, large ? "an integer within ±9007199254740992 was expected" : "an integer was expected",
         std::isnan(value) ? "integers have no NaN: `--missing drop` leaves out such rows"
         : large           ? "save it as int64 in a .npy file: `array.astype('int64')`"
                           : "declare the input as real, or round it before: `numpy.rint(array)`",
         diagnostics);
  return std::nullopt;
}

std::optional<Array> as_booleans(const Array& array, const Named& named, Diagnostics& diagnostics) {
  const Fault fault = find_bad(array, [](double value) { return value != 0 && value != 1; });
  if (fault.count == 0) return array.cast(Dtype::boolean);
  report(Code::E422, array, named, fault, "0 or 1 was expected", "say what counts as true before saving: `array != 0`", diagnostics);
  return std::nullopt;
}

bool check_shape(const Array& array, const Named& named, const std::vector<std::int64_t>& declared, Diagnostics& diagnostics) {
  const auto& found = array.shape();
  bool fits = found.size() == declared.size();
  for (std::size_t axis = 0; fits && axis < found.size(); ++axis) fits = declared[axis] < 0 || declared[axis] == found[axis];
  if (fits) return true;
  Diagnostic d{Code::E423, {}, {}, {}, {}, {}, named.name};
  std::string wanted = "[";
  bool free = false;
  std::int64_t fixed = 1;
  for (std::size_t axis = 0; axis < declared.size(); ++axis) {
    wanted += (axis > 0 ? ", " : "") + (declared[axis] < 0 ? std::string("any") : std::to_string(declared[axis]));
    if (declared[axis] < 0) free = true;
    else fixed *= declared[axis];
  }
  wanted += "]";
  d.message = "the shape is " + shape_text(found) + (found.empty() ? " (a number)" : "") + ", expected is " + wanted +
              (declared.empty() ? " (a number)" : "");
  // A repair is offered only where the same entries fit the declared shape in one way.
  if (!free && fixed == array.count()) {
    std::string tuple = "(";
    for (std::int64_t size : declared) tuple += std::to_string(size) + ",";
    d.help = "the entries fit another shape: `numpy.save('reshaped.npy', array.reshape(" + tuple + ")))`";
  }
  diagnostics.add(std::move(d));
  return false;
}

std::vector<std::int64_t> complete_rows(std::span<const Array> together) {
  std::vector<std::int64_t> rows;
  const std::int64_t total = together.empty() || together.front().shape().empty() ? 0 : together.front().shape().front();
  for (std::int64_t row = 0; row < total; ++row) {
    const bool complete = std::all_of(together.begin(), together.end(), [&](const Array& array) {
      return array.dtype() == Dtype::int64 || array.dtype() == Dtype::boolean || finite_row(array, row, row_width(array));
    });
    if (complete) rows.push_back(row);
  }
  return rows;
}

Array keep_rows(const Array& array, std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> shape = array.shape();
  shape.front() = static_cast<std::int64_t>(rows.size());
  Array kept(array.dtype(), shape);
  const std::size_t bytes = static_cast<std::size_t>(row_width(array)) * size_of(array.dtype());
  if (bytes == 0) return kept;
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(kept.as<std::byte>() + i * bytes, array.as<std::byte>() + static_cast<std::size_t>(rows[i]) * bytes, bytes);
  return kept;
}

Array spread_rows(const Array& array, std::span<const std::int64_t> rows, std::int64_t total) {
  const bool floating = array.dtype() == Dtype::float32 || array.dtype() == Dtype::float64;
  const Array source = floating ? array : array.cast(Dtype::float64);
  std::vector<std::int64_t> shape = source.shape();
  shape.front() = total;
  Array spread(source.dtype(), shape);
  if (source.dtype() == Dtype::float32) std::fill_n(spread.as<float>(), spread.count(), std::numeric_limits<float>::quiet_NaN());
  else std::fill_n(spread.as<double>(), spread.count(), std::numeric_limits<double>::quiet_NaN());
  const std::size_t bytes = static_cast<std::size_t>(row_width(source)) * size_of(source.dtype());
  if (bytes == 0) return spread;
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(spread.as<std::byte>() + static_cast<std::size_t>(rows[i]) * bytes, source.as<std::byte>() + i * bytes, bytes);
  return spread;
}

}  // namespace locus
