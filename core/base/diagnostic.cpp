// Messages: the table of codes, the collector, the plain-text renderer and the search for the name that was meant.
// Knows nothing of the language, the graph or files.
#include "core/base/diagnostic.hpp"
#include <algorithm>
#include <cctype>
#include <ostream>
#include "core/base/glyph.hpp"

namespace locus {

namespace {

constexpr Severity error = Severity::error;  // named as in codes.def
[[maybe_unused]] constexpr Severity warning = Severity::warning;
[[maybe_unused]] constexpr Severity note = Severity::note;

struct Style {
  const char *severity, *frame, *strong, *off;
};

Style style_of(Severity severity, bool colour) {
  if (!colour) return {"", "", "", ""};
  const char* hue = severity == error ? "\x1b[1;31m" : severity == warning ? "\x1b[1;33m" : "\x1b[1;36m";
  return {hue, "\x1b[1;34m", "\x1b[1m", "\x1b[0m"};
}

const char* name_of(Severity severity) { return severity == error ? "error" : severity == warning ? "warning" : "note"; }

/// Writes the place and the line of a span, with a caret under its first character and tildes to its end in that line.
class Frame {
 public:
  Frame(std::ostream& out, const Sources& sources, Style style, std::size_t width) : out_(out), sources_(sources), style_(style), margin_(width + 1, ' ') {}

  void place(const std::string& where) { out_ << margin_ << style_.frame << "-->" << style_.off << ' ' << where << '\n'; }

  void snippet(Span span, const std::string& label) {
    const Place at = sources_.place(span.source, span.low);
    const Source& source = sources_.at(span.source);
    place(source.name + ':' + std::to_string(at.line) + ':' + std::to_string(at.column));
    const std::string_view line = sources_.line(span.source, span.low);
    const std::size_t start = static_cast<std::size_t>(line.data() - source.text.data());
    const std::size_t low = std::min<std::size_t>(span.low - start, line.size());
    const std::size_t high = std::clamp<std::size_t>(span.high < start ? 0 : span.high - start, low, line.size());
    // Of a very long line only the surroundings of the caret are shown.
    constexpr std::size_t columns_before = 120, columns_behind = 80;
    const std::string_view before = glyph::last_columns(line.substr(0, low), columns_before);
    const std::string_view behind = glyph::first_columns(line.substr(low), columns_behind);
    const char* cut_low = before.size() < low ? "..." : "";
    const char* cut_high = low + behind.size() < line.size() ? "..." : "";
    const std::size_t columns = glyph::columns(behind.substr(0, high - low));
    gutter("") << '\n';
    gutter(std::to_string(at.line)) << ' ' << cut_low << glyph::shown(before) << glyph::shown(behind) << cut_high << '\n';
    gutter("") << ' ' << glyph::blank(cut_low) << glyph::blank(before) << style_.severity << '^' << std::string(std::max<std::size_t>(columns, 1) - 1, '~');
    if (!label.empty()) out_ << ' ' << label;
    out_ << style_.off << '\n';
  }

  void remark(const char* kind, const std::string& text) {
    out_ << margin_ << ' ' << style_.frame << '=' << style_.off << ' ' << style_.strong << kind << style_.off << ": " << text << '\n';
  }

 private:
  std::ostream& gutter(const std::string& number) {
    out_ << style_.frame << std::string(margin_.size() - number.size(), ' ') << number << " |" << style_.off;
    return out_;
  }

  std::ostream& out_;
  const Sources& sources_;
  Style style_;
  std::string margin_;
};

/// Digits of the largest line number in the message: all its frames share one gutter.
std::size_t digits(const Diagnostic& d, const Sources& sources) {
  std::uint32_t largest = d.span.set() ? sources.place(d.span.source, d.span.low).line : 1;
  for (const Note& each : d.notes)
    if (each.span.set()) largest = std::max(largest, sources.place(each.span.source, each.span.low).line);
  return std::to_string(largest).size();
}

/// Edit distance in which a swap of neighbours counts once (optimal string alignment).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string folded(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

}  // namespace

const std::vector<CodeInfo>& code_table() {
  static const std::vector<CodeInfo> table = {
#define LOCUS_CODE(name, severity, title, explanation) {Code::name, #name, severity, title, explanation},
#include "core/base/codes.def"
#undef LOCUS_CODE
  };
  return table;
}

const CodeInfo& info(Code code) { return code_table().at(static_cast<std::size_t>(code)); }

void Diagnostics::add(Diagnostic d) {
  if (info(d.code).severity == error) ++errors_;
  all_.push_back(std::move(d));
}

void write(std::ostream& out, const Diagnostic& d, const Sources& sources, bool colour) {
  const CodeInfo& row = info(d.code);
  const Style style = style_of(row.severity, colour);
  out << style.severity << name_of(row.severity) << '[' << row.name << ']' << style.off << style.strong << ": " << d.message << style.off << '\n';
  Frame frame(out, sources, style, digits(d, sources));
  if (d.span.set())
    frame.snippet(d.span, d.label);
  else if (!d.where.empty())
    frame.place(d.where);
  for (const Note& each : d.notes) {
    frame.remark("note", each.text);
    if (each.span.set()) frame.snippet(each.span, "");
  }
  if (!d.help.empty()) frame.remark("help", d.help);
}

void write(std::ostream& out, const Diagnostics& all, const Sources& sources, bool colour) {
  bool first = true;
  for (const Diagnostic& d : all.all()) {
    if (!first) out << '\n';
    first = false;
    write(out, d, sources, colour);
  }
}

std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates) {
  // A short word has many neighbours by chance: of one or two letters only another case or a swap is taken for a slip.
  constexpr std::size_t longest = 64;
  if (word.empty() || word.size() > longest) return "";
  const std::string plain = folded(word);
  const std::size_t allowed = 2 * (word.size() / 3);
  std::string best;
  std::size_t least = allowed + 1;
  for (const std::string& candidate : candidates) {
    if (candidate == word || candidate.empty() || candidate.size() > longest) continue;
    const std::string other = folded(candidate);
    std::size_t cost = 2 * distance(plain, other);  // in halves: another first letter is half a slip more
    if (plain.size() == 2 && other.size() == 2 && plain[0] == other[1] && plain[1] == other[0]) cost = 0;
    if (cost > allowed) continue;
    if (plain[0] != other[0]) ++cost;
    if (cost < least || best.empty()) {
      least = cost;
      best = candidate;
    }
  }
  return best;
}

}  // namespace locus
