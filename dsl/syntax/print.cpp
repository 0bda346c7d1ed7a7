// Tree to text, in the form that the grammar reads: parsing it again gives the same tree.
// Knows nothing of Spirit and of the text that the tree came from.
#include <array>
#include <charconv>
#include <sstream>
#include "dsl/syntax/parse.hpp"

namespace locus {

namespace {

using namespace ast;

/// How tightly an expression binds, in the order of the grammar.
enum Level { loose, either, both, test, compare, sum, product, prefix, power, postfix };

Level level_of(Operator op) {
  switch (op) {
    case Operator::logical_or:
      return either;
    case Operator::logical_and:
      return both;
    case Operator::add:
    case Operator::subtract:
      return sum;
    case Operator::multiply:
    case Operator::divide:
    case Operator::floor_divide:
    case Operator::modulo:
    case Operator::matmul:
      return product;
    case Operator::power:
      return power;
    default:
      return compare;
  }
}

const char* text_of(Operator op) {
  constexpr std::array<const char*, 16> texts = {"+", "-", "*", "/", "//", "%", "@", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"};
  return texts[static_cast<std::size_t>(op)];
}

bool comparison(const Expr& e) { return e.kind == ExprKind::binary && level_of(e.op) == compare; }

/// (a < b) and (b < c) as the grammar builds it from a < b < c: the middle is one node, not two equal ones.
bool chain(const Expr& e) {
  if (e.kind != ExprKind::binary || e.op != Operator::logical_and || !comparison(*e.parts[1])) return false;
  const Expr& left = *e.parts[0];
  const Expr* link = comparison(left) ? &left : left.kind == ExprKind::binary && left.op == Operator::logical_and ? left.parts[1].get() : nullptr;
  return link && comparison(*link) && link->parts[1] == e.parts[1]->parts[0] && (link == &left || chain(left));
}

Level level_of(const Expr& e) {
  switch (e.kind) {
    case ExprKind::choose:
    case ExprKind::sentence:
      return loose;
    case ExprKind::negation:
      return test;
    case ExprKind::negate:
      return prefix;
    case ExprKind::binary:
      return chain(e) ? compare : level_of(e.op);
    default:
      return postfix;
  }
}

std::string number_text(const Expr& e) {
  if (e.whole) return std::to_string(e.integer);
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), e.number);
  std::string text(digits.data(), end.ptr);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

class Printer {
 public:
  std::string text() const { return out_.str(); }

  /// In parentheses if it binds less tightly than its place asks.
  void expression(const Expr& e, Level least = loose) {
    const bool enclosed = level_of(e) < least;
    if (enclosed) out_ << '(';
    bare(e);
    if (enclosed) out_ << ')';
  }

  void declaration(const Declaration& d) {
    std::istringstream lines(d.comment);
    for (std::string line; std::getline(lines, line);) out_ << '#' << (line.empty() ? "" : " ") << line << '\n';
    switch (d.kind) {
      case Declaration::Kind::import:
        out_ << "import \"" << d.import->path << "\"\n";
        break;
      case Declaration::Kind::kernel:
        kernel(*d.kernel);
        break;
      case Declaration::Kind::local:
        local(*d.local);
        break;
      case Declaration::Kind::hierarchy:
        hierarchy(*d.hierarchy);
        break;
    }
  }

 private:
  template <class Items, class Write>
  void list(const Items& items, Write write) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ << ", ";
      first = false;
      write(item);
    }
  }
  void list(const std::vector<ExprPtr>& items, Level least = loose) {
    list(items, [&](const ExprPtr& item) { expression(*item, least); });
  }

  void arguments(const std::vector<Argument>& items, const char* sign) {
    list(items, [&](const Argument& item) {
      if (!item.name.text.empty()) out_ << item.name.text << sign;
      expression(*item.value);
    });
  }
  void call(const std::vector<Argument>& points, const std::vector<Argument>& settings) {
    out_ << '(';
    arguments(points, " = ");
    if (!settings.empty()) out_ << "; ";
    arguments(settings, " = ");
    out_ << ')';
  }

  void bare(const Expr& e) {
    switch (e.kind) {
      case ExprKind::number:
        out_ << number_text(e);
        break;
      case ExprKind::truth:
        out_ << (e.truth ? "true" : "false");
        break;
      case ExprKind::name:
        out_ << e.name.text;
        break;
      case ExprKind::tuple:
        out_ << '(', list(e.parts), out_ << ')';
        break;
      case ExprKind::bracket:
        out_ << '[', list(e.parts), out_ << ']';
        break;
      case ExprKind::record:
        out_ << '(', arguments(e.points, ": "), out_ << ')';
        break;
      case ExprKind::call:
        expression(*e.parts[0], postfix), call(e.points, e.settings);
        break;
      case ExprKind::field:
        field(e);
        break;
      case ExprKind::index:
        expression(*e.parts[0], postfix), places(e.places);
        break;
      case ExprKind::negate:
        out_ << '-', expression(*e.parts[0], prefix);
        break;
      case ExprKind::negation:
        out_ << "not ", expression(*e.parts[0], test);
        break;
      case ExprKind::binary:
        binary(e);
        break;
      case ExprKind::choose:
        choose(e);
        break;
      case ExprKind::sentence:
        sentence(*e.sentence);
        break;
    }
  }

  void field(const Expr& e) {
    const bool number = e.parts[0]->kind == ExprKind::number;  // without parentheses its point would be read into the number
    if (number) out_ << '(';
    expression(*e.parts[0], postfix);
    if (number) out_ << ')';
    out_ << '.' << e.name.text;
  }

  void binary(const Expr& e) {
    if (chain(e)) {
      bare(*e.parts[0]);
      out_ << ' ' << text_of(e.parts[1]->op) << ' ';
      return expression(*e.parts[1]->parts[1], sum);
    }
    const Level level = level_of(e.op);
    const auto tighter = static_cast<Level>(level + 1);
    // Power groups to the right and takes a signed exponent; the others group to the left; comparisons not at all.
    const Level left = level == power ? postfix : level == compare ? tighter : level;
    const Level right = level == power ? prefix : tighter;
    expression(*e.parts[0], left);
    out_ << ' ' << text_of(e.op) << ' ';
    expression(*e.parts[1], right);
  }

  void choose(const Expr& e) {
    out_ << "if ", expression(*e.parts[0], either);
    out_ << " then ", expression(*e.parts[1]);
    out_ << " else ", expression(*e.parts[2]);
  }

  void places(const std::vector<Index>& all) {
    out_ << '[';
    list(all, [&](const Index& place) {
      if (place.kind == Index::Kind::skip) out_ << "..";
      if (place.low) expression(*place.low);
      if (place.kind == Index::Kind::cut) out_ << (place.low ? " :" : ":");
      if (place.high) out_ << ' ', expression(*place.high, sum);
    });
    out_ << ']';
  }

  void sentence(const Sentence& s) {
    expression(*s.estimate, postfix);
    const auto clause = [&](const char* word, const ExprPtr& part, Level least) {
      if (part) out_ << ' ' << word << ' ', expression(*part, least);
    };
    clause("at", s.queries, either);
    clause("among", s.samples, either);
    clause("nearest", s.nearest, sum);
    clause("within", s.within, sum);
    clause("under", s.under, sum);
    clause("by", s.by, either);
    clause("where", s.where, either);
    clause("otherwise", s.otherwise, either);
  }

  void type(const Type& t) {
    out_ << t.base.text;
    if (!t.points.empty() || !t.settings.empty()) call(t.points, t.settings);
    if (t.shape.empty()) return;
    out_ << (t.base.text.empty() ? "[" : " [");
    list(t.shape, sum);
    out_ << ']';
  }

  void declared(const std::vector<Declared>& all, const char* sign = " = ") {
    list(all, [&](const Declared& each) {
      out_ << each.name.text;
      if (each.type.present) out_ << ": ", type(each.type);
      if (each.value) out_ << sign, expression(*each.value);
    });
  }
  void inputs(const std::vector<Declared>& inputs, const std::vector<Declared>& settings) {
    out_ << '(';
    declared(inputs);
    if (!settings.empty()) out_ << "; ";
    declared(settings);
    out_ << ')';
  }

  void point(const Point& p) {
    if (p.tuple) out_ << '(';
    list(p.names, [&](const Name& name) { out_ << name.text; });
    if (p.tuple) out_ << ')';
  }

  void line(const char* word, const Expr& e, std::size_t depth) { out_ << std::string(2 * depth, ' ') << word << ' ', expression(e), out_ << '\n'; }

  void step(const Step& s, std::size_t depth) {
    out_ << std::string(2 * depth, ' ');
    switch (s.kind) {
      case StepKind::let:
        out_ << "let " << s.name.text;
        if (s.type.present) out_ << ": ", type(s.type);
        out_ << " = ", expression(*s.value);
        break;
      case StepKind::param:
        out_ << "param ", declared(s.declared);
        break;
      case StepKind::update:
        out_ << s.name.text << " <- ", expression(*s.value);
        break;
      case StepKind::minimize:
        out_ << "minimize ", expression(*s.value);
        break;
      case StepKind::iterate:
        loop("iterate ", s, depth);
        break;
      case StepKind::learn:
        loop("learn ", s, depth);
        break;
      case StepKind::calibrate:
        calibrate(s, depth);
        break;
    }
    out_ << '\n';
  }

  void block(const Steps& steps, std::size_t depth) {
    out_ << " {\n";
    for (const Step& each : steps) step(each, depth + 1);
    out_ << std::string(2 * depth, ' ') << '}';
  }

  void loop(const char* word, const Step& s, std::size_t depth) {
    out_ << word, declared(s.declared, " from "), block(s.block, depth);
    if (s.until) out_ << " until ", expression(*s.until, either);
    if (s.by) out_ << " by ", expression(*s.by, postfix);
    out_ << " limit ", expression(*s.limit, sum);
  }

  void calibrate(const Step& s, std::size_t depth) {
    out_ << "calibrate " << s.name.text << ": ", type(s.type);
    out_ << " in (", expression(*s.low), out_ << ", ", expression(*s.high), out_ << ')';
    block(s.block, depth);
    out_ << " until ", expression(*s.until, sum), out_ << " == ", expression(*s.until_right, sum);
  }

  void kernel(const Kernel& k) {
    out_ << "kernel " << k.name.text << '(';
    point(k.query), out_ << ", ", point(k.sample);
    if (!k.settings.empty()) out_ << "; ";
    declared(k.settings);
    out_ << ") = ", expression(*k.body), out_ << '\n';
  }

  void local(const Local& l) {
    out_ << "local " << l.name.text, inputs(l.inputs, l.settings);
    if (l.has_query) out_ << " at ", point(l.query);
    out_ << " {\n  over ", declared(l.over), out_ << '\n';
    for (const Step& each : l.before) step(each, 1);
    line("minimize", *l.loss, 1);
    if (l.penalty) line("penalize", *l.penalty, 1);
    for (const Step& each : l.after) step(each, 1);
    line("return", *l.result, 1);
    out_ << "}\n";
  }

  void hierarchy(const Hierarchy& h) {
    out_ << "hierarchy " << h.name.text, inputs(h.inputs, h.settings), out_ << " -> ";
    if (h.named_results)
      inputs(h.results, {});
    else
      type(h.output);
    out_ << " {\n";
    for (const Step& each : h.steps) step(each, 1);
    line("return", *h.result, 1);
    out_ << "}\n";
  }

  std::ostringstream out_;
};

}  // namespace

std::string print(const ast::File& file) {
  Printer printer;
  for (const ast::Declaration& each : file.declarations) printer.declaration(each);
  return printer.text();
}

std::string print(const ast::Expr& expr) {
  Printer printer;
  printer.expression(expr);
  return printer.text();
}

}  // namespace locus
