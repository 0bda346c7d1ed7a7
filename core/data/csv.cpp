// From cells to a table: is it text, is there a header, are all rows as long, which columns are numbers.
// Must not know what columns are used for: a missing cell or a text is a fault only there (columns.cpp).
#include "core/data/csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/data/cells.hpp"
#include "core/data/file.hpp"
#include "core/data/number.hpp"

namespace locus {
namespace {

constexpr std::size_t most_listed = 5;  // faults of one kind in one file; the rest is counted

std::string count_text(std::size_t count, const char* noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

std::string at_line(const std::string& name, std::uint32_t line) { return name + ":" + std::to_string(line); }

/// Builds one table; each step adds its faults and the caller stops at the first step that failed.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name, const TableOptions& options, Diagnostics& diagnostics)
      : text_(text), options_(options), diagnostics_(diagnostics) {
    table_.name = name;
  }

  std::optional<Table> read() {
    if (!check_text() || !cut()) return std::nullopt;
    find_decimal_comma();
    table_.header = header();
    if (!check_rows() || !name_columns()) return std::nullopt;
    for (std::size_t k = 0; k < table_.columns.size(); ++k) fill(k);
    write_notes();
    return std::move(table_);
  }

 private:
  void fault(Code code, std::string message, std::string help, std::uint32_t line) {
    diagnostics_.add({code, {}, std::move(message), {}, {}, std::move(help), line == 0 ? table_.name : at_line(table_.name, line)});
  }

  bool check_text() {
    const auto opens = [&](std::string_view mark) { return text_.substr(0, mark.size()) == mark; };
    if (opens("\xEF\xBB\xBF")) text_.remove_prefix(3);
    if (opens("\xFF\xFE") || opens("\xFE\xFF"))
      return fault(Code::E410, "the table is UTF-16 text, UTF-8 was expected", "convert it: `iconv -f UTF-16 -t UTF-8 old.csv > new.csv`", 0), false;
    const std::size_t zero = text_.find('\0');
    if (zero != std::string_view::npos) {
      const auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(zero), '\n') + 1;
      return fault(Code::E410, "a zero byte was found: this is no text, or not UTF-8", {}, static_cast<std::uint32_t>(line)), false;
    }
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) return fault(Code::E417, "the file is empty, a table was expected", {}, 0), false;
    return true;
  }

  bool cut() {
    table_.delimiter = options_.delimiter ? *options_.delimiter : find_delimiter(text_);
    table_.delimiter_given = options_.delimiter.has_value();
    cells_ = scan(text_, table_.delimiter);
    if (cells_.fault) {
      const QuoteFault& quote = *cells_.fault;
      if (quote.closed)
        fault(Code::E411, "after a closing quote stands '" + quote.tail + "', a " + delimiter_name(table_.delimiter) + " or the end of the line was expected",
              "double a quote that belongs to the cell: `\"\"`", quote.line);
      else
        fault(Code::E411, "a quote that opens in this line is not closed before the end of the file", "double a quote that belongs to the cell: `\"\"`",
              quote.line);
    }
    return !cells_.fault;
  }

  /// A comma is decimal where it cannot be the delimiter, where no number has a point, and where not all look like thousands (1,234).
  void find_decimal_comma() {
    if (table_.delimiter == ',') return;
    std::int64_t commas = 0, surely_decimal = 0;
    for (const std::string_view cell : cells_.cells) {
      if (cell.find('.') != std::string_view::npos && parse_number(cell)) return;
      if (!with_point(cell)) continue;
      ++commas;
      const std::size_t comma = cell.find(',');
      const bool thousands = comma > 0 && comma <= 3 && cell.size() - comma == 4 && cell.find_first_not_of("0123456789,") == std::string_view::npos &&
                             cell.front() != '0';
      surely_decimal += !thousands;
    }
    decimal_comma_ = surely_decimal > 0;
    if (decimal_comma_)
      diagnostics_.add({Code::W402, {}, count_text(static_cast<std::size_t>(commas), "number") + " with a decimal comma read", {}, {}, {}, table_.name});
  }

  std::optional<double> number(std::string_view cell) const {
    if (const auto value = parse_number(cell)) return value;
    if (!decimal_comma_) return std::nullopt;
    const auto text = with_point(cell);
    return text ? parse_number(*text) : std::nullopt;
  }

  /// What stands below the first line in column k.
  struct Below {
    std::size_t numbers = 0, texts = 0;
    bool repeats_first = false;
  };
  Below below(std::size_t k) const {
    Below found;
    const std::string_view top = cells_.cell(cells_.records[0], k);
    for (std::size_t i = 1; i < cells_.records.size(); ++i) {
      if (k >= cells_.records[i].count) continue;
      const std::string_view cell = cells_.cell(cells_.records[i], k);
      if (is_missing(cell)) continue;
      ++(number(cell) ? found.numbers : found.texts);
      found.repeats_first = found.repeats_first || cell == top;
    }
    return found;
  }

  bool header() {
    const Record& first = cells_.records[0];
    std::size_t texts = 0, numbers = 0;
    bool contrast = false, alone = true;
    for (std::size_t k = 0; k < first.count; ++k) {
      const std::string_view cell = cells_.cell(first, k);
      if (is_missing(cell)) continue;
      if (number(cell)) {
        ++numbers;
        continue;
      }
      ++texts;
      const Below under = below(k);
      contrast = contrast || under.numbers > under.texts;
      alone = alone && under.numbers == 0 && !under.repeats_first;
    }
    if (options_.header != Header::automatic) return options_.header == Header::yes;
    if (contrast) return true;
    if (texts == 0 && numbers > 0)
      diagnostics_.add({Code::W401, {}, "the first line is all numbers and is read as row 1", {}, {},
                        "if it holds names of columns say `--header yes`, if not `--header no`", at_line(table_.name, first.line)});
    // A table of text alone: its first line is a header if no cell of it comes again below.
    return texts == first.count && alone;
  }

  bool check_rows() {
    const std::size_t width = cells_.records[0].count, start = table_.header ? 1 : 0;
    std::vector<std::size_t> ragged;
    for (std::size_t i = 1; i < cells_.records.size(); ++i)
      if (cells_.records[i].count != width) ragged.push_back(i);
    if (ragged.empty()) return true;
    const std::size_t other = cells_.records[ragged[0]].count, rows = cells_.records.size() - 1;
    const bool first_is_odd = ragged.size() == rows && rows > 1 &&
                              std::all_of(ragged.begin(), ragged.end(), [&](std::size_t i) { return cells_.records[i].count == other; });
    if (first_is_odd) {
      fault(Code::E412, "the first line has " + count_text(width, "cell") + ", all other lines have " + std::to_string(other),
            "give each column a name in the first line", cells_.records[0].line);
      return false;
    }
    for (std::size_t i = 0; i < std::min(ragged.size(), most_listed); ++i) {
      const Record& record = cells_.records[ragged[i]];
      Diagnostic d{Code::E412, {}, {}, {}, {}, {}, at_line(table_.name, record.line)};
      d.message = "row " + std::to_string(ragged[i] + 1 - start) + " has " + count_text(record.count, "cell") + ", the first line has " + std::to_string(width);
      if (i + 1 == most_listed && ragged.size() > most_listed)
        d.notes.push_back({{}, count_text(ragged.size() - most_listed, "more row") + " of another length"});
      if (record.count > width)
        d.help = "a cell that holds a " + delimiter_name(table_.delimiter) + " needs quotes round it: `\"a" + std::string(1, table_.delimiter) + "b\"`";
      else
        d.help = "a missing value still needs its " + delimiter_name(table_.delimiter) + ": write an empty cell or `NA`";
      diagnostics_.add(std::move(d));
    }
    return false;
  }

  bool name_columns() {
    const Record& first = cells_.records[0];
    std::set<std::string> seen, twice;
    table_.columns.resize(first.count);
    for (std::size_t k = 0; k < first.count; ++k) {
      std::string& name = table_.columns[k].name;
      if (table_.header) name = cells_.cell(first, k);
      if (name.empty()) name = std::to_string(k + 1);
      if (seen.insert(name).second || !twice.insert(name).second) continue;
      fault(Code::E413, "the column name '" + name + "' stands more than once in the first line", "give each column a name of its own", first.line);
    }
    for (std::size_t i = table_.header ? 1 : 0; i < cells_.records.size(); ++i) table_.lines.push_back(cells_.records[i].line);
    return twice.empty();
  }

  void fill(std::size_t k) {
    Column& column = table_.columns[k];
    const std::size_t start = table_.header ? 1 : 0;
    column.numbers.reserve(table_.lines.size());
    std::optional<std::size_t> rounded;
    for (std::size_t i = start; i < cells_.records.size(); ++i) {
      const std::string_view cell = cells_.cell(cells_.records[i], k);
      const auto row = static_cast<std::int64_t>(i - start);
      const bool missing = is_missing(cell);
      const double value = missing ? std::numeric_limits<double>::quiet_NaN() : number(cell).value_or(std::numeric_limits<double>::quiet_NaN());
      column.numbers.push_back(value);
      if (missing) column.missing.push_back(row);
      else if (std::isnan(value) && column.texts++ == 0) column.first_text = row;
      if (!rounded && is_rounded(cell, value)) rounded = i;
    }
    if (column.text())
      for (std::size_t i = start; i < cells_.records.size(); ++i) column.labels.emplace_back(cells_.cell(cells_.records[i], k));
    else if (rounded)
      warn_rounded(column, cells_.cell(cells_.records[*rounded], k), *rounded - start);
  }

  static bool is_rounded(std::string_view cell, double value) {
    if (!(std::fabs(value) >= 0x1p53) || cell.find_first_not_of("+-0123456789") != std::string_view::npos) return false;
    const std::optional<std::int64_t> integer = parse_integer(cell);
    // long double holds every int64, so that the comparison is not itself rounded.
    return !integer || static_cast<long double>(*integer) != static_cast<long double>(value);
  }

  void warn_rounded(const Column& column, std::string_view cell, std::size_t row) {
    diagnostics_.add({Code::W403, {}, "row " + std::to_string(row + 1) + ", column '" + column.name + "' is " + std::string(cell) + ", read as " +
                                          number_word(column.numbers[row]),
                      {}, {}, "keep long integers in a .npy file of int64", at_line(table_.name, table_.lines[row])});
  }

  void write_notes() {
    auto& notes = table_.notes;
    notes.push_back(count_text(table_.columns.size(), "column") + ", " + count_text(table_.lines.size(), "row"));
    if (table_.columns.size() > 1) notes.push_back("delimiter " + delimiter_name(table_.delimiter));
    notes.push_back(table_.header ? "header in the first line" : "no header, columns are named by number");
    if (decimal_comma_) notes.push_back("decimal commas");
    if (cells_.blank_lines > 0) notes.push_back(count_text(static_cast<std::size_t>(cells_.blank_lines), "blank line") + " skipped");
  }

  std::string_view text_;
  const TableOptions& options_;
  Diagnostics& diagnostics_;
  Cells cells_;
  Table table_;
  bool decimal_comma_ = false;
};

}  // namespace

std::string delimiter_name(char delimiter) {
  switch (delimiter) {
    case ',': return "comma";
    case ';': return "semicolon";
    case '\t': return "tab";
    case '|': return "bar";
    case ' ': return "space";
    default: return std::string("'") + delimiter + "'";
  }
}

std::optional<char> delimiter_in(std::string_view text) {
  for (char known : {',', ';', '\t', '|', ' '})
    if (text == delimiter_name(known)) return known;
  if (text.size() != 1) return std::nullopt;
  const char one = text.front();
  const bool sign = one == '\t' || one == ' ' || (one > ' ' && one < 0x7f && std::string_view("\"+-.").find(one) == std::string_view::npos);
  const bool letter = (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z');
  return sign && !letter ? std::optional(one) : std::nullopt;
}

std::optional<Table> read_csv(std::string_view text, const std::string& name, const TableOptions& options, Diagnostics& diagnostics) {
  return Reader(text, name, options, diagnostics).read();
}

std::optional<Table> read_csv_file(const std::string& path, const TableOptions& options, Diagnostics& diagnostics) {
  const std::optional<std::string> text = read_file(path, diagnostics);
  if (!text) return std::nullopt;
  return read_csv(*text, shown_name(path), options, diagnostics);
}

}  // namespace locus
