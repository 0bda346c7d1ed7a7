// Lowering of `grad` and `learn`; see lower.hpp. The derivatives themselves are made by core/graph/adjoint.
#include "dsl/sema/lower.hpp"

namespace locus::sema {

Value Lowering::own(const std::string& name, const Value& v) {
  if (checking_ || !graded_.count(name) || build.type(v) < Type::exact) return v;
  const std::string outside = build.name;
  build.name = name;
  graph::Map copy;
  copy.out = build.tensor(v.axes, build.type(v));
  for (const Axis& a : v.axes) copy.space.push_back(a.coord);
  copy.value = v.expr;
  const TensorId out = copy.out;
  build.emit({{}, "", std::move(copy)});
  build.name = outside;
  return build.read(out, v.axes);
}

Value Lowering::gradient(const Value& scalar, const Value& target, const ast::Expr& e) {
  const std::string& name = e.points[1].value->name.text;
  const Type type = build.type(target);
  if (type < Type::exact)
    fail(Code::E206, e.points[1].value->span, "grad differentiates by real numbers, and '" + name + "' holds " + (type == Type::boolean ? "conditions" : "integers"), "declare '" + name + "' real");
  for (const Axis& a : scalar.axes)
    if (!has_axis(target, a.name))
      fail(Code::E218, e.points[0].value->span, "there is one such number for each entry of axis '" + a.name.substr(a.name.find_first_not_of("@|^")) + "', and '" + name + "' " + shown(target) + " is the same for all", "sum over that axis first, or give '" + name + "' that axis");
  build.span = e.span;
  if (checking_) return build.opaque(target.axes, Type::real);
  try {
    return build.derivative(scalar, target);
  } catch (const graph::Adjoint::NoDerivative& no) {
    fail(Code::E222, e.span, "there is no derivative by '" + name + "' through " + no.what, "say the method without it where '" + name + "' passes, or take the derivative by a name that comes after it",
         no.span == e.span ? std::vector<Note>{} : std::vector<Note>{{no.span, "it stands here"}});
  }
}

}  // namespace locus::sema
