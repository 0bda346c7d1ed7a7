// Columns of a table put to use: as numbers or as labels, with the policy for missing cells.
// Must not know how the table was cut from text.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/data/csv.hpp"
#include "core/data/number.hpp"

namespace locus {
namespace {

std::string place_text(const Column& column, std::int64_t row) { return "row " + std::to_string(row + 1) + ", column '" + column.name + "'"; }

std::string at_row(const Table& table, std::int64_t row) { return table.name + ":" + std::to_string(table.lines[static_cast<std::size_t>(row)]); }

const Column* find(const Table& table, const std::string& name, Diagnostics& diagnostics) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& column) { return column.name == name; });
  if (found != table.columns.end()) return &*found;
  constexpr std::size_t most_listed = 20;
  std::vector<std::string> names;
  std::string list;
  for (const Column& column : table.columns) {
    if (names.size() < most_listed) list += (names.empty() ? "" : ", ") + column.name;
    names.push_back(column.name);
  }
  if (names.size() > most_listed) list += " and " + std::to_string(names.size() - most_listed) + " more";
  const std::string near = nearest_name(name, names);
  diagnostics.add({Code::E416, {}, "there is no column '" + name + "'; the columns are " + list, {}, {},
                   near.empty() ? "" : "did you mean `" + near + "`?", table.name});
  return nullptr;
}

/// How to name the first column of numbers instead; empty if there is none.
std::string other_columns(const Table& table) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(), [](const Column& column) { return !column.text(); });
  if (found == table.columns.end()) return {};
  return "name columns of numbers after a colon: `" + (table.name == "standard input" ? "-" : table.name) + ":" + found->name + "`";
}

/// The sign that parts the whole cell into numbers, as : does in 3:4; nothing if there is none.
std::optional<char> parting_sign(std::string_view cell) {
  const auto at = std::find_if(cell.begin(), cell.end(), [](char c) { return delimiter_in({&c, 1}).has_value(); });
  if (at == cell.end()) return std::nullopt;
  for (std::size_t low = 0; low <= cell.size();) {
    const std::size_t high = std::min(cell.find(*at, low), cell.size());
    if (!parse_number(cell.substr(low, high - low))) return std::nullopt;
    low = high + 1;
  }
  return *at;
}

void report_text(const Table& table, const Column& column, Diagnostics& diagnostics) {
  const std::string& cell = column.labels[static_cast<std::size_t>(column.first_text)];
  Diagnostic d{Code::E415, {}, {}, {}, {}, {}, at_row(table, column.first_text)};
  d.message = place_text(column, column.first_text) + " is '" + cell + "', a number was expected";
  if (column.texts > 1)
    d.notes.push_back({{}, std::to_string(column.texts) + " cells of " + std::to_string(table.rows()) + " in this column are no numbers"});
  const bool alone = table.columns.size() == 1;
  if (alone)
    d.notes.push_back({{}, table.delimiter_given ? "one column was found with the delimiter " + delimiter_name(table.delimiter)
                                                 : "one column was found; delimiters looked for are comma, semicolon, tab, bar and space"});
  const bool comma = cell.find(',') != std::string::npos && cell.find_first_not_of("+-0123456789.,") == std::string::npos;
  if (comma) d.help = "write decimals with a point and thousands without a mark: `1234.5`";
  else if (const auto sign = alone ? parting_sign(cell) : std::nullopt; sign && *sign != '\'') d.help = "name the delimiter: `--delimiter '" + std::string(1, *sign) + "'`";
  else if (column.texts == 1 && !alone) d.help = "correct the cell, or leave it empty and say `--missing drop`";
  else d.help = other_columns(table);
  diagnostics.add(std::move(d));
}

/// One message for all missing cells of the chosen columns, in the order of the rows.
void report_missing(const Table& table, const std::vector<const Column*>& chosen, Diagnostics& diagnostics) {
  constexpr std::size_t most_listed = 3;
  std::vector<std::pair<std::int64_t, const Column*>> gaps;
  for (const Column* column : chosen)
    for (std::int64_t row : column->missing) gaps.emplace_back(row, column);
  if (gaps.empty()) return;
  std::stable_sort(gaps.begin(), gaps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Diagnostic d{Code::E414, {}, {}, {}, {}, {}, at_row(table, gaps[0].first)};
  d.message = place_text(*gaps[0].second, gaps[0].first) + " has no value";
  if (gaps.size() > 1) {
    std::string also = "missing too: ";
    for (std::size_t i = 1; i < std::min(gaps.size(), most_listed + 1); ++i) also += (i > 1 ? "; " : "") + place_text(*gaps[i].second, gaps[i].first);
    if (gaps.size() > most_listed + 1) also += "; and " + std::to_string(gaps.size() - most_listed - 1) + " more";
    d.notes.push_back({{}, std::move(also)});
  }
  d.help = "`--missing drop` leaves out such rows, `--missing nan` lets them through as NaN";
  diagnostics.add(std::move(d));
}

}  // namespace

std::optional<Array> select(const Table& table, const std::vector<std::string>& names, Missing policy, Diagnostics& diagnostics) {
  std::vector<const Column*> chosen;
  const std::size_t before = diagnostics.errors();
  for (const std::string& name : names) {
    const Column* column = find(table, name, diagnostics);
    if (column == nullptr) continue;
    if (column->text()) report_text(table, *column, diagnostics);
    chosen.push_back(column);
  }
  if (policy == Missing::refuse) report_missing(table, chosen, diagnostics);
  if (diagnostics.errors() > before) return std::nullopt;
  const std::int64_t rows = table.rows();
  const std::size_t width = chosen.size();
  Array array(Dtype::float64, width == 1 ? std::vector<std::int64_t>{rows} : std::vector<std::int64_t>{rows, static_cast<std::int64_t>(width)});
  for (std::size_t k = 0; k < width; ++k)
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) array.as<double>()[i * width + k] = chosen[k]->numbers[i];
  return array;
}

std::vector<std::string> number_columns(const Table& table, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  std::string left_out;
  std::size_t texts = 0;
  for (const Column& column : table.columns) {
    const std::int64_t numbers = table.rows() - column.texts - static_cast<std::int64_t>(column.missing.size());
    if (!column.text() || numbers > column.texts) {
      names.push_back(column.name);
      continue;
    }
    left_out += (texts++ > 0 ? ", " : "") + ("'" + column.name + "'");
  }
  if (names.empty()) report_text(table, table.columns[0], diagnostics);
  else if (texts > 0)
    diagnostics.add({Code::W404, {}, std::string(texts == 1 ? "the column" : "the columns") + " of text " + left_out + (texts == 1 ? " is" : " are") + " left out",
                     {}, {}, {}, table.name});
  return names;
}

std::optional<Labels> select_labels(const Table& table, const std::string& name, Missing policy, Diagnostics& diagnostics) {
  const Column* column = find(table, name, diagnostics);
  if (column == nullptr) return std::nullopt;
  if (policy == Missing::refuse && !column->missing.empty()) return report_missing(table, {column}, diagnostics), std::nullopt;
  std::vector<std::string> cells = column->labels;
  if (!column->text())
    for (double value : column->numbers) cells.push_back(number_word(value));
  std::vector<bool> missing(cells.size(), false);
  for (std::int64_t row : column->missing) missing[static_cast<std::size_t>(row)] = true;
  std::map<std::string, std::int64_t> places;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (!missing[i]) places.emplace(cells[i], 0);
  std::vector<std::string> names;
  for (auto& [text, place] : places) place = static_cast<std::int64_t>(names.size()), names.push_back(text);
  Array codes(Dtype::float64, {table.rows()});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    codes.as<double>()[i] = missing[i] ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(places.at(cells[i]));
  }
  return Labels{std::move(names), column->missing.empty() ? codes.cast(Dtype::int64) : codes};
}

}  // namespace locus
