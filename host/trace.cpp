// Trace events; see trace.hpp. A backend gives times, not moments: nodes are laid end to end.
#include "host/trace.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>
#include "host/cost.hpp"
#include "host/picture.hpp"

namespace locus::host {
namespace {

using nlohmann::json;

class Trace {
 public:
  Trace(const graph::Graph& g, const std::vector<NodeTime>& times, Dtype real) : graph_(g), times_(times), real_bytes_(size_of(real)), lines_(describe_nodes(g)) {}

  json events(const std::string& where) {
    all_.push_back({{"ph", "M"}, {"pid", 1}, {"name", "process_name"}, {"args", {{"name", "locus on " + where}}}});
    all_.push_back({{"ph", "M"}, {"pid", 1}, {"tid", 1}, {"name", "thread_name"}, {"args", {{"name", "nodes"}}}});
    std::size_t at = 0;
    level(at, 0, 0, 1);
    return all_;
  }

 private:
  const NodeTime* time_of(const graph::Node* n) const {
    const auto found = std::find_if(times_.begin(), times_.end(), [&](const NodeTime& t) { return t.node == n; });
    return found == times_.end() ? nullptr : &*found;
  }

  // The nodes of one list from `start` on; gives where it ends. Their work is done `turns` times.
  double level(std::size_t& at, std::size_t depth, double start, std::int64_t turns) {
    while (at < lines_.size() && lines_[at].depth >= depth) {
      const NodeLine& line = lines_[at++];
      const NodeTime* time = time_of(line.node);
      if (!time) continue;
      double end = start + time->seconds * 1e6;
      if (std::holds_alternative<graph::Iterate>(line.node->kind)) end = std::max(end, level(at, depth + 1, start, turns * time->turns));
      json args{{"operations", operations(graph_, *line.node) * static_cast<double>(turns)}, {"bytes", bytes_touched(graph_, *line.node, real_bytes_) * static_cast<double>(turns)}};
      if (time->turns > 0) args["turns"] = time->turns;
      if (time->skipped > 0) args["skipped blocks"] = time->skipped;
      all_.push_back({{"ph", "X"}, {"pid", 1}, {"tid", 1}, {"ts", start}, {"dur", end - start}, {"name", line.text}, {"args", std::move(args)}});
      start = end;
    }
    return start;
  }

  const graph::Graph& graph_;
  const std::vector<NodeTime>& times_;
  std::size_t real_bytes_;
  std::vector<NodeLine> lines_;
  json all_ = json::array();
};

}  // namespace

std::string trace_text(const graph::Graph& g, const std::vector<NodeTime>& times, const std::string& where, Dtype real) {
  return json{{"displayTimeUnit", "ms"}, {"traceEvents", Trace(g, times, real).events(where)}}.dump(1) + '\n';
}

}  // namespace locus::host
