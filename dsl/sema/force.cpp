// Values that must be known while lowering goes on: the graph so far is run, and what it computed becomes constants; see lower.hpp.
#include <algorithm>
#include "dsl/sema/lower.hpp"

namespace locus::sema {

using graph::Node;

std::optional<Array> Lowering::known(const Value& v, Span span) {
  if (build.constant(v)) {
    Array a(build.type(v) == Type::integer ? Dtype::int64 : Dtype::float64, [&] {
      std::vector<std::int64_t> dims;
      for (const Axis& x : v.axes) dims.push_back(x.size);
      return dims;
    }());
    if (checking_ && !v.axes.empty()) return {};
    for (std::int64_t k = 0; k < a.count(); ++k)
      if (a.dtype() == Dtype::int64) a.as<std::int64_t>()[k] = static_cast<std::int64_t>(build.value(v));
      else a.as<double>()[k] = build.value(v);
    return a;
  }
  if (checking_) return {};
  if (build.in_loop()) fail(Code::E302, span, "a size inside a loop depends on what the loop computes", "compute it before the loop with `let`");
  const TensorId wanted = build.materialise(v);
  for (const Node& n : build.graph.nodes)
    if (const auto* input = std::get_if<graph::Input>(&n.kind); input && input->out == wanted) {
      if (input->constant) return input->data;
      if (data.count(input->name)) return data.at(input->name);
      if (const auto later = unread.find(input->name); later != unread.end()) {
        auto array = later->second(diagnostics_);
        if (!array) throw Poisoned{};
        return array;
      }
    }
  if (!missing_.empty() || !misshapen_.empty()) throw Poisoned{};  // said when the walk ends
  if (!force || !*force) fail(Code::E303, span, "this size is known only after a run with data", "give the data instead of `--size`");
  // The nodes that the value needs; everything they compute is kept, so that nothing is computed twice.
  std::set<TensorId> needed{wanted};
  std::vector<bool> use(build.graph.nodes.size());
  for (std::size_t k = build.graph.nodes.size(); k-- > 0;) {
    const Node& n = build.graph.nodes[k];
    const auto out = graph::writes(n);
    if (std::none_of(out.begin(), out.end(), [&](TensorId t) { return needed.count(t) > 0; })) continue;
    use[k] = true;
    for (TensorId t : graph::reads(build.graph, n)) needed.insert(t);
  }
  graph::Graph part = build.graph;
  part.nodes.clear();
  part.outputs.clear();
  std::vector<TensorId> computed;
  for (std::size_t k = 0; k < use.size(); ++k) {
    if (!use[k]) continue;
    part.nodes.push_back(build.graph.nodes[k]);
    if (std::holds_alternative<graph::Input>(build.graph.nodes[k].kind)) continue;
    if (const auto* loop = std::get_if<graph::Iterate>(&build.graph.nodes[k].kind)) {
      for (const auto& c : loop->carries) computed.push_back(c.state);
      for (const auto& p : loop->paths) computed.push_back(p.out);
    } else {
      for (TensorId t : graph::writes(build.graph.nodes[k])) computed.push_back(t);
    }
  }
  if (differentiates_) computed = {wanted};
  for (TensorId t : computed) part.outputs.push_back({"t" + std::to_string(t), t});
  for (const Node& n : part.nodes) {
    const auto* input = std::get_if<graph::Input>(&n.kind);
    const auto later = input ? unread.find(input->name) : unread.end();
    if (later == unread.end()) continue;
    auto array = later->second(diagnostics_);
    if (!array) throw Poisoned{};
    data[later->first] = std::move(*array);
    unread.erase(later);
  }
  const auto results = (*force)(part, data);
  if (!results) throw Poisoned{};
  if (differentiates_) return results->at("t" + std::to_string(wanted));  // `grad` goes back through the nodes themselves
  std::vector<Node> kept;
  for (TensorId t : computed) {
    graph::Input input;
    input.out = t;
    input.name = "t" + std::to_string(t);
    input.constant = true;
    input.data = results->at(input.name);
    kept.push_back({span, build.graph.tensors[t].name, std::move(input)});
  }
  for (std::size_t k = 0; k < use.size(); ++k)
    if (!use[k] || std::holds_alternative<graph::Input>(build.graph.nodes[k].kind)) kept.push_back(build.graph.nodes[k]);
  build.graph.nodes = std::move(kept);
  return results->at("t" + std::to_string(wanted));
}

}  // namespace locus::sema
