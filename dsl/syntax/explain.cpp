// One message for one stop. The rules below are tried in order, from the surest mistake to the plainest words.
// Knows nothing of Spirit.
#include "dsl/syntax/explain.hpp"
#include <algorithm>
#include <array>
#include <optional>
#include "dsl/syntax/fault.hpp"
#include "dsl/syntax/scene.hpp"

namespace locus::syntax {

namespace {

using Maybe = std::optional<Diagnostic>;

struct Stopped {
  Scene scene;
  const Token& at;
  std::string wanted;

  bool wants(std::string_view part) const { return wanted.find(part) != std::string::npos; }
  bool name_wanted() const { return wanted == "a name" || wanted == "a setting" || wanted == "an input" || wanted == "a point"; }
  bool step_wanted() const { return wants("a step") || wanted == "`let` or `minimize`"; }
  const Token* before() const { return scene.before(); }
};

/// What cannot be shown where it is found: the end of the file, and what stands a line below the mistake.
Span behind(const Token* before) { return {before->span.source, before->span.high, before->span.high}; }

Span place(const Stopped& s) { return s.at.kind == TokenKind::end && s.before() ? behind(s.before()) : s.at.span; }

Diagnostic say(Code code, Span span, std::string message, std::string help) { return {code, span, std::move(message), "", {}, std::move(help), ""}; }

bool begins_expression(const Token& token) {
  return token.kind == TokenKind::name || token.kind == TokenKind::number || is(token, "(") || is(token, "[") || is(token, "if") || is(token, "not") ||
         is(token, "true") || is(token, "false");
}

// -- limits that the grammar itself reports ---------------------------------------------------------------------------------

Maybe depth(const Stopped& s) {
  if (s.wanted == "less nesting") return say(Code::E013, s.at.span, "the nesting is deeper than 256 levels", "give the inner part a name with `let`");
  if (s.wanted == "a shorter expression")
    return say(Code::E013, s.at.span, "the expression is a tree more than 512 levels high", "give a part of it a name with `let`");
  return {};
}

const Token* find_back(const Token* from, const Token* start, std::initializer_list<std::string_view> words) {
  int level = 0;
  for (const Token* token = from; token > start; --token) {
    if (is(*token, ")") || is(*token, "]")) ++level;
    if (is(*token, "(") || is(*token, "[")) --level;
    if (level == 0 && std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is(*token, word); })) return token;
  }
  return start;
}

Maybe clause_twice(const Stopped& s) {
  if (s.wanted != "each clause once") return {};
  const bool chooses = s.at.text == "nearest" || s.at.text == "within";
  const Token* other = chooses ? find_back(&s.at - 1, s.scene.start, {"nearest", "within"}) : find_back(&s.at - 1, s.scene.start, {s.at.text});
  const bool same = other->text == s.at.text;
  Diagnostic d =
      say(Code::E012, s.at.span, same ? "the clause " + quoted(s.at) + " is given twice" : "`nearest` and `within` stand in one sentence", "keep one of them");
  if (s.at.text == "by") d.help = "a product of kernels is one clause: `by FIRST * SECOND`";
  if (s.at.text == "where") d.help = "join the conditions: `where FIRST and SECOND`";
  d.notes.push_back({other->span, same ? "first given here" : "the other one stands here"});
  return d;
}

Maybe estimate(const Stopped& s) {
  if (s.wanted == "a call before `at`")
    return say(Code::E014, s.at.span, "`at` follows something that is not one call",
               "put parentheses round the sentence, or give it a name with `let` and compute with the name");
  if (s.wanted == "`among`")
    return say(Code::E014, place(s), "the sentence does not name its samples: expected `among`, found " + describe(s.at),
               "write `among SAMPLES` behind the queries");
  return {};
}

// -- habits of other languages ------------------------------------------------------------------------------------------------

struct Foreign {
  std::string_view word, write;
};

constexpr std::array<Foreign, 13> pairs = {{{"**", "write `^`"},
                                            {"=>", "write `>=` to compare, `->` before a result"},
                                            {"=<", "write `<=`"},
                                            {"<>", "write `!=`"},
                                            {"===", "write `==`"},
                                            {"!==", "write `!=`"},
                                            {":=", "write `=`"},
                                            {"+=", "write `NAME <- NAME + VALUE` in a loop"},
                                            {"-=", "write `NAME <- NAME - VALUE` in a loop"},
                                            {"*=", "write `NAME <- NAME * VALUE` in a loop"},
                                            {"/=", "write `NAME <- NAME / VALUE` in a loop"},
                                            {"::", "write `:`"},
                                            {"++", "write `+`"}}};

/// Two tokens without a blank between that are one operator elsewhere.
Maybe joined(const Stopped& s) {
  const auto pair = [](const Token* low, const Token* high) -> Maybe {
    if (low->kind != TokenKind::sign || high->kind != TokenKind::sign || low->span.high != high->span.low) return {};
    const std::string text = std::string(low->text) + std::string(high->text);
    for (const Foreign& each : pairs)
      if (each.word == text) return say(Code::E004, cover(low->span, high->span), "`" + text + "` is not an operator of the language", std::string(each.write));
    return {};
  };
  if (s.at.kind == TokenKind::end || !s.before()) return {};
  if (Maybe found = pair(s.before(), &s.at)) return found;
  if (Maybe found = pair(&s.at, &s.at + 1)) return found;
  return s.step_wanted() && s.at.kind == TokenKind::name ? pair(&s.at + 1, &s.at + 2) : Maybe();
}

constexpr std::array<Foreign, 37> keywords = {{
    {"def", "a function is a `hierarchy` or, of two points, a `kernel`"},
    {"function", "a function is a `hierarchy` or, of two points, a `kernel`"},
    {"fn", "a function is a `hierarchy` or, of two points, a `kernel`"},
    {"func", "a function is a `hierarchy` or, of two points, a `kernel`"},
    {"lambda", "declare a `kernel` or a `hierarchy` and use its name"},
    {"class", "declare a `hierarchy`"},
    {"struct", "declare a `hierarchy`"},
    {"model", "declare a `hierarchy` or a `local`"},
    {"module", "declare a `hierarchy`"},
    {"for", "write `iterate NAME from START { NAME <- NEXT } limit TURNS`"},
    {"while", "write `iterate NAME from START { NAME <- NEXT } until CONDITION limit TURNS`"},
    {"loop", "write `iterate NAME from START { NAME <- NEXT } limit TURNS`"},
    {"repeat", "write `iterate NAME from START { NAME <- NEXT } until CONDITION limit TURNS`"},
    {"do", "write `iterate NAME from START { NAME <- NEXT } limit TURNS`"},
    {"break", "a loop ends by its `until`"},
    {"continue", "there is no early turn: choose the value with `if CONDITION then ONE else OTHER`"},
    {"var", "write `let NAME = VALUE`"},
    {"const", "write `let NAME = VALUE`"},
    {"val", "write `let NAME = VALUE`"},
    {"auto", "write `let NAME = VALUE`"},
    {"float", "write `let NAME = VALUE`; the type of one number is `real`"},
    {"double", "write `let NAME = VALUE`; the type of one number is `real`"},
    {"elif", "write `else if`"},
    {"elseif", "write `else if`"},
    {"elsif", "write `else if`"},
    {"switch", "write `if CONDITION then ONE else OTHER`"},
    {"match", "write `if CONDITION then ONE else OTHER`"},
    {"case", "write `if CONDITION then ONE else OTHER`"},
    {"end", "a body ends with `}`"},
    {"begin", "a body begins with `{`"},
    {"pass", "remove it"},
    {"yield", "write `return`"},
    {"print", "a hierarchy shows nothing by itself: give the value back with `return`"},
    {"include", "write `import \"FILE.locus\"`"},
    {"use", "write `import \"FILE.locus\"`"},
    {"from", "write `import \"FILE.locus\"`"},
    {"mut", "write `let NAME = VALUE`"},
}};

const Foreign* keyword(const Token* token) {
  if (!token || token->kind == TokenKind::fault) return nullptr;
  const auto found = std::find_if(keywords.begin(), keywords.end(), [&](const Foreign& each) { return each.word == token->text; });
  return found == keywords.end() ? nullptr : &*found;
}

/// A word that is an ordinary name here counts only where it heads what cannot be read: at the place, or with an operand right behind it.
Maybe habit(const Stopped& s) {
  const bool heads = s.step_wanted() || s.wanted == "a declaration" || s.wanted == "`else`" || s.wanted == "`then`" || s.wants("`}`");
  const Token* found = heads && keyword(&s.at) ? &s.at : nullptr;
  if (!found && s.at.kind == TokenKind::name && !s.at.opens_line && s.before() > s.scene.begin && s.before()->kind == TokenKind::name &&
      !begins_declaration(s.before()[-1]) && keyword(s.before()))
    found = s.before();
  if (!found || (found->kind == TokenKind::word && s.wanted != "a declaration")) return {};
  return say(Code::E007, found->span, quoted(*found) + " is not a word of the language", std::string(keyword(found)->write));
}

Maybe reserved_name(const Stopped& s) {
  const bool listed = s.scene.head() && s.wants("`)`") && !is(*s.before(), ")");
  if (!s.name_wanted() && !listed) return {};
  if (s.at.kind == TokenKind::name && predefined(s.at.text) && (s.name_wanted() || is(*s.before(), "("))) {
    const bool index = s.at.text == "i" || s.at.text == "j";
    return say(Code::E008, s.at.span,
               quoted(s.at) + (index ? " is an index of the pair, and cannot be declared" : " is a number of the language, and cannot be declared"),
               "take another name, such as `" + std::string(s.at.text) + "0`");
  }
  const bool here = s.at.kind == TokenKind::word && (!s.at.opens_line || s.before()->text == "," || s.before()->text == "(");
  if (!here) return {};
  return say(Code::E008, s.at.span, quoted(s.at) + " is a word of the grammar, and cannot be a name",
             "take another name, such as `" + std::string(s.at.text) + "_value`");
}

// -- missing words ------------------------------------------------------------------------------------------------------------

Maybe missing_word(const Stopped& s) {
  if (!s.before()) return {};
  const Span here = behind(s.before());
  if (s.wanted == "`limit`" && !is(s.at, "=")) {
    const Token* loop = find_back(s.before(), s.scene.start, {"iterate", "learn"});
    Diagnostic d = say(Code::E010, here, quoted(*loop) + " has no `limit`", "write `limit 100` here: the largest number of turns");
    d.label = "`limit` is missing here";
    return d;
  }
  if ((s.wanted == "`then`" || s.wanted == "`else`") && !is(s.at, "=")) {
    Diagnostic d = say(Code::E011, here, "`if` has no " + s.wanted + ": found " + describe(s.at),
                       s.wanted == "`else`" ? "write `else VALUE`: a branch always has a value" : "write `then VALUE else OTHER`");
    d.label = s.wanted + " is missing here";
    return d;
  }
  const bool unfinished = is(s.at, "}") || s.at.kind == TokenKind::end || begins_declaration(s.at);
  if ((s.wanted == "a step or `return`" || s.wanted == "`return`") && unfinished) {
    Diagnostic d =
        say(Code::E016, here, s.scene.declaration + " ends without `return`", is(s.at, "}") ? "write `return RESULT` before `}`" : "write `return RESULT }`");
    d.label = "`return` is missing here";
    return d;
  }
  return {};
}

// -- signs ----------------------------------------------------------------------------------------------------------------------

/// `=`, `:`, `==`, `<-`, `->` and `{` where another of them belongs.
Maybe sign(const Stopped& s) {
  const Scene& scene = s.scene;
  const bool arrow = is(s.at, "<") && is(*(&s.at + 1), "-");
  const auto other = [&](std::string message, std::string help) {
    return say(Code::E009, arrow ? cover(s.at.span, (&s.at + 1)->span) : place(s), "found " + (arrow ? "`<-`" : describe(s.at)) + std::move(message),
               std::move(help));
  };
  if (s.wanted == "`=`" && is(*scene.start, "kernel") && scene.open.empty() && (is(s.at, "{") || is(s.at, "->") || is(s.at, ":")))
    return other(" where the expression of " + scene.declaration + " is given with `=`", "write `= EXPRESSION`; a kernel has no body in braces");
  if (s.wanted == "`=`" && (is(s.at, "==") || is(s.at, "<") || is(s.at, "->"))) return other(" where `let` gives a value with `=`", "write `=`");
  if (s.wanted == "`=`" && is(s.at, ",")) return say(Code::E006, s.at.span, "found `,`: a `let` declares one name", "write one `let` for each name");
  if (s.wanted == "`{`" && (is(s.at, ":") || is(s.at, "="))) return other(" where the body begins with `{`", "write `{`, and `}` behind the body");
  if (s.wanted == "`->`" && (is(s.at, ":") || is(s.at, "="))) return other(" where the result is given with `->`", "write `-> TYPE {`");
  if (s.wanted == "`->`")
    return say(Code::E006, place(s), "expected `->` and the type of the result in " + scene.declaration + ", found " + describe(s.at),
               "write `-> [n]` here, with the axes of the result");
  if (s.wanted == "`from`" && (is(s.at, "=") || is(s.at, "in") || is(s.at, ":") || is(s.at, "<")))
    return other(" where `iterate` gives the first value with `from`", "write `from`");
  if (s.wanted == "`in`" && (is(s.at, "=") || is(s.at, "from"))) return other(" where `calibrate` gives its range with `in`", "write `in (LOW, HIGH)`");
  if (s.wanted == "`==`") return other(" where `calibrate` states its equation with `==`", "write `until LEFT == RIGHT`");
  if ((!is(s.at, "=") && !is(s.at, ":")) || s.name_wanted()) return {};
  const bool arguments = scene.inside("(") && scene.open.back().inside.rfind("the arguments", 0) == 0;
  if (is(s.at, ":") && arguments) return other(" in " + scene.rule + ", where a name takes its value with `=`", "write `=`");
  if (is(s.at, "=") && scene.inside("(") && !arguments && !scene.head() && s.before()->kind == TokenKind::name && s.wants("`)`"))
    return other(" in " + scene.rule + ", where a record gives its fields with `:`", "write `:`; to compare write `==`");
  if (is(s.at, "=") && s.wanted != "`:`" && s.wanted != "a type" && !scene.head() && !s.step_wanted() && s.wanted != "an expression")
    return other(" where a condition compares with `==`", "write `==`");
  return {};
}

/// A word that opens a step or a declaration, with a slip of the pen in it.
Maybe misspelt(const Stopped& s) {
  if (s.at.kind != TokenKind::name || !s.at.opens_line) return {};
  const bool declares = s.wanted == "a declaration";
  if (!declares && !s.step_wanted()) return {};
  static const std::vector<std::string> declarations = {"kernel", "local", "hierarchy", "import"};
  static const std::vector<std::string> steps = {"let", "param", "iterate", "calibrate", "learn", "minimize", "return"};
  const Token& next = *(&s.at + 1);
  const bool operand = next.kind == TokenKind::name || next.kind == TokenKind::number || next.kind == TokenKind::string || begins_expression(next);
  const std::string meant = nearest_name(std::string(s.at.text), declares ? declarations : steps);
  if (meant.empty() || !operand) return {};
  return say(declares ? Code::E015 : Code::E006, s.at.span,
             "expected " + (declares ? "`kernel`, `local`, `hierarchy` or `import`" : s.wanted) + ", found " + describe(s.at), "did you mean `" + meant + "`?");
}

/// `x = 1` or `x := 1` at the start of a step.
Maybe assignment(const Stopped& s) {
  if (!s.step_wanted() || s.at.kind != TokenKind::name) return {};
  const Token& next = *(&s.at + 1);
  if (is(next, "="))
    return say(Code::E009, next.span, "found `=` behind " + quoted(s.at) + " at the start of a step",
               s.scene.open.size() > 1 ? "write `" + std::string(s.at.text) + " <-` for a carried name, `let " + std::string(s.at.text) + " =` for a new one"
                                       : "write `let " + std::string(s.at.text) + " =`");
  if (is(next, "(") && s.at.opens_line)
    return say(Code::E006, s.at.span, "a call stands where a step is expected in " + s.scene.rule,
               "give its value a name: `let NAME = " + std::string(s.at.text) + "(...)`");
  return {};
}

// -- types and points ---------------------------------------------------------------------------------------------------------

Maybe untyped(const Stopped& s) {
  if (s.wanted != "`:`" || !s.before() || s.before()->kind != TokenKind::name) return {};
  const std::string name(s.before()->text.substr(0, 40));
  Diagnostic d = say(Code::E018, s.before()->span, quoted(*s.before()) + " has no type in " + s.scene.rule,
                     "write `" + name + ": [n]` with the names of its axes, or `" + name + ": real` for one number");
  if (is(s.at, "=") && s.scene.head()) d.help = "inputs have types and no values: write `" + name + ": [n]`, or make it a setting behind `;`";
  return d;
}

Maybe points(const Stopped& s) {
  if (!is(*s.scene.start, "kernel") || !s.scene.head()) return {};
  if (s.wanted == "`,`" && is(s.at, ":"))
    return say(Code::E019, s.at.span, "a point of " + s.scene.declaration + " has a type", "remove the type: a kernel takes points of any size");
  if (s.wanted == "`,`") return say(Code::E019, place(s), s.scene.declaration + " has one point", "name the sample too: `(a, b)`");
  if (s.wanted == "a point" && !s.name_wanted()) return {};
  if (s.wanted == "`;` or `)`" && is(s.at, ","))
    return say(Code::E019, s.at.span, s.scene.declaration + " has more than two points",
               "write `;` before the settings, or put the parts of one point in parentheses");
  if (s.wanted == "`;` or `)`" && is(s.at, ":"))
    return say(Code::E019, s.at.span, "a point of " + s.scene.declaration + " has a type", "remove the type: a kernel takes points of any size");
  return {};
}

// -- brackets -------------------------------------------------------------------------------------------------------------------

std::string closer(const Token& open) { return is(open, "(") ? ")" : is(open, "[") ? "]" : "}"; }
bool closes(const Token& token) { return is(token, ")") || is(token, "]") || is(token, "}"); }

Maybe unclosed(const Stopped& s) {
  if (s.scene.open.empty()) return {};
  const Token& open = *s.scene.open.back().token;
  const std::string missing = closer(open);
  if (!s.wants("`" + missing + "`")) return {};
  const bool word = s.at.kind == TokenKind::word && !begins_expression(s.at);
  const bool step = is(s.at, "let") || is(s.at, "param") || is(s.at, "iterate") || is(s.at, "calibrate") || is(s.at, "learn") || is(s.at, "minimize");
  const bool ended = s.at.kind == TokenKind::end || begins_declaration(s.at);
  const bool left = missing == "}" ? ended || (s.step_wanted() && word && !step) : ended || word || s.at.opens_line || closes(s.at) || is(s.at, "{");
  if (!left) return {};
  Diagnostic d = say(Code::E005, behind(s.before()), quoted(open) + " is not closed in " + (missing == "}" ? s.scene.declaration : s.scene.rule),
                     "write `" + missing + "` here");
  d.label = "`" + missing + "` is missing here";
  const bool far = std::any_of(&open + 1, &s.at, [](const Token& token) { return token.opens_line; });
  if (far) d.notes.push_back({open.span, "opened here"});
  return d;
}

Maybe unopened(const Stopped& s) {
  if (!closes(s.at)) return {};
  const bool partner = !s.scene.open.empty() && closer(*s.scene.open.back().token) == s.at.text;
  if (partner || (!s.step_wanted() && s.wanted != "a declaration" && !s.wants("`}`"))) return {};
  return say(Code::E017, s.at.span, quoted(s.at) + " closes nothing", "remove it");
}

/// A second operand right behind the first: an operator or a comma is missing.
Maybe leftover(const Stopped& s) {
  const bool complete = s.step_wanted() || s.wants("`)`") || s.wants("`]`") || s.wants("`}`");
  if (!complete || !begins_expression(s.at) || s.at.opens_line || s.scene.head() || !s.before() || s.before()->kind == TokenKind::sign) return {};
  const bool listed = s.scene.inside("(") || s.scene.inside("[");
  return say(Code::E006, s.at.span, "found " + describe(s.at) + " behind a complete expression in " + s.scene.rule,
             std::string("write an operator ") + (listed ? "or `,` " : "") + "before " + quoted(s.at));
}

// -- the rest -------------------------------------------------------------------------------------------------------------------

Maybe outside(const Stopped& s) {
  if (s.wanted != "a declaration") return {};
  const bool follows = s.before() && !s.at.opens_line;
  if (follows)
    return say(Code::E006, s.at.span, "found " + describe(s.at) + " behind the end of a declaration",
               "write an operator before it, or begin a declaration on a new line");
  if (is(s.at, "return"))
    return say(Code::E015, s.at.span, "`return` stands outside of every declaration", "put it into a hierarchy: `hierarchy NAME(x: [n]) -> [n] { return x }`");
  return say(Code::E015, s.at.span, "expected `kernel`, `local`, `hierarchy` or `import`, found " + describe(s.at),
             "put it into a hierarchy, or begin the line with `#` to make it a comment");
}

std::string expected(const Stopped& s) {
  if (s.wanted == "a step or `return`" || s.wanted == "a step or `}`") return s.wanted;
  const Token* before = s.before();
  const bool names = before && s.wanted == "an expression" && (before->kind == TokenKind::sign || before->kind == TokenKind::word);
  return names ? s.wanted + " behind " + quoted(*before) : s.wanted;
}

/// Joins two operands, so that one of them can be missing.
bool is_operator(const Token& token) {
  constexpr std::array<std::string_view, 17> all = {"+", "-", "*", "/", "//", "%", "@", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or", ","};
  return std::any_of(all.begin(), all.end(), [&](std::string_view each) { return is(token, each); });
}

std::string repair(const Stopped& s) {
  const Scene& scene = s.scene;
  if (is(s.at, ";")) return scene.inside("(") ? "one `;` parts points from settings: write `,` between settings" : "remove it: steps end without a sign";
  if (s.wanted == "`{`") return "write `{`";
  if (s.wanted == "`over`") return "begin with what is estimated: `over a: real`";
  if (s.wanted == "`let` or `minimize`") return "write `minimize` and the loss of one sample";
  if (s.wants("`return`") && s.step_wanted() && is(s.at, "until")) return "`until` stands behind the `}` of its loop";
  if (is(s.at, "return") && is(*scene.start, "kernel")) return "a kernel is one expression: remove `return`";
  if (s.wanted == "`by`") return "write `by adam(rate = 0.01)` before `limit`";
  if (s.wanted == "a call") return "write an optimiser, as in `by adam(rate = 0.01)`";
  if (s.wanted == "a file name in quotes") return "write `import \"FILE.locus\"`";
  if (s.wanted == "`(`" && scene.open.empty())
    return is(*scene.start, "kernel") ? "write the two points in parentheses: `(a, b)`" : "write the inputs in parentheses: `(x: [n])`";
  if (s.wanted == "`:`") return "write `:`";
  if (s.wanted == "`from`") return "write `from` and the first value";
  if (s.wanted == "a type") return "write the axes in brackets, as in `[n, d]`, or `real`, `int` or `bool`";
  if (s.wanted == "an expression" && (is(s.at, ")") || is(s.at, "]")) && is(*s.before(), ",")) return "remove the `,`";
  if (s.wanted == "an expression" && (s.at.kind == TokenKind::sign) && is(s.at, "+")) return "remove `+`";
  if (s.wanted == "an expression" && is_operator(*s.before())) return "write its right side, or remove " + quoted(*s.before());
  if (s.wanted == "an expression" || s.wanted == "an index") return "write a value here";
  if (s.name_wanted()) return "write a name here";
  if (scene.head() && is(s.at, "=") && !is(*scene.start, "kernel")) return "inputs have no values: make it a setting behind `;`";
  if (s.wanted == "`}`") return "`return` comes last: put it behind the other steps";
  if (s.step_wanted()) return "begin the step with `let`, `param`, `iterate`, `calibrate`, `learn` or `NAME <-`";
  return "write " + s.wanted.substr(0, s.wanted.find(" or "));
}

Diagnostic plain(const Stopped& s) {
  const bool below = s.at.opens_line && s.wanted == "`{`";
  return say(Code::E006, below ? behind(s.before()) : place(s), "expected " + expected(s) + " in " + s.scene.rule + ", found " + describe(s.at), repair(s));
}

}  // namespace

Diagnostic explain(const Token* begin, const Token* start, const Token* at, const std::string& wanted) {
  if (at->kind == TokenKind::fault) return explain_fault(at->text, at->span);
  const Stopped s{look(begin, start, at), *at, wanted};
  for (const auto rule : {depth, clause_twice, joined, estimate, habit, reserved_name, missing_word, sign, misspelt, assignment, points, untyped, unclosed,
                          unopened, leftover, outside})
    if (Maybe found = rule(s)) return *found;
  return plain(s);
}

}  // namespace locus::syntax
