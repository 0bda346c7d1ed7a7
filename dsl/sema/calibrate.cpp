// Lowering of `calibrate`: a loop that asks the equation and a whole-array function that says where next; see lower.hpp.
#include <algorithm>
#include <limits>
#include "dsl/sema/lower.hpp"

namespace locus::sema {

using graph::none;

// The equation is asked at one point for each entry, a turn at a time; core/run/root.cpp says where next.
void Lowering::step_calibrate(const ast::Step& st, Scope& s) {
  constexpr std::int64_t limit = 400, width = 11;
  const auto own = shape(st.type.shape, s);
  std::vector<Value> ends;
  for (const auto* e : {&st.low, &st.high}) {
    const Value v = build.real(number(**e, s));
    if (!visible(v).empty()) fail(Code::E222, (*e)->span, "the ends of the interval must be numbers");
    ends.push_back(v);
  }
  std::vector<Axis> axes = own;
  for (int attempt = 0;; ++attempt) {  // axes in front that the equation turns out to have are the root's as well
    graph::Iterate loop;
    loop.limit = limit;
    build.name = "turn";
    loop.turn = build.tensor({}, Type::integer);
    std::vector<Axis> wide = axes;
    wide.push_back({"~search", width, none});
    build.name = st.name.text;
    const TensorId state = build.tensor(wide, Type::exact), next = build.tensor(wide, Type::exact);
    const Value root = build.take(build.read(state, wide), static_cast<int>(axes.size()), 0);
    std::vector<graph::Node> body;
    build.push_block(&body);
    struct Pop {
      Build& b;
      ~Pop() { b.pop_block(); }
    };
    std::vector<Axis> lead;
    {
      Pop pop{build};
      Scope inner = s;
      inner.updates = nullptr;
      inner.names[st.name.text] = Any::of(root);
      run(st.block, inner);
      if (failed_ && !checking_) throw Poisoned{};
      const Value left = number(*st.until, inner), right = number(*st.until_right, inner);
      build.span = st.span;
      const Value gap = build.real(build.apply(LOCUS_sub, build.real(left), build.real(right)));
      for (const Axis& a : gap.axes) {
        if (hidden(a.name)) lead.push_back(a);
        else if (!has_axis(root, a.name))
          fail(Code::E222, st.until->span, "the equation has axis '" + a.name + "', which '" + st.name.text + "' " + shown(root) + " lacks", "there is one root for each entry of the name");
      }
      if (!checking_ && lead.size() + own.size() == axes.size()) {
        std::int64_t entries = 1;
        for (const Axis& a : axes) entries *= a.size;
        build.name = "gap";
        graph::ArrayCall call;
        call.function = LOCUS_ARRAY_ROOT;
        call.inputs = {state, build.materialise(build.canonical(gap.expr, axes)), build.materialise(ends[0]), build.materialise(ends[1])};
        build.name = "stop";
        loop.stop = build.tensor({}, Type::boolean);
        call.outputs = {next, loop.stop};
        call.parameters = {static_cast<double>(entries)};
        build.emit({{}, "", std::move(call)});
      }
    }
    if (checking_) {
      lead.insert(lead.end(), own.begin(), own.end());
      s.names[st.name.text] = Any::of(build.opaque(lead, Type::real));
      return;
    }
    if (lead.size() + own.size() != axes.size()) {
      if (attempt > 2) fail(Code::E222, st.span, "the equation changes its axes");
      axes = lead;
      axes.insert(axes.end(), own.begin(), own.end());
      continue;
    }
    build.name = st.name.text;
    const Value first = first_point(ends[0], ends[1]);
    const Value place = build.index("~search", width);
    const Value begin = build.select(build.apply(LOCUS_eq, place, build.integer(0)), build.to(Type::exact, first), build.number(0, Type::exact));
    loop.carries = {{build.materialise(build.canonical(begin.expr, [&] {
                       std::vector<Axis> all = axes;
                       all.push_back(place.axes[0]);
                       return all;
                     }())),
                     state, next}};
    loop.body = std::move(body);
    build.emit({{}, "", std::move(loop)});
    watch(Watch::root, state, st.name.text, st.span, 0);
    s.names[st.name.text] = Any::of(root);
    return;
  }
}

// Where a search begins: 1, or the middle of an interval that is closed or does not hold 1.
Value Lowering::first_point(const Value& low, const Value& high) {
  const auto n = [&](double v) { return build.number(v, Type::exact); };
  const Value open = build.apply(LOCUS_eq, high, n(std::numeric_limits<double>::infinity()));
  const Value middle = build.apply(LOCUS_div, build.apply(LOCUS_add, low, high), n(2));
  const Value inside = build.apply(LOCUS_and, build.apply(LOCUS_lt, low, n(1)), build.apply(LOCUS_lt, n(1), high));
  const Value from_zero = build.apply(LOCUS_and, build.apply(LOCUS_eq, low, n(0)), build.apply(LOCUS_not, open));
  const Value one = build.select(inside, n(1), build.select(open, build.apply(LOCUS_add, low, n(1)), middle));
  return build.select(from_zero, middle, one);
}

}  // namespace locus::sema
