// See hierarchy.hpp.
#include "host/hierarchy.hpp"
#include <algorithm>
#include <set>

namespace locus::host {
namespace {

std::string escaped(const std::string& text) {
  std::string all;
  for (char c : text) all += c == '"' || c == '\\' ? std::string{'\\', c} : c == '\n' ? std::string("\\n") : std::string{c};
  return all;
}

std::string shortened(const std::string& line) {
  constexpr std::size_t most = 48;
  return line.size() <= most ? line : line.substr(0, most - 2) + " …";
}

/// A sentence on lines of its clauses.
std::string broken(std::string text) {
  for (const char* clause : {" at ", " by ", " where ", " nearest ", " within ", " otherwise "})
    if (const auto at = text.find(clause); at != std::string::npos) text[at] = '\n';
  std::string all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    all += (all.empty() ? "" : "\n") + shortened(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

class Drawing {
 public:
  explicit Drawing(std::vector<Part> parts) : parts_(std::move(parts)), same_(parts_.size()), copies_(parts_.size(), 1), gone_(parts_.size(), false) {
    for (std::size_t k = 0; k < parts_.size(); ++k) same_[k] = k;
    merge_copies();
  }

  std::string text() {
    out_ = "digraph hierarchy {\n  graph [rankdir = TB, nodesep = 0.3, ranksep = 0.35, style = \"rounded,filled\", color = \"#8a97a6\"];\n"
           "  node [fontname = \"Helvetica\", fontsize = 11, shape = box, style = \"rounded,filled\", fillcolor = white, color = \"#5b6775\", height = 0.3, margin = \"0.12,0.05\"];\n"
           "  edge [fontname = \"Helvetica\", fontsize = 9, fontcolor = \"#5b6775\", color = \"#3f4a57\", arrowsize = 0.6];\n";
    draw(0, 1);
    for (std::size_t k = 0; k < parts_.size(); ++k)
      if (!gone_[k]) draw_edges(k);
    out_ += "  end [label = \"result   " + parts_[0].shape + "\", shape = plaintext, style = \"\"];\n  " + name(node_of(0)) + " -> end;\n";
    return out_ + "}\n";
  }

 private:
  std::vector<Part> parts_;
  std::vector<std::size_t> same_;     ///< the part that stands for it in the picture
  std::vector<std::int64_t> copies_;
  std::vector<bool> gone_;
  std::string out_;

  static std::string name(std::size_t k) { return "p" + std::to_string(k); }

  /// Parts of a call lie behind it, up to here.
  std::size_t end_of(std::size_t call) const {
    std::size_t k = call + 1;
    while (k < parts_.size() && inside(k, call)) ++k;
    return k;
  }
  bool inside(std::size_t k, std::size_t call) const {
    while (k != 0 && k != call) k = parts_[k].parent;
    return k == call;
  }

  void merge_copies() {
    for (std::size_t first = 1; first < parts_.size(); ++first) {
      const Part& p = parts_[first];
      if (gone_[first] || p.kind != Part::call || p.index < 0) continue;
      const std::size_t length = end_of(first) - first;
      std::set<std::int64_t> indices{p.index};
      for (std::size_t k = first + length; k < parts_.size(); ++k) {
        const Part& q = parts_[k];
        if (gone_[k] || q.kind != Part::call || q.parent != p.parent || q.instance != p.instance || q.name != p.name || q.index < 0 || end_of(k) - k != length) continue;
        indices.insert(q.index);
        for (std::size_t offset = 0; offset < length; ++offset) {
          gone_[k + offset] = true, same_[k + offset] = first + offset;
          for (const Part::Feed& f : parts_[k + offset].feeds) parts_[first + offset].feeds.push_back(f);
        }
      }
      copies_[first] = static_cast<std::int64_t>(indices.size());
    }
  }

  bool leaf(std::size_t call) const { return call != 0 && parts_[call].out == call; }

  std::size_t node_of(std::size_t k) const {
    k = same_[k];
    while (parts_[k].out != k && same_[parts_[k].out] != k) k = same_[parts_[k].out];
    return k;
  }

  std::string title(std::size_t call) const {
    const Part& p = parts_[call];
    return (p.instance.empty() ? p.name : p.instance + ": " + p.name) + (copies_[call] > 1 ? "  × " + std::to_string(copies_[call]) : "");
  }

  void draw(std::size_t call, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    static const char* fills[] = {"#f4f6f8", "#e6ebf1", "#d8e0e9", "#cbd5e1"};
    out_ += indent + "subgraph cluster_" + std::to_string(call) + " {\n" + indent + "  fillcolor = \"" + fills[std::min(depth - 1, 3)] + "\";\n";
    // A title that is a node is crossed by no edge, as a cluster's own label would be.
    const std::string heading = "title" + std::to_string(call);
    out_ += indent + "  " + heading + " [label = \"" + escaped(title(call)) + "\", shape = plaintext, style = \"\", fontsize = 13, height = 0.2, margin = \"0.04,0.02\"];\n";
    if (call + 1 < parts_.size() && parts_[call + 1].kind == Part::input && parts_[call + 1].parent == call)
      out_ += indent + "  { rank = same; " + heading + " -> " + name(call + 1) + " [style = invis]; }\n";
    for (std::size_t k = call + 1; k < end_of(call); ++k) {
      if (gone_[k] || parts_[k].parent != call) continue;
      const Part& p = parts_[k];
      if (p.kind == Part::call && !leaf(k)) {
        draw(k, depth + 1);
        continue;
      }
      out_ += indent + "  " + name(k);
      if (p.kind == Part::call) out_ += " [label = \"" + escaped(title(k)) + "\"];\n";
      if (p.kind == Part::input) out_ += " [label = \"" + escaped(p.name + "   " + p.shape) + "\", shape = plaintext, style = \"\", height = 0.2, margin = \"0.04,0.02\"];\n";
      if (p.kind == Part::sentence) out_ += " [label = \"" + escaped(broken(p.name)) + "\", fillcolor = \"#ffe3b8\", color = \"#b97a1a\"];\n";
      if (p.kind == Part::join) out_ += " [label = \"" + escaped(p.name) + "\", shape = ellipse, fillcolor = \"#dff0df\", color = \"#4f8a54\"];\n";
    }
    out_ += indent + "}\n";
  }

  void draw_edges(std::size_t to) {
    std::set<std::size_t> drawn;
    for (const Part::Feed& f : parts_[to].feeds) {
      const std::size_t source = same_[f.from], from = node_of(f.from);
      const std::size_t owner = parts_[to].kind == Part::input ? parts_[to].parent : to;
      if (inside(source, owner) || !drawn.insert(from).second) continue;  // from the copy before
      out_ += "  " + name(from) + " -> " + name(to);
      if (parts_[from].kind != Part::input && parts_[to].kind != Part::input) out_ += " [label = \" " + f.shape + "\"]";
      out_ += ";\n";
    }
  }
};

}  // namespace

std::string hierarchy_dot(const std::vector<Part>& parts) { return Drawing(parts).text(); }

}  // namespace locus::host
