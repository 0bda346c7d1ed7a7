// Text cut into records and cells for one delimiter, with quotes honoured; and the search for the delimiter.
// Knows nothing of headers, numbers' use or missing policies.
#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

struct Record {
  std::uint32_t line = 1;   ///< where it starts, from 1
  std::size_t first = 0;    ///< of its cells, in Cells::cells
  std::size_t count = 0;
};

/// A quote that does not end as it should.
struct QuoteFault {
  std::uint32_t line = 1;
  bool closed = false;      ///< closed, but followed by something else than a delimiter
  std::string tail;         ///< that something, shortened
};

struct Cells {
  std::vector<std::string_view> cells;   ///< trimmed; into the text, or into `unescaped`
  std::vector<Record> records;
  std::deque<std::string> unescaped;     ///< cells with doubled quotes; a deque keeps their places
  std::int64_t blank_lines = 0;          ///< skipped; in a table of one column a blank line before the end is a cell
  std::optional<QuoteFault> fault;       ///< the scan stopped there
  std::string_view cell(const Record& record, std::size_t i) const { return cells[record.first + i]; }
};

/// All records, or the first `limit` ones. A run of spaces is one delimiter when that is a space.
Cells scan(std::string_view text, char delimiter, std::size_t limit = std::numeric_limits<std::size_t>::max());

/// The delimiter, among , ; tab | and space, under which the first records agree best on a number of cells above one and hold most numbers.
/// A comma if there is none: then the table has one column.
char find_delimiter(std::string_view text);

/// Empty, NA, N/A, n/a, NaN, nan, NAN, null, NULL, None, or a point.
bool is_missing(std::string_view cell);

/// The cell with its decimal comma as a point; nothing if it is not a number written with exactly one comma and no point.
std::optional<std::string> with_point(std::string_view cell);

}  // namespace locus
