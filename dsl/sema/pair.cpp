// The two sides of a sentence: reading arrays at i, at j, at both or as they are; see scope.hpp.
#include <algorithm>
#include "dsl/sema/scope.hpp"

namespace locus::sema {

Pair::Pair(Build& b, std::vector<Value> q, std::vector<Value> x, Span s) : build(b), span(s), queries(std::move(q)), samples(std::move(x)) {
  points(queries, i_axis, n, "queries");
  points(samples, j_axis, m, "samples");
  self = i_axis == j_axis;
  for (const auto* side_parts : {&queries, &samples})
    for (const Value& part : *side_parts) {
      const auto at = visible(part);
      for (std::size_t k = 0; k + 2 < at.size(); ++k) {
        const std::string& a = part.axes[static_cast<std::size_t>(at[k])].name;
        if (a != i_axis && a != j_axis && std::find(steps.begin(), steps.end(), a) == steps.end()) steps.push_back(a);
      }
    }
}

void Pair::points(std::vector<Value>& parts, std::string& axis, std::int64_t& count, const char* role) const {
  for (Value& part : parts) {
    const auto at = visible(part);
    if (at.empty()) fail(Code::E213, span, std::string("the ") + role + " must be an array of points, not a number", "give an array with a point axis, such as [n, d] or [n]");
    const Axis own = part.axes[static_cast<std::size_t>(at.size() > 1 ? at[at.size() - 2] : at.back())];
    if (axis.empty()) {
      axis = own.name;
      count = own.size;
    } else if (own.name != axis) {
      if (own.size != count && own.size != unknown && count != unknown)
        fail(Code::E201, span, std::string("the ") + role + " have " + std::to_string(count) + " points in one part and " + std::to_string(own.size) + " in another");
      part = build.renamed(part, [&](int, const std::string& a) { return a == own.name ? axis : a; });
    }
  }
}

Value Pair::in_step(const Value& v) const {
  if (steps.empty()) return v;
  return build.renamed(v, [&](int, const std::string& a) { return std::find(steps.begin(), steps.end(), a) != steps.end() ? "|" + a : a; });
}

Value Pair::at_side(const Value& v, char wanted) const {
  const std::string& axis = wanted == 'i' ? i_axis : j_axis;
  int at = -1;
  for (std::size_t k = 0; k < v.axes.size() && at < 0; ++k)
    if (v.axes[k].name == axis) at = static_cast<int>(k);
  if (at < 0)
    fail(Code::E203, build.span, std::string("[") + wanted + "] takes the " + (wanted == 'i' ? "queries'" : "samples'") + " axis '" + axis + "', which " + shown(v) + " lacks");
  return build.renamed(v, [&](int k, const std::string& a) { return k == at ? std::string(wanted == 'i' ? "@i" : "@j") : a; });
}

Value Pair::read(const Value& whole, bool explicit_sides) const {
  const Value v = in_step(whole);
  const auto count = [&](const std::string& axis) { return std::count_if(v.axes.begin(), v.axes.end(), [&](const Axis& a) { return a.name == axis; }); };
  const auto count_i = count(i_axis), count_j = count(j_axis);
  if (count_i == 0 && count_j == 0) return v;
  if (self) {
    if (explicit_sides) return v;
    if (count_i > 1)
      fail(Code::E203, build.span, "queries and samples are one axis '" + i_axis + "': an array " + shown(v) + " must say [i, j] or [j, i]",
           "write `[i, j]` behind it: the entry of this query and this sample");
    if (side == 0)
      fail(Code::E203, build.span, "queries and samples are one axis '" + i_axis + "': an array " + shown(v) + " must say [i] (the query's) or [j] (the sample's)",
           "write `[i]` or `[j]` behind it");
    return at_side(v, side);
  }
  if (count_i > 1 || count_j > 1) fail(Code::E203, build.span, "an axis is found twice in " + shown(v) + ": index it with [i] or [j]");
  const Value half = count_i != 0 ? at_side(v, 'i') : v;
  return count_j != 0 ? at_side(half, 'j') : half;
}

std::vector<Value> Pair::point(char wanted) const {
  const std::string& axis = wanted == 'i' ? i_axis : j_axis;
  const std::string& other = wanted == 'i' ? j_axis : i_axis;
  std::vector<Value> parts;
  for (const Value& whole : wanted == 'i' ? queries : samples) {
    Value part = in_step(whole);
    int at = -1;
    for (std::size_t k = 0; k < part.axes.size() && at < 0; ++k)
      if (part.axes[k].name == axis) at = static_cast<int>(k);
    part = build.renamed(part, [&](int k, const std::string& a) { return k == at ? std::string(wanted == 'i' ? "@i" : "@j") : a; });
    if (!self && has_axis(part, other)) part = at_side(part, wanted == 'i' ? 'j' : 'i');
    parts.push_back(std::move(part));
  }
  return parts;
}

Value Pair::outside(const Value& v) const {
  std::vector<int> order(v.axes.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
  const auto rank = [&](int k) {
    const std::string& a = v.axes[static_cast<std::size_t>(k)].name;
    if (a[0] == '^') return std::pair<int, int>(0, k);
    if (a[0] == '|') return std::pair<int, int>(1, static_cast<int>(std::find(steps.begin(), steps.end(), a.substr(1)) - steps.begin()));
    return std::pair<int, int>(a == "@i" ? 2 : a == "@j" ? 3 : 4, k);
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
  std::vector<Axis> axes;
  for (int k : order) {
    Axis a = v.axes[static_cast<std::size_t>(k)];
    a.name = a.name == "@i" ? i_axis : a.name == "@j" ? j_axis : a.name[0] == '|' ? a.name.substr(1) : a.name;
    axes.push_back(a);
  }
  return build.canonical(v.expr, std::move(axes));
}

}  // namespace locus::sema
