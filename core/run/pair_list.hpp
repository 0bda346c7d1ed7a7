// A matrix as the list of its pairs, read from arrays of the C table: see LOCUS_ARRAY_PAIRS. Owns nothing.
#pragma once
#include <optional>
#include "core/run/view.hpp"

namespace locus {

struct PairList {
  const std::int64_t* starts = nullptr;
  const std::int64_t* columns = nullptr;
  std::int64_t rows = 0, used = 0;
  std::int64_t width = 0;  ///< one more than the largest column

  /// Nothing where the arrays are no list.
  static std::optional<PairList> read(const locus_host_array& starts, const locus_host_array& columns) {
    const View s(starts), c(columns);
    if (s.dims().size() != 1 || c.dims().size() != 1 || s.count() < 1 || s.dtype() != LOCUS_INT64 || c.dtype() != LOCUS_INT64) return {};
    PairList list{static_cast<const std::int64_t*>(starts.data), static_cast<const std::int64_t*>(columns.data), s.count() - 1, 0, 0};
    list.used = list.starts[list.rows];
    if (list.starts[0] != 0 || list.used > c.count()) return {};
    for (std::int64_t i = 0; i < list.rows; ++i) {
      if (list.starts[i] > list.starts[i + 1]) return {};
      for (std::int64_t e = list.starts[i]; e < list.starts[i + 1]; ++e)
        if (list.columns[e] < 0 || (e > list.starts[i] && list.columns[e] <= list.columns[e - 1])) return {};
      if (list.starts[i] < list.starts[i + 1]) list.width = std::max(list.width, list.columns[list.starts[i + 1] - 1] + 1);
    }
    return list;
  }
};

/// LOCUS_ARRAY_PAIRS_EIGEN (spectrum.cpp); a status.
int list_spectrum(const ArrayCallArguments& call);

}  // namespace locus
