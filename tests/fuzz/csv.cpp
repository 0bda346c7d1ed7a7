// Any bytes read as a table: a table or messages; every column has one entry a row, whatever it is used as.
#include <cstdlib>
#include "core/data/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the options, so that all paths are reached.
  const locus::TableOptions options{static_cast<locus::Header>(data[0] % 3), data[0] % 2 == 0 ? std::nullopt : std::optional(",;\t| "[data[0] / 2 % 5])};
  locus::Diagnostics diagnostics;
  const auto table = locus::read_csv({reinterpret_cast<const char*>(data) + 1, size - 1}, "fuzz.csv", options, diagnostics);
  if (table.has_value() == diagnostics.failed()) std::abort();
  if (!table) return 0;
  for (const locus::Column& column : table->columns) {
    if (static_cast<std::int64_t>(column.numbers.size()) != table->rows()) std::abort();
    const auto labels = locus::select_labels(*table, column.name, locus::Missing::nan, diagnostics);
    if (!labels || labels->codes.count() != table->rows()) std::abort();
  }
  const std::vector<std::string> names = locus::number_columns(*table, diagnostics);
  if (names.empty()) return 0;
  const auto array = locus::select(*table, names, locus::Missing::nan, diagnostics);
  if (array && array->count() != table->rows() * static_cast<std::int64_t>(names.size())) std::abort();
  return 0;
}
