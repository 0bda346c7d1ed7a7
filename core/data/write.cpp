// Results as .npy or as tables. A table is made whole in memory and written whole.
// Must not know how results came about.
#include "core/data/write.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "core/data/csv.hpp"
#include "core/data/file.hpp"
#include "core/data/npy.hpp"
#include "core/data/number.hpp"

namespace locus {
namespace {

std::int64_t rows_of(const Array& array) { return array.shape().empty() ? 1 : array.shape().front(); }
std::int64_t width_of(const Array& array) { return array.shape().size() == 2 ? array.shape()[1] : 1; }

/// A name as a cell: quoted only where it must be.
std::string cell_text(const std::string& name, char delimiter) {
  if (name.find_first_of(std::string("\"\r\n") + delimiter) == std::string::npos) return name;
  std::string quoted = "\"";
  for (char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

bool fits_table(std::span<const Result> results, const std::string& path, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  for (const Result& result : results) {
    if (result.array.shape().size() > 2)
      diagnostics.add({Code::E431, {}, "'" + result.name + "' has the shape " + shape_text(result.array.shape()) + ", a table has at most two axes", {}, {},
                       "write it as `" + result.name + ".npy`", path});
    else if (rows_of(result.array) != rows_of(results[0].array))
      diagnostics.add({Code::E431, {}, "'" + result.name + "' has " + std::to_string(rows_of(result.array)) + " rows, '" + results[0].name + "' has " +
                                           std::to_string(rows_of(results[0].array)) + ": they do not stand beside each other in one table",
                       {}, {}, "write each to a file of its own", path});
  }
  return diagnostics.errors() == before;
}

void add_row(std::string& text, std::span<const Result> results, std::int64_t row, char delimiter, bool first) {
  for (const Result& result : results) {
    const std::int64_t width = width_of(result.array);
    for (std::int64_t k = 0; k < width; ++k) {
      if (!first) text += delimiter;
      first = false;
      text += number_text(result.array, row * width + k);
    }
  }
  text += '\n';
}

bool ends_with(const std::string& path, std::string_view end) {
  return path.size() > end.size() && std::string_view(path).substr(path.size() - end.size()) == end;
}

bool write_npy(const std::string& path, std::span<const Result> results, const std::optional<Kept>& kept, Diagnostics& diagnostics) {
  if (results.size() != 1) {
    diagnostics.add({Code::E431, {}, "a .npy file holds one array, there are " + std::to_string(results.size()) + " results", {}, {},
                     "write each to a file of its own", path});
    return false;
  }
  const Array& array = results[0].array;
  const bool spread = kept && !array.shape().empty() && rows_of(array) == static_cast<std::int64_t>(kept->rows.size());
  return write_file(path, npy_bytes(spread ? spread_rows(array, kept->rows, kept->total) : array), diagnostics);
}

}  // namespace

std::string number_text(const Array& array, std::int64_t k) {
  switch (array.dtype()) {
    case Dtype::boolean: return array.number(k) != 0 ? "1" : "0";
    case Dtype::int64: return std::to_string(array.as<std::int64_t>()[k]);
    case Dtype::float32: return number_word(array.as<float>()[k]);
    case Dtype::float64: break;
  }
  return number_word(array.as<double>()[k]);
}

std::optional<std::string> csv_text(std::span<const Result> results, char delimiter, const std::optional<Kept>& kept, const std::string& path,
                                    Diagnostics& diagnostics) {
  if (results.empty() || !fits_table(results, path, diagnostics)) return std::nullopt;
  const std::int64_t rows = rows_of(results[0].array);
  // Results that are not one row for each row kept (totals, centres) have no rows of the input to stand beside.
  const bool spread = kept && !results[0].array.shape().empty() && rows == static_cast<std::int64_t>(kept->rows.size());
  std::string text = spread ? "row" : "";
  std::int64_t columns = 0;
  for (const Result& result : results) {
    const std::int64_t width = width_of(result.array);
    for (std::int64_t k = 0; k < width; ++k, ++columns) {
      if (!text.empty()) text += delimiter;
      text += cell_text(width == 1 ? result.name : result.name + "_" + std::to_string(k), delimiter);
    }
  }
  text += '\n';
  std::size_t next = 0;
  for (std::int64_t row = 0; row < (spread ? kept->total : rows); ++row) {
    if (spread) text += std::to_string(row + 1);
    if (!spread) add_row(text, results, row, delimiter, true);
    else if (next < kept->rows.size() && kept->rows[next] == row) add_row(text, results, static_cast<std::int64_t>(next++), delimiter, false);
    else {
      for (std::int64_t k = 0; k < columns; ++k) text += std::string(1, delimiter) + "NA";
      text += '\n';
    }
  }
  return text;
}

bool write_results(const std::string& path, std::span<const Result> results, const std::optional<Kept>& kept, Diagnostics& diagnostics) {
  if (ends_with(path, ".npy")) return write_npy(path, results, kept, diagnostics);
  const bool tab = ends_with(path, ".tsv");
  if (path != "-" && !tab && !ends_with(path, ".csv")) {
    diagnostics.add({Code::E432, {}, "'" + path + "' does not say what to write: known are .npy, .csv, .tsv and `-`", {}, {},
                     "write to `" + std::filesystem::path(path).replace_extension(".csv").string() + "`", {}});
    return false;
  }
  const auto text = csv_text(results, tab ? '\t' : ',', kept, path == "-" ? "standard output" : path, diagnostics);
  return text && write_file(path, *text, diagnostics);
}

}  // namespace locus
