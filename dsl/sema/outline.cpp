// See outline.hpp.
#include "dsl/sema/outline.hpp"
#include <algorithm>
#include <cctype>
#include <set>

namespace locus::sema {
namespace {

std::string sizes_of(const Value& v) {
  std::string text;
  for (const Axis& a : v.axes) text += (text.empty() ? "" : " × ") + std::to_string(a.size);
  return text.empty() ? "1" : text;
}

void find_writers(const std::vector<graph::Node>& nodes, std::map<TensorId, const graph::Node*>& writers) {
  for (const graph::Node& n : nodes) {
    if (const auto* loop = std::get_if<graph::Iterate>(&n.kind)) find_writers(loop->body, writers);
    for (TensorId t : graph::writes(n)) writers.try_emplace(t, &n);
  }
}

}  // namespace

TensorId Outline::tensor(Value& v) {
  v = build_.materialised(v);
  return build_.graph.exprs.reads(v.expr).front();
}

std::size_t Outline::add(Part::Kind kind, const std::string& name) {
  Part part;
  part.kind = kind, part.name = name, part.parent = frames_.empty() ? 0 : frames_.back().part, part.out = parts.size();
  parts.push_back(part);
  return parts.size() - 1;
}

/// The parts of the call at hand that the value is made of, found by walking back from it.
std::vector<Part::Feed> Outline::sources(const Value& v) {
  std::map<TensorId, const graph::Node*> writers;
  for (const auto* block : build_.blocks()) find_writers(*block, writers);
  std::vector<Part::Feed> found;
  std::set<TensorId> seen;
  std::vector<TensorId> open = build_.graph.exprs.reads(v.expr);
  while (!open.empty()) {
    const TensorId t = open.back();
    open.pop_back();
    if (!seen.insert(t).second) continue;
    if (const auto known = frames_.back().known.find(t); known != frames_.back().known.end()) {
      std::string sizes;
      for (std::int64_t size : build_.graph.tensors[t].shape) sizes += (sizes.empty() ? "" : " × ") + std::to_string(size);
      found.push_back({known->second, sizes});
      continue;
    }
    if (const auto first = begins_.find(t); first != begins_.end()) open.push_back(first->second);
    const auto writer = writers.find(t);
    if (writer == writers.end()) continue;
    if (const auto* loop = std::get_if<graph::Iterate>(&writer->second->kind)) {
      for (const graph::Carry& c : loop->carries) open.push_back(c.next);
      continue;
    }
    for (TensorId each : graph::reads(build_.graph, *writer->second)) open.push_back(each);
  }
  std::sort(found.begin(), found.end(), [](const Part::Feed& a, const Part::Feed& b) { return a.from < b.from; });
  found.erase(std::unique(found.begin(), found.end(), [](const Part::Feed& a, const Part::Feed& b) { return a.from == b.from; }), found.end());
  return found;
}

void Outline::enter(const std::string& declared, const std::string& path, std::map<std::string, Value>& given, const std::vector<std::string>& order) {
  std::vector<std::vector<Part::Feed>> feeds;
  for (const std::string& name : order) {
    const auto at = given.find(name);
    if (at == given.end()) continue;
    tensor(at->second);
    feeds.push_back(frames_.empty() ? std::vector<Part::Feed>() : sources(at->second));
  }
  const std::size_t call = add(Part::call, declared);
  std::string own = path;
  if (const auto dot = own.rfind('.'); dot != std::string::npos && std::isdigit(static_cast<unsigned char>(own[dot + 1]))) parts[call].index = std::stoll(own.substr(dot + 1)), own.erase(dot);
  if (const auto dot = own.rfind('.'); dot != std::string::npos) own.erase(0, dot + 1);
  parts[call].instance = own;
  frames_.push_back({call, {}});
  std::size_t k = 0;
  for (const std::string& name : order) {
    const auto at = given.find(name);
    if (at == given.end()) continue;
    const TensorId t = tensor(at->second);
    if (const auto known = frames_.back().known.find(t); known != frames_.back().known.end()) {
      parts[known->second].name += ", " + name;  // one array given for two inputs
    } else {
      const std::size_t input = add(Part::input, name);
      parts[input].feeds = feeds[k], parts[input].shape = sizes_of(at->second);
      frames_.back().known[t] = input;
    }
    ++k;
  }
}

void Outline::leave(Any& result) {
  const std::size_t call = frames_.back().part;
  std::vector<Value*> values;
  if (result.kind == Any::Kind::value) values.push_back(&result.value);
  for (auto& [name, v] : result.fields) values.push_back(&v);
  const bool leaf = frames_.size() > 1 && std::none_of(parts.begin() + static_cast<std::ptrdiff_t>(call) + 1, parts.end(), [](const Part& p) { return p.kind != Part::input; });
  std::vector<Part::Feed> made_of;
  for (Value* v : values) {
    tensor(*v);
    for (const Part::Feed& f : sources(*v))
      if (std::none_of(made_of.begin(), made_of.end(), [&](const Part::Feed& o) { return o.from == f.from; })) made_of.push_back(f);
  }
  if (leaf) {
    for (std::size_t k = call + 1; k < parts.size(); ++k)
      for (const Part::Feed& f : parts[k].feeds)
        if (std::none_of(parts[call].feeds.begin(), parts[call].feeds.end(), [&](const Part::Feed& o) { return o.from == f.from; })) parts[call].feeds.push_back(f);
    parts.resize(call + 1);
  } else if (made_of.size() == 1 && parts[made_of.front().from].kind != Part::input) {
    parts[call].out = parts[made_of.front().from].out;
  } else {
    const std::size_t joined = add(Part::join, "result");
    parts[joined].feeds = made_of;
    parts[call].out = joined;
  }
  if (!values.empty()) parts[call].shape = sizes_of(*values.front());
  frames_.pop_back();
  if (!frames_.empty())
    for (Value* v : values) frames_.back().known[tensor(*v)] = call;
}

void Outline::sentence(Value& result, const std::string& text) {
  const TensorId t = tensor(result);
  const auto feeds = sources(result);
  const std::size_t part = add(Part::sentence, text);
  parts[part].feeds = feeds, parts[part].shape = sizes_of(result);
  frames_.back().known[t] = part;
}

void Outline::let(const std::string& name, Value& v) {
  auto feeds = sources(v);
  if (feeds.size() < 2) return;
  const TensorId t = tensor(v);
  const std::size_t part = add(Part::join, name);
  parts[part].feeds = std::move(feeds), parts[part].shape = sizes_of(v);
  frames_.back().known[t] = part;
}

void Outline::forget(std::size_t mark) {
  parts.resize(mark);
  for (Frame& f : frames_) std::erase_if(f.known, [&](const auto& k) { return k.second >= mark; });
}

}  // namespace locus::sema
