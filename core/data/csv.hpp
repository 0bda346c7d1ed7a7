// Tables in text: delimiter, header, quotes, decimal commas and missing values are found, said, and never guessed silently.
// Knows nothing of axes and models; numbers are read the same under every locale.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"
#include "core/data/door.hpp"

namespace locus {

enum class Header : std::uint8_t { automatic, yes, no };  ///< `--header auto|yes|no`

struct TableOptions {
  Header header = Header::automatic;
  std::optional<char> delimiter;  ///< `--delimiter CHAR`; found from the text if not given
};

struct Column {
  std::string name;
  std::vector<double> numbers;          ///< NaN where the cell is missing or not a number
  std::vector<std::string> labels;      ///< the cells as text; empty for a column of numbers
  std::vector<std::int64_t> missing;    ///< rows, from 0, ascending
  std::int64_t texts = 0;               ///< cells that are neither missing nor numbers
  std::int64_t first_text = -1;         ///< row of the first of them
  bool text() const { return texts > 0; }
};

struct Table {
  std::string name;                   ///< of the file, for messages
  std::vector<Column> columns;
  std::vector<std::uint32_t> lines;   ///< of each row: its line in the file, from 1
  char delimiter = ',';
  bool delimiter_given = false;       ///< by the options, not found
  bool header = false;                ///< the first line gave the names; else they are 1, 2, 3, …
  std::vector<std::string> notes;     ///< what was found: delimiter, header, skipped lines
  std::int64_t rows() const { return static_cast<std::int64_t>(lines.size()); }
};

/// Faults: E410 to E413, E417; remarks W401, W402, W403. Missing cells and text are no faults yet: that depends on the use.
std::optional<Table> read_csv(std::string_view text, const std::string& name, const TableOptions& options, Diagnostics& diagnostics);
std::optional<Table> read_csv_file(const std::string& path, const TableOptions& options, Diagnostics& diagnostics);

/// The named columns as numbers: [rows] for one name, [rows, k] for several. Faults: E414 unless a policy is given, E415, E416.
/// Under `drop` and `nan` missing cells come as NaN (see Missing).
std::optional<Array> select(const Table& table, const std::vector<std::string>& names, Missing policy, Diagnostics& diagnostics);

/// The names of all columns of numbers; W404 names those left out. A column with more numbers than texts counts as numbers with a mistake
/// in it: select then says where. E415 if there is no column of numbers at all.
std::vector<std::string> number_columns(const Table& table, Diagnostics& diagnostics);

/// A column as labels: the distinct texts, sorted, and for each row which of them it is. A missing cell is E414, and NaN under a policy:
/// integers have no value that means missing, so that as_integers still refuses what has not been dropped.
struct Labels {
  std::vector<std::string> names;
  Array codes;  ///< [rows]; int64, or float64 if cells are missing
};
std::optional<Labels> select_labels(const Table& table, const std::string& name, Missing policy, Diagnostics& diagnostics);

/// "comma", "tab", …
std::string delimiter_name(char delimiter);
/// The delimiter of that name, or the character itself; nothing if numbers, names or quotes are made of it: `0`, `-`, `"`.
std::optional<char> delimiter_in(std::string_view text);

}  // namespace locus
