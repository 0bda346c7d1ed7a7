// Whole-array functions except those of chance: joining, order, sums along an axis, images, lists of pairs.
// Every call checks the shapes it is given: they come through the C table.
#include "core/run/arrays.hpp"
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <vector>
#include "core/run/view.hpp"

namespace locus {
namespace {

bool same_dims(const View& a, const View& b) { return std::ranges::equal(a.dims(), b.dims()); }
bool same_front(const View& a, const View& b, std::size_t dropped) {
  return a.dims().size() == b.dims().size() && a.dims().size() >= dropped &&
         std::ranges::equal(a.dims().first(a.dims().size() - dropped), b.dims().first(b.dims().size() - dropped));
}

// NaN is greater than every number, as numpy has it.
bool before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

int concat(const ArrayCallArguments& call) {
  const View out(call.out[0]);
  std::int64_t width = 0;
  for (const locus_host_array& a : call.in) {
    const View in(a);
    if (a.rank != 0 ? !same_front(in, out, 1) : out.dims().size() != 1) return LOCUS_FAILED;
    width += in.last();
  }
  if (width != out.last() || call.in.empty()) return LOCUS_FAILED;
  std::int64_t at = 0;
  for (const locus_host_array& a : call.in) {
    const View in(a);
    for (std::int64_t r = 0; r < out.before_last(); ++r) out.copy(r * width + at, in, r * in.last(), in.last());
    at += in.last();
  }
  return LOCUS_OK;
}

int sort(const ArrayCallArguments& call) {
  const View in(call.in[0]), out(call.out[0]);
  if (!same_dims(in, out)) return LOCUS_FAILED;
  const std::int64_t n = in.last();
  std::vector<double> numbers(static_cast<std::size_t>(n));
  std::vector<std::int64_t> whole(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < in.before_last(); ++r) {
    if (in.is_float()) {
      for (std::int64_t k = 0; k < n; ++k) numbers[k] = in.number(r * n + k);
      std::sort(numbers.begin(), numbers.end(), before);
      for (std::int64_t k = 0; k < n; ++k) out.set(r * n + k, numbers[k]);
    } else {
      for (std::int64_t k = 0; k < n; ++k) whole[k] = in.whole(r * n + k);
      std::sort(whole.begin(), whole.end());
      for (std::int64_t k = 0; k < n; ++k) out.set_whole(r * n + k, whole[k]);
    }
  }
  return LOCUS_OK;
}

int cumulate(const ArrayCallArguments& call, bool product) {
  const View in(call.in[0]), out(call.out[0]);
  if (!same_dims(in, out)) return LOCUS_FAILED;
  const std::int64_t n = in.last();
  for (std::int64_t r = 0; r < in.before_last(); ++r) {
    double number = product ? 1 : 0;
    std::uint64_t whole = product ? 1 : 0;  // wraps round
    for (std::int64_t k = r * n; k < (r + 1) * n; ++k) {
      if (in.is_float()) {
        number = product ? number * in.number(k) : number + in.number(k);
        out.set(k, number);
      } else {
        const auto next = static_cast<std::uint64_t>(in.whole(k));
        whole = product ? whole * next : whole + next;
        out.set_whole(k, static_cast<std::int64_t>(whole));
      }
    }
  }
  return LOCUS_OK;
}

int position(const ArrayCallArguments& call, bool largest) {
  const View in(call.in[0]), out(call.out[0]);
  const std::int64_t n = in.last();
  if (in.dims().empty() || !std::ranges::equal(in.dims().first(in.dims().size() - 1), out.dims()) || out.dtype() != LOCUS_INT64) return LOCUS_FAILED;
  if (n == 0 && out.count() != 0) return LOCUS_FAILED;
  for (std::int64_t r = 0; r < out.count(); ++r) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      if (in.is_float()) {
        const double a = in.number(r * n + k), b = in.number(r * n + best);
        if (!std::isnan(b) && (std::isnan(a) || (largest ? a > b : a < b))) best = k;
      } else {
        const std::int64_t a = in.whole(r * n + k), b = in.whole(r * n + best);
        if (largest ? a > b : a < b) best = k;
      }
    }
    out.set_whole(r, best);
  }
  return LOCUS_OK;
}

// -- images
// Where pixel k of a padded axis comes from in one of n pixels; -1: nowhere.
std::int64_t padded_from(std::int64_t k, std::int64_t n, std::uint32_t function) {
  if (k >= 0 && k < n) return k;
  if (function == LOCUS_ARRAY_PAD_ZERO) return -1;
  if (function == LOCUS_ARRAY_PAD_EDGE || n == 1) return k < 0 ? 0 : n - 1;
  const std::int64_t period = 2 * (n - 1), at = ((k % period) + period) % period;
  return at < n ? at : period - at;
}

bool whole_parameter(const ArrayCallArguments& call, std::size_t k, double low, double high, std::int64_t* value) {
  if (k >= call.parameters.size()) return false;
  const double p = call.parameters[k];
  if (!(p >= low && p <= high && p == std::floor(p))) return false;
  *value = static_cast<std::int64_t>(p);
  return true;
}

int pad(const ArrayCallArguments& call, std::uint32_t function) {
  const View in(call.in[0]), out(call.out[0]);
  std::int64_t r = 0;
  if (!whole_parameter(call, 0, 0, 0x1p40, &r) || in.dims().size() < 2 || !same_front(in, out, 2)) return LOCUS_FAILED;
  const std::size_t rank = in.dims().size();
  const std::int64_t rows = in.dims()[rank - 2], columns = in.dims()[rank - 1], high = rows + 2 * r, wide = columns + 2 * r;
  if (out.dims()[rank - 2] != high || out.dims()[rank - 1] != wide) return LOCUS_FAILED;
  if ((rows == 0 || columns == 0) && out.count() != 0 && function != LOCUS_ARRAY_PAD_ZERO) return LOCUS_FAILED;
  for (std::int64_t image = 0; image < in.before_last_two(); ++image)
    for (std::int64_t y = 0; y < high; ++y)
      for (std::int64_t x = 0; x < wide; ++x) {
        const std::int64_t from_y = padded_from(y - r, rows, function), from_x = padded_from(x - r, columns, function), to = (image * high + y) * wide + x;
        if (from_y < 0 || from_x < 0)
          out.set(to, 0);
        else
          out.copy(to, in, (image * rows + from_y) * columns + from_x, 1);
      }
  return LOCUS_OK;
}

int patches(const ArrayCallArguments& call) {
  const View in(call.in[0]), out(call.out[0]);
  std::int64_t s = 0;
  if (!whole_parameter(call, 0, 1, 0x1p20, &s) || in.dims().size() < 2 || !same_front(in, out, 2)) return LOCUS_FAILED;
  const std::size_t rank = in.dims().size();
  const std::int64_t rows = in.dims()[rank - 2], columns = in.dims()[rank - 1], high = rows - s + 1, wide = columns - s + 1;
  if (high < 0 || wide < 0 || out.dims()[rank - 2] != high * wide || out.dims()[rank - 1] != s * s) return LOCUS_FAILED;
  for (std::int64_t image = 0; image < in.before_last_two(); ++image)
    for (std::int64_t y = 0; y < high; ++y)
      for (std::int64_t x = 0; x < wide; ++x)
        for (std::int64_t row = 0; row < s; ++row) out.copy((((image * high + y) * wide + x) * s + row) * s, in, (image * rows + y + row) * columns + x, s);
  return LOCUS_OK;
}

// -- lists of pairs
int write_sums(const View& out, const std::vector<double>& sums) {
  for (std::size_t k = 0; k < sums.size(); ++k) out.set(static_cast<std::int64_t>(k), sums[k]);
  return LOCUS_OK;
}

int scatter(const ArrayCallArguments& call) {
  if (call.in.size() != 2) return LOCUS_FAILED;
  const View w(call.in[0]), near(call.in[1]), out(call.out[0]);
  if (near.dtype() != LOCUS_INT64 || !same_dims(w, near) || !same_front(near, out, 1)) return LOCUS_FAILED;
  const std::int64_t k = near.last(), m = out.last();
  std::vector<double> sums(static_cast<std::size_t>(out.count()), 0.0);
  for (std::int64_t t = 0; t < near.count(); ++t) {
    const std::int64_t j = near.whole(t);
    if (j == -1) continue;  // a place of the list that holds no neighbour
    if (j < 0 || j >= m) return LOCUS_FAULT;
    sums[static_cast<std::size_t>(t / k * m + j)] += w.number(t);
  }
  return write_sums(out, sums);
}

int matrix(const ArrayCallArguments& call) {
  if (call.in.size() != 3) return LOCUS_FAILED;
  const View rows(call.in[0]), columns(call.in[1]), values(call.in[2]), out(call.out[0]);
  if (rows.dtype() != LOCUS_INT64 || columns.dtype() != LOCUS_INT64 || !same_dims(rows, columns) || !same_dims(rows, values) || out.dims().size() != 2)
    return LOCUS_FAILED;
  const std::int64_t n = out.dims()[0], m = out.dims()[1];
  std::vector<double> sums(static_cast<std::size_t>(out.count()), 0.0);
  for (std::int64_t t = 0; t < rows.count(); ++t) {
    const std::int64_t i = rows.whole(t), j = columns.whole(t);
    if (i < 0 || i >= n || j < 0 || j >= m) return LOCUS_FAULT;
    sums[static_cast<std::size_t>(i * m + j)] += values.number(t);
  }
  return write_sums(out, sums);
}

// -- how well an embedding keeps neighbourhoods
double square_distance(const View& p, std::int64_t a, std::int64_t b) {
  double sum = 0;
  for (std::int64_t c = 0; c < p.last(); ++c) {
    const double d = p.number(a * p.last() + c) - p.number(b * p.last() + c);
    sum += d * d;
  }
  return sum;
}

// All points by their distance from point i, i itself last; ties by index.
std::vector<std::int64_t> by_distance(const View& p, std::int64_t i, std::int64_t n) {
  std::vector<double> distance(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) distance[j] = j == i ? std::numeric_limits<double>::infinity() : square_distance(p, i, j);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return before(distance[a], distance[b]); });
  return order;
}

int trustworthiness(const ArrayCallArguments& call) {
  if (call.in.size() != 2) return LOCUS_FAILED;
  const View x(call.in[0]), y(call.in[1]), out(call.out[0]);
  std::int64_t k = 0;
  if (x.dims().size() != 2 || y.dims().size() != 2 || x.dims()[0] != y.dims()[0] || out.count() != 1) return LOCUS_FAILED;
  const std::int64_t n = x.dims()[0];
  if (!whole_parameter(call, 0, 1, 0x1p40, &k) || k >= n) return LOCUS_FAILED;
  double excess = 0;
  std::vector<std::int64_t> rank(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto in_x = by_distance(x, i, n), in_y = by_distance(y, i, n);
    for (std::int64_t t = 0; t < n; ++t) rank[in_x[t]] = t;
    for (std::int64_t t = 0; t < k; ++t) excess += static_cast<double>(std::max<std::int64_t>(rank[in_y[t]] + 1 - k, 0));
  }
  const double size = static_cast<double>(n), near = static_cast<double>(k);
  out.set(0, 1 - 2 / (size * near * (2 * size - 3 * near - 1)) * excess);
  return LOCUS_OK;
}

int copy(const ArrayCallArguments& call) {
  const View in(call.in[0]), out(call.out[0]);
  if (in.count() != out.count()) return LOCUS_FAILED;
  out.copy(0, in, 0, in.count());
  return LOCUS_OK;
}

int run(std::uint32_t function, const ArrayCallArguments& call) {
  if (call.out.empty()) return LOCUS_FAILED;
  if (function >= LOCUS_ARRAY_PAIRS) return pairs(function, call);
  if (function >= LOCUS_ARRAY_SOLVE) return solve(function, call);
  if (call.out.size() != 1) return LOCUS_FAILED;
  if (function >= LOCUS_ARRAY_UNIFORM && function <= LOCUS_ARRAY_RANDOM_BETA) return draw(function, call);
  if (call.in.empty()) return LOCUS_FAILED;
  switch (function) {
    case LOCUS_ARRAY_CONCAT:
      return concat(call);
    case LOCUS_ARRAY_SORT:
      return sort(call);
    case LOCUS_ARRAY_CUMSUM:
      return cumulate(call, false);
    case LOCUS_ARRAY_CUMPROD:
      return cumulate(call, true);
    case LOCUS_ARRAY_ARGMAX:
      return position(call, true);
    case LOCUS_ARRAY_ARGMIN:
      return position(call, false);
    case LOCUS_ARRAY_PAD_EDGE:
    case LOCUS_ARRAY_PAD_MIRROR:
    case LOCUS_ARRAY_PAD_ZERO:
      return pad(call, function);
    case LOCUS_ARRAY_PATCHES:
      return patches(call);
    case LOCUS_ARRAY_SCATTER:
      return scatter(call);
    case LOCUS_ARRAY_MATRIX:
      return matrix(call);
    case LOCUS_ARRAY_TRUSTWORTHINESS:
      return trustworthiness(call);
    case LOCUS_ARRAY_COPY:
      return copy(call);
    default:
      return LOCUS_UNSUPPORTED;
  }
}

}  // namespace

int array_function(std::uint32_t function, std::uint32_t inputs, const locus_host_array* input, std::uint32_t outputs, locus_host_array* output,
                   std::uint32_t parameters, const double* parameter) {
  for (const auto& [count, arrays] : {std::pair{inputs, input}, std::pair{outputs, static_cast<const locus_host_array*>(output)}})
    for (std::uint32_t k = 0; k < count; ++k)
      if (arrays[k].rank > LOCUS_MAX_RANK || arrays[k].dtype > LOCUS_FLOAT64) return LOCUS_FAILED;
  try {
    return run(function, {{input, inputs}, {output, outputs}, {parameter, parameters}});
  } catch (const std::bad_alloc&) {
    return LOCUS_OUT_OF_MEMORY;
  }
}

}  // namespace locus
