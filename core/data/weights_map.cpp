// Reading a map of weights: lines to patterns and cuts. Must not know what a file holds.
#include "core/data/weights_map.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace locus {
namespace {

constexpr const char* forms = "`ours = theirs`, `prefix NAME` or `ignore PATTERN`";

/// One line; positions are offsets in the whole text.
class LineReader {
 public:
  LineReader(std::uint32_t source, std::string_view line, std::uint32_t low, WeightsMap& map, Diagnostics& diagnostics)
      : source_(source), line_(line), low_(low), map_(map), diagnostics_(diagnostics) {}

  void read() {
    if (ends()) return;
    const std::optional<Pattern> first = name();
    if (!first) return stop("a name was expected", "a line is " + std::string(forms));
    if (take('=')) return assignment(*first);
    if (first->text != "ignore" && first->text != "prefix") return stop("'=' was expected behind '" + first->text + "'", "a line is " + std::string(forms));
    const std::optional<Pattern> second = name();
    if (!second) return stop("a name was expected behind '" + first->text + "'", "write `" + first->text + " NAME`");
    if (!ends()) return stop("nothing more was expected on this line", "a comment begins with `#`");
    if (first->text == "ignore") map_.ignored.push_back(*second);
    else if (second->text.find('*') == std::string::npos) map_.prefixes.push_back(*second);
    else fault(second->span, "a prefix is text as it stands, without '*'", "write each prefix that occurs on a line of its own, as in `prefix transformer.`");
  }

 private:
  void fault(Span span, std::string message, std::string help) { diagnostics_.add({Code::E443, span, std::move(message), "", {}, std::move(help), ""}); }
  void stop(std::string message, std::string help) { fault(span(at_, std::min(at_ + 1, line_.size())), std::move(message), std::move(help)); }
  Span span(std::size_t low, std::size_t high) const { return {source_, low_ + static_cast<std::uint32_t>(low), low_ + static_cast<std::uint32_t>(high)}; }

  void skip() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) ++at_;
  }
  bool ends() {
    skip();
    return at_ == line_.size() || line_[at_] == '#';
  }
  bool take(char c) {
    if (ends() || line_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<Pattern> name() {
    if (ends()) return {};
    const std::size_t start = at_;
    if (line_[at_] == '"') {
      const std::size_t end = line_.find('"', at_ + 1);
      if (end == std::string_view::npos || end == at_ + 1) return {};
      at_ = end + 1;
      return Pattern{std::string(line_.substr(start + 1, end - start - 1)), span(start, at_)};
    }
    at_ = std::min(line_.find_first_of(" \t\r=[]#\"", at_), line_.size());
    if (at_ == start) return {};
    return Pattern{std::string(line_.substr(start, at_ - start)), span(start, at_)};
  }

  std::optional<std::int64_t> number() {
    skip();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(line_.data() + at_, line_.data() + line_.size(), value);
    if (error != std::errc() || value < 0) return {};
    at_ = static_cast<std::size_t>(end - line_.data());
    return value;
  }

  bool word(std::string_view wanted) {
    skip();
    if (line_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  std::optional<Cut> cut() {
    Cut cut;
    cut.low = number();
    if (cut.low && word("of")) {
      cut.kind = Cut::Kind::part;
      cut.high = number();
      if (!cut.high) return {};
      return cut;
    }
    if (!take(':')) return {};
    cut.high = number();
    if (cut.low || cut.high) cut.kind = Cut::Kind::range;
    return cut;
  }

  void assignment(const Pattern& ours) {
    MapLine line{ours, {}, {}, {}, false, {}};
    const std::optional<Pattern> theirs = name();
    if (!theirs) return stop("the name of an array in the file was expected behind '='", "a line is " + std::string(forms));
    line.theirs = *theirs;
    const std::size_t opened = (skip(), at_);
    if (take('[')) {
      do {
        const std::optional<Cut> place = cut();
        if (!place) return stop("a cut was expected: `:`, `low:high`, or `0 of 3` for the first of three equal parts", "write `[:, 0 of 3]`");
        line.cuts.push_back(*place);
      } while (take(','));
      if (!take(']')) return stop("',' or ']' was expected in the cut", "write `[:, 0 of 3]`");
      line.cut_span = span(opened, at_);
    }
    if (!ends()) {
      const std::size_t start = at_;
      if (!word("transposed")) return stop("a cut in brackets, `transposed` or the end of the line was expected", "write `" + ours.text + " = " + theirs->text + " transposed`");
      line.transposed = true, line.transposed_span = span(start, at_);
      if (!ends()) return stop("nothing more was expected on this line", "a comment begins with `#`");
    }
    const auto stars = [](const std::string& text) { return std::count(text.begin(), text.end(), '*'); };
    const auto mine = stars(ours.text), its = stars(theirs->text);
    if (mine != its)
      return fault(ours.span, "'" + ours.text + "' has " + std::to_string(mine) + " '*' and '" + theirs->text + "' has " + std::to_string(its) + ": each stands for the same piece on both sides",
                   "give both names as many: `blocks.*.w = h.*.weight`");
    map_.lines.push_back(std::move(line));
  }

  std::uint32_t source_;
  std::string_view line_;
  std::uint32_t low_;
  WeightsMap& map_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> matched(const std::string& pattern, const std::string& name) {
  std::vector<std::string> pieces;
  std::size_t at = 0;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (pattern[k] != '*') {
      if (at == name.size() || name[at++] != pattern[k]) return {};
      continue;
    }
    // A piece reaches to the next point: what follows an asterisk within one piece is found from its end.
    const std::size_t end = std::min(name.find('.', at), name.size());
    const std::size_t tail = std::min(pattern.find('.', k), pattern.size()) - k - 1;
    if (pattern.substr(k + 1, tail).find('*') != std::string::npos || end < at + tail + 1) return {};
    pieces.push_back(name.substr(at, end - tail - at));
    at = end - tail;
  }
  if (at != name.size()) return {};
  return pieces;
}

std::string filled(const std::string& pattern, const std::vector<std::string>& pieces) {
  std::string text;
  std::size_t next = 0;
  for (const char c : pattern) text += c == '*' ? pieces.at(next++) : std::string(1, c);
  return text;
}

std::string WeightsMap::name_for(const std::string& path) const {
  for (const MapLine& line : lines)
    if (const auto pieces = matched(line.ours.text, path)) return filled(line.theirs.text, *pieces);
  return "";
}

std::optional<WeightsMap> read_weights_map(std::uint32_t source, const Sources& sources, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  const std::string_view text = sources.at(source).text;
  WeightsMap map;
  for (std::size_t low = 0; low < text.size();) {
    const std::size_t high = std::min(text.find('\n', low), text.size());
    LineReader(source, text.substr(low, high - low), static_cast<std::uint32_t>(low), map, diagnostics).read();
    low = high + 1;
  }
  if (diagnostics.errors() > before) return std::nullopt;
  return map;
}

}  // namespace locus
