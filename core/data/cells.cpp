// Cuts text into records and cells, and finds the delimiter by trying each.
// Must not know what the cells are used for.
#include "core/data/cells.hpp"

#include <algorithm>
#include <map>

#include "core/data/number.hpp"

namespace locus {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view cell) {
  while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
  return cell;
}

class Scanner {
 public:
  Scanner(std::string_view text, char delimiter) : text_(text), delimiter_(delimiter) {}

  Cells run(std::size_t limit) {
    while (at_ < text_.size() && cells_.records.size() < limit && !cells_.fault) record();
    drop_blank_lines();
    return std::move(cells_);
  }

 private:
  bool at_end_of_line() const { return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r'; }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_]) && (text_[at_] != delimiter_ || delimiter_ == ' ')) ++at_;
  }

  /// LF, CR LF, or a lone CR as old spreadsheets write it.
  void end_line() {
    if (at_ >= text_.size()) return;
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++line_;
  }

  void record() {
    Record record{line_, cells_.cells.size(), 0};
    for (;;) {
      skip_blanks();
      // Spaces before the end of the line are no delimiter: no cell follows them.
      if (delimiter_ == ' ' && record.count > 0 && at_end_of_line()) break;
      cells_.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      ++record.count;
      if (cells_.fault) return;
      if (at_end_of_line()) break;
      if (delimiter_ != ' ') ++at_;
    }
    end_line();
    cells_.records.push_back(record);
  }

  std::string_view plain() {
    const std::size_t start = at_;
    while (!at_end_of_line() && text_[at_] != delimiter_) ++at_;
    return trimmed(text_.substr(start, at_ - start));
  }

  std::string_view quoted() {
    const std::uint32_t opened = line_;
    const std::size_t start = ++at_;
    bool doubled = false;
    for (;; ++at_) {
      if (at_ >= text_.size()) return cells_.fault = QuoteFault{opened, false, {}}, std::string_view();
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') continue;
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
      doubled = true;
      ++at_;
    }
    const std::string_view inside = text_.substr(start, at_ - start);
    ++at_;
    skip_blanks();
    const bool parted = delimiter_ == ' ' && at_ > 0 && is_blank(text_[at_ - 1]);
    if (!at_end_of_line() && text_[at_] != delimiter_ && !parted) {
      const std::size_t end = std::min(text_.find_first_of("\r\n", at_), at_ + 20);
      cells_.fault = QuoteFault{line_, true, std::string(text_.substr(at_, end - at_))};
    }
    return doubled ? unescape(inside) : inside;
  }

  std::string_view unescape(std::string_view inside) {
    std::string& plain = cells_.unescaped.emplace_back();
    for (std::size_t i = 0; i < inside.size(); ++i) {
      plain += inside[i];
      if (inside[i] == '"') ++i;
    }
    return plain;
  }

  bool blank(const Record& record) const { return record.count == 1 && cells_.cell(record, 0).empty(); }

  void drop_blank_lines() {
    auto& records = cells_.records;
    while (!records.empty() && blank(records.back())) records.pop_back();
    const bool one_column = std::all_of(records.begin(), records.end(), [](const Record& record) { return record.count == 1; });
    if (one_column) return;
    const auto kept = std::remove_if(records.begin(), records.end(), [&](const Record& record) { return blank(record); });
    cells_.blank_lines = records.end() - kept;
    records.erase(kept, records.end());
  }

  std::string_view text_;
  char delimiter_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Cells cells_;
};

/// How well a delimiter explains the records: the share that agrees on the number of cells, times the share of cells that are numbers.
double fitness(std::string_view text, char delimiter) {
  constexpr std::size_t looked_at = 100;
  constexpr double for_text = 0.01;  // tables of text alone must still be told apart by agreement
  const Cells cells = scan(text, delimiter, looked_at);
  std::map<std::size_t, std::size_t> counts;
  for (const Record& record : cells.records) ++counts[record.count];
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end() || most->first < 2) return 0;
  std::size_t numbers = 0, all = 0;
  for (std::size_t i = cells.records.size() > 1 ? 1 : 0; i < cells.records.size(); ++i) {
    for (std::size_t k = 0; k < cells.records[i].count; ++k, ++all) {
      const std::string_view cell = cells.cell(cells.records[i], k);
      numbers += is_missing(cell) || parse_number(cell) || (delimiter != ',' && with_point(cell));
    }
  }
  const double agreement = static_cast<double>(most->second) / static_cast<double>(cells.records.size());
  const double share = static_cast<double>(numbers) / static_cast<double>(all);
  // Words are parted by spaces too: a space must part at least some numbers.
  if (delimiter == ' ') return agreement * share;
  return agreement * (share + for_text);
}

}  // namespace

Cells scan(std::string_view text, char delimiter, std::size_t limit) { return Scanner(text, delimiter).run(limit); }

char find_delimiter(std::string_view text) {
  char best = ',';
  double greatest = 0;
  for (char delimiter : {'\t', ';', '|', ',', ' '}) {
    const double fit = fitness(text, delimiter);
    if (fit > greatest) greatest = fit, best = delimiter;
  }
  return best;
}

bool is_missing(std::string_view cell) {
  static constexpr std::string_view words[] = {"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "null", "NULL", "None", "."};
  return std::find(std::begin(words), std::end(words), cell) != std::end(words);
}

std::optional<std::string> with_point(std::string_view cell) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string_view::npos || cell.find(',', comma + 1) != std::string_view::npos || cell.find('.') != std::string_view::npos)
    return std::nullopt;
  std::string text(cell);
  text[comma] = '.';
  return parse_number(text) ? std::optional(text) : std::nullopt;
}

}  // namespace locus
