// Matrices of pairs as lists: made, turned, joined, looked up, summed, multiplied. Rows in order and columns ascending, so that two lists are walked side by side.
// Every call checks the lists it is given: they come through the C table.
#include <cmath>
#include <vector>
#include "core/run/pair_list.hpp"
#include "plugins/host/host_services.hpp"

namespace locus {
namespace {

/// Calls body(begin, end) over [0, rows) on the host's threads. Chunks do not depend on their number.
template <class Body>
void parallel(std::int64_t rows, Body&& body) {
  const locus_host* host = host_services().table();
  host->parallel_for(host->context, rows, 1024, [](void* argument, std::int64_t begin, std::int64_t end) { (*static_cast<Body*>(argument))(begin, end); }, &body);
}

bool is_list(const View& v) { return v.dims().size() == 1 && v.dtype() == LOCUS_INT64; }

/// Writes a list whose rows come in order. What lies behind the last entry is 0, so that reads by it stay inside.
class Writer {
 public:
  Writer(const View& starts, const View& rows, const View& columns) : starts_(starts), rows_(rows), columns_(columns) {}
  bool fits(std::int64_t rows) const { return is_list(starts_) && is_list(rows_) && is_list(columns_) && starts_.count() == rows + 1 && rows_.count() == columns_.count(); }
  void open(std::int64_t row) { starts_.set_whole(row_ = row, used_); }
  bool add(std::int64_t column) {
    if (used_ >= columns_.count()) return false;
    rows_.set_whole(used_, row_), columns_.set_whole(used_, column);
    ++used_;
    return true;
  }
  void close() {
    starts_.set_whole(starts_.count() - 1, used_);
    for (std::int64_t e = used_; e < columns_.count(); ++e) rows_.set_whole(e, 0), columns_.set_whole(e, 0);
  }
  std::int64_t used() const { return used_; }

 private:
  const View &starts_, &rows_, &columns_;
  std::int64_t row_ = 0, used_ = 0;
};

int make(const ArrayCallArguments& call) {
  if (call.in.size() < 2 || call.in.size() > 3 || call.out.size() != 4 || call.parameters.size() != 1) return LOCUS_FAILED;
  const bool by_row = call.in.size() == 2;  // [n, k]: the row is the place in the first axis
  const View columns(call.in[by_row ? 0 : 1]), values(call.in[by_row ? 1 : 2]), given(call.in[0]), starts(call.out[0]), out_rows(call.out[1]), out_columns(call.out[2]), out(call.out[3]);
  if (columns.dtype() != LOCUS_INT64 || given.dtype() != LOCUS_INT64 || !std::ranges::equal(columns.dims(), values.dims()) || !std::ranges::equal(columns.dims(), given.dims())) return LOCUS_FAILED;
  if (columns.dims().size() != (by_row ? 2U : 1U) || starts.count() < 1) return LOCUS_FAILED;
  const std::int64_t count = columns.count(), n = starts.count() - 1, k = columns.last(), m = static_cast<std::int64_t>(call.parameters[0]);
  Writer list(starts, out_rows, out_columns);
  if (!list.fits(n) || out.dims().size() != 1 || out.count() != out_rows.count() || out.count() < count || (by_row && columns.dims()[0] != n)) return LOCUS_FAILED;
  const auto row_of = [&](std::int64_t t) { return by_row ? t / k : given.whole(t); };
  std::vector<std::int64_t> begin(static_cast<std::size_t>(n) + 1), order(static_cast<std::size_t>(count));
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int64_t j = columns.whole(t), i = row_of(t);
    if (j == -1) continue;  // a place of a list that holds no neighbour
    if (j < 0 || j >= m || i < 0 || i >= n) return LOCUS_FAULT;
    ++begin[static_cast<std::size_t>(i) + 1];
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) begin[i + 1] += begin[i];
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (std::int64_t t = 0; t < count; ++t)
    if (columns.whole(t) != -1) order[static_cast<std::size_t>(next[static_cast<std::size_t>(row_of(t))]++)] = t;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto first = order.begin() + begin[static_cast<std::size_t>(i)], last = order.begin() + begin[static_cast<std::size_t>(i) + 1];
    std::stable_sort(first, last, [&](std::int64_t a, std::int64_t b) { return columns.whole(a) < columns.whole(b); });
    list.open(i);
    for (auto at = first; at != last;) {
      const std::int64_t j = columns.whole(*at);
      double sum = 0;
      for (; at != last && columns.whole(*at) == j; ++at) sum += values.number(*at);
      if (!list.add(j)) return LOCUS_FAILED;
      out.set(list.used() - 1, sum);
    }
  }
  list.close();
  for (std::int64_t e = list.used(); e < out.count(); ++e) out.set(e, 0);
  return LOCUS_OK;
}

int turn(const ArrayCallArguments& call) {
  if (call.in.size() != 3 || call.out.size() != 4) return LOCUS_FAILED;
  const auto list = PairList::read(call.in[0], call.in[1]);
  const View values(call.in[2]), starts(call.out[0]), rows(call.out[1]), columns(call.out[2]), out(call.out[3]);
  if (!list || !is_list(starts) || !is_list(rows) || !is_list(columns) || starts.count() < 1 || values.count() < list->used || list->width > starts.count() - 1) return LOCUS_FAILED;
  if (rows.count() < list->used || columns.count() != rows.count() || out.count() != rows.count()) return LOCUS_FAILED;
  const std::int64_t m = starts.count() - 1;
  std::vector<std::int64_t> next(static_cast<std::size_t>(m) + 1);
  for (std::int64_t e = 0; e < list->used; ++e) ++next[static_cast<std::size_t>(list->columns[e]) + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(m); ++j) next[j + 1] += next[j];
  for (std::int64_t j = 0; j <= m; ++j) starts.set_whole(j, next[static_cast<std::size_t>(j)]);
  for (std::int64_t i = 0; i < list->rows; ++i)
    for (std::int64_t e = list->starts[i]; e < list->starts[i + 1]; ++e) {
      const std::int64_t to = next[static_cast<std::size_t>(list->columns[e])]++;
      rows.set_whole(to, list->columns[e]), columns.set_whole(to, i), out.copy(to, values, e, 1);
    }
  for (std::int64_t e = list->used; e < rows.count(); ++e) rows.set_whole(e, 0), columns.set_whole(e, 0), out.set(e, 0);
  return LOCUS_OK;
}

int join(const ArrayCallArguments& call) {
  if (call.in.size() % 2 != 0 || call.out.size() != 3 || call.parameters.size() != 1) return LOCUS_FAILED;
  const View starts(call.out[0]), rows(call.out[1]), columns(call.out[2]);
  if (starts.count() < 1) return LOCUS_FAILED;
  const std::int64_t n = starts.count() - 1;
  Writer out(starts, rows, columns);
  if (!out.fits(n)) return LOCUS_FAILED;
  std::vector<PairList> lists;
  for (std::size_t k = 0; k < call.in.size(); k += 2) {
    const auto list = PairList::read(call.in[k], call.in[k + 1]);
    if (!list || list->rows != n) return LOCUS_FAILED;
    lists.push_back(*list);
  }
  std::vector<std::int64_t> row;
  for (std::int64_t i = 0; i < n; ++i) {
    row.clear();
    if (call.parameters[0] != 0) row.push_back(i);
    for (const PairList& l : lists) row.insert(row.end(), l.columns + l.starts[i], l.columns + l.starts[i + 1]);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    out.open(i);
    for (std::int64_t j : row)
      if (!out.add(j)) return LOCUS_FAILED;
  }
  out.close();
  return LOCUS_OK;
}

int at(const ArrayCallArguments& call) {
  if (call.in.size() != 5 || call.out.size() != 1) return LOCUS_FAILED;
  const auto list = PairList::read(call.in[0], call.in[1]), other = PairList::read(call.in[3], call.in[4]);
  const View values(call.in[2]), out(call.out[0]);
  if (!list || !other || list->rows != other->rows || values.count() < list->used || out.count() != View(call.in[4]).count()) return LOCUS_FAILED;
  for (std::int64_t i = 0; i < list->rows; ++i) {
    std::int64_t e = list->starts[i];
    for (std::int64_t t = other->starts[i]; t < other->starts[i + 1]; ++t) {
      while (e < list->starts[i + 1] && list->columns[e] < other->columns[t]) ++e;
      if (e < list->starts[i + 1] && list->columns[e] == other->columns[t]) out.copy(t, values, e, 1);
      else out.set(t, 0);
    }
  }
  for (std::int64_t t = other->used; t < out.count(); ++t) out.set(t, 0);
  return LOCUS_OK;
}

/// out[i, ...] = sum over the entries of row i of term(e, c), each column c of out by itself.
template <class Term>
void add_rows(const std::int64_t* starts, const View& out, std::int64_t width, Term&& term) {
  parallel(width == 0 ? 0 : out.count() / width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t c = 0; c < width; ++c) {
        double sum = 0;
        for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) sum += term(e, c);
        out.set(i * width + c, sum);
      }
  });
}

int sum(const ArrayCallArguments& call) {
  if (call.in.size() != 3 || call.out.size() != 1) return LOCUS_FAILED;
  const View starts(call.in[0]), v(call.in[2]), out(call.out[0]);
  if (!is_list(starts) || starts.count() < 1 || v.dims().empty() || out.dims().size() != v.dims().size() || out.dims()[0] != starts.count() - 1) return LOCUS_FAILED;
  if (!std::ranges::equal(v.dims().subspan(1), out.dims().subspan(1))) return LOCUS_FAILED;
  const auto* first = static_cast<const std::int64_t*>(call.in[0].data);
  for (std::int64_t i = 0; i + 1 < starts.count(); ++i)
    if (first[i] < 0 || first[i] > first[i + 1] || first[i + 1] > v.dims()[0]) return LOCUS_FAILED;
  std::int64_t width = 1;
  for (std::int64_t d : v.dims().subspan(1)) width *= d;
  add_rows(first, out, width, [&](std::int64_t e, std::int64_t c) { return v.number(e * width + c); });
  return LOCUS_OK;
}

int times(const ArrayCallArguments& call) {
  if (call.in.size() != 5 || call.out.size() != 1) return LOCUS_FAILED;
  const auto list = PairList::read(call.in[0], call.in[2]);
  const View values(call.in[3]), x(call.in[4]), out(call.out[0]);
  if (!list || values.count() < list->used || x.dims().empty() || x.dims().size() > 2 || out.dims().size() != x.dims().size() || out.dims()[0] != list->rows || list->width > x.dims()[0]) return LOCUS_FAILED;
  if (x.dims().size() == 2 && x.last() != out.last()) return LOCUS_FAILED;
  const std::int64_t width = x.dims().size() == 2 ? x.last() : 1;
  add_rows(list->starts, out, width, [&](std::int64_t e, std::int64_t c) { return values.number(e) * x.number(list->columns[e] * width + c); });
  return LOCUS_OK;
}

int look(const ArrayCallArguments& call) {
  if (call.in.size() < 4 || call.in.size() > 5 || call.out.size() != 1) return LOCUS_FAILED;
  const auto list = PairList::read(call.in[0], call.in[1]);
  const View values(call.in[2]), rows(call.in[3]), columns(call.in.back()), out(call.out[0]);
  const bool by_row = call.in.size() == 4;
  if (!list || values.count() < list->used || columns.dtype() != LOCUS_INT64 || rows.dtype() != LOCUS_INT64 || !std::ranges::equal(columns.dims(), out.dims()) || !std::ranges::equal(columns.dims(), rows.dims())) return LOCUS_FAILED;
  if (by_row && (columns.dims().size() != 2 || columns.dims()[0] != list->rows)) return LOCUS_FAILED;
  for (std::int64_t t = 0; t < columns.count(); ++t) {
    const std::int64_t i = by_row ? t / columns.last() : rows.whole(t), j = columns.whole(t);
    if (i < 0 || i >= list->rows) return LOCUS_FAULT;
    const std::int64_t *first = list->columns + list->starts[i], *last = list->columns + list->starts[i + 1], *found = std::lower_bound(first, last, j);
    if (found != last && *found == j) out.copy(t, values, found - list->columns, 1);
    else out.set(t, 0);
  }
  return LOCUS_OK;
}

int whole(const ArrayCallArguments& call) {
  if (call.in.size() != 4 || call.out.size() != 1) return LOCUS_FAILED;
  const auto list = PairList::read(call.in[0], call.in[2]);
  const View values(call.in[3]), out(call.out[0]);
  if (!list || values.count() < list->used || out.dims().size() != 2 || out.dims()[0] != list->rows || list->width > out.last()) return LOCUS_FAILED;
  std::fill_n(out.bytes(0), static_cast<std::size_t>(out.count()) * out.entry_size(), std::byte{0});
  for (std::int64_t i = 0; i < list->rows; ++i)
    for (std::int64_t e = list->starts[i]; e < list->starts[i + 1]; ++e) out.copy(i * out.last() + list->columns[e], values, e, 1);
  return LOCUS_OK;
}

}  // namespace

int pairs(std::uint32_t function, const ArrayCallArguments& call) {
  switch (function) {
    case LOCUS_ARRAY_PAIRS: return make(call);
    case LOCUS_ARRAY_PAIRS_TURN: return turn(call);
    case LOCUS_ARRAY_PAIRS_JOIN: return join(call);
    case LOCUS_ARRAY_PAIRS_AT: return at(call);
    case LOCUS_ARRAY_PAIRS_SUM: return sum(call);
    case LOCUS_ARRAY_PAIRS_TIMES: return times(call);
    case LOCUS_ARRAY_PAIRS_WHOLE: return whole(call);
    case LOCUS_ARRAY_PAIRS_LOOK: return look(call);
    case LOCUS_ARRAY_PAIRS_EIGEN: return list_spectrum(call);
    default: return LOCUS_UNSUPPORTED;
  }
}

}  // namespace locus
