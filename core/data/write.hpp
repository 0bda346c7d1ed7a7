// Results to files: .npy, .csv, .tsv, or a table on standard output.
// Knows nothing of how results came about.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"

namespace locus {

struct Result {
  std::string name;
  Array array;
};

/// Which rows of the input the results stand for, when some were left out.
struct Kept {
  std::vector<std::int64_t> rows;  ///< from 0
  std::int64_t total = 0;
};

/// Shortest decimal text that reads back to the same number, in any locale; `NaN`, `inf`, `-inf`; 0 and 1 for booleans.
std::string number_text(const Array& array, std::int64_t k);

/// Results beside each other as a table. One column is named after its result, several are name_0, name_1, …
/// With `kept`, all rows of the input are written after a column `row` (from 1), NA where a row was left out.
/// `path` is for messages only. E431 if a result has more than two axes or the numbers of rows differ.
std::optional<std::string> csv_text(std::span<const Result> results, char delimiter, const std::optional<Kept>& kept, const std::string& path,
                                    Diagnostics& diagnostics);

/// By the end of `path`: .npy (exactly one result), .csv, .tsv; `-` is a .csv table on standard output. False after adding E430 to E432.
bool write_results(const std::string& path, std::span<const Result> results, const std::optional<Kept>& kept, Diagnostics& diagnostics);

}  // namespace locus
