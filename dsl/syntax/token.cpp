// Characters to tokens, with X3. Any sequence of bytes is read to its end: what begins no token becomes a fault.
// Only char_ with an explicit set is used: the classified parsers of X3 (alpha, space) assert on bytes above 0x7F.
#include "dsl/syntax/token.hpp"
#include <algorithm>
#include <array>
#include <boost/spirit/home/x3.hpp>
#include <charconv>
#include "dsl/syntax/fault.hpp"

namespace locus::syntax {

namespace {

namespace x3 = boost::spirit::x3;
using x3::char_;

constexpr std::array<std::string_view, 36> words = {"kernel",    "local",  "hierarchy", "import",   "at",       "among",   "by",     "where", "otherwise",
                                                    "nearest",   "within", "under",     "let",      "param",    "iterate", "from",   "until", "limit",
                                                    "calibrate", "in",     "learn",     "minimize", "penalize", "over",    "return", "if",    "then",
                                                    "else",      "and",    "or",        "not",      "true",     "false",   "real",   "int",   "bool"};

const auto blank = +char_(" \t\r\n\f\v") | (x3::lit('#') >> *(char_ - '\n'));
const auto digits = +char_("0-9");
const auto name = char_("a-zA-Z_") >> *char_("a-zA-Z0-9_");
const auto number = digits >> -(x3::lit('.') >> digits) >> -(char_("eE") >> -char_("+-") >> digits);
const auto string = x3::lit('"') >> *(char_ - char_("\"\n\r")) >> '"';

struct Signs : x3::symbols<char> {
  Signs() {
    for (const char* sign :
         {"..", "//", "<=", ">=", "==", "!=", "->", "+", "-", "*", "/", "%", "@", "^", "(", ")", "[", "]", "{", "}", ",", ":", ";", "=", "<", ">", "."})
      add(sign);
  }
};
const Signs sign;

class Reader {
 public:
  Reader(std::string_view text, std::uint32_t source) : text_(text), source_(source), here_(text.data()), end_(text.data() + text.size()) {}

  Tokens read() {
    while (skip(), here_ != end_) token();
    push(TokenKind::end, end_);
    return std::move(tokens_);
  }

 private:
  template <class Rule>
  bool match(const Rule& rule, const char*& last) const {
    last = here_;
    return x3::parse(last, end_, rule);
  }

  void skip() {
    const char* before = here_;
    x3::parse(here_, end_, *blank);
    if (std::find(before, here_, '\n') != here_) opens_line_ = true;
  }

  void push(TokenKind kind, const char* last) {
    const auto low = static_cast<std::uint32_t>(here_ - text_.data());
    const auto high = static_cast<std::uint32_t>(last - text_.data());
    tokens_.push_back({kind, opens_line_, {source_, low, high}, text_.substr(low, high - low)});
    opens_line_ = false;
    here_ = last;
  }

  void token() {
    const char* last = nullptr;
    if (match(name, last)) {
      const bool word = reserved({here_, static_cast<std::size_t>(last - here_)});
      push(word ? TokenKind::word : TokenKind::name, last);
    } else if (match(number, last) && !glued(last) && countable(last)) {
      push(TokenKind::number, last);
    } else if (match(string, last)) {
      push(TokenKind::string, last);
    } else if (match(sign, last) && !fraction(last)) {
      push(TokenKind::sign, last);
    } else {
      push(TokenKind::fault, here_ + fault_length({here_, static_cast<std::size_t>(end_ - here_)}));
    }
  }

  /// A number that runs into a letter or a point is none: 3x, 1., 0x10, 1.2.3, 1e (but 1 before `..` is one).
  bool glued(const char* last) const {
    if (last == end_) return false;
    if (x3::parse(last, end_, char_("a-zA-Z0-9_"))) return true;
    return *last == '.' && !(last + 1 != end_ && last[1] == '.');
  }

  /// A point before a digit begins a number without its zero; behind a name or a closing bracket it is a field gone wrong, and the same mistake.
  bool fraction(const char* last) const { return last - here_ == 1 && *here_ == '.' && last != end_ && *last >= '0' && *last <= '9'; }

  bool countable(const char* last) const {
    double value = 0;
    return std::from_chars(here_, last, value).ec == std::errc();
  }

  std::string_view text_;
  std::uint32_t source_;
  const char* here_;
  const char* end_;
  bool opens_line_ = true;
  Tokens tokens_;
};

}  // namespace

Tokens scan(const Sources& sources, std::uint32_t source) { return Reader(sources.at(source).text, source).read(); }

bool reserved(std::string_view text) { return std::find(words.begin(), words.end(), text) != words.end(); }

bool predefined(std::string_view text) { return text == "i" || text == "j" || text == "pi" || text == "inf"; }

}  // namespace locus::syntax
