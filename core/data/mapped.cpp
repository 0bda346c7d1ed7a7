// A map of weights applied to a file: names looked up, cuts checked against shapes, arrays cut and transposed as they are read.
// Must not know the parameters that a spec declares.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/data/stored.hpp"
#include "core/data/weights_map.hpp"

namespace locus {
namespace {

/// Where the entries of a cut and transposed array stand in the array it is taken from.
struct View {
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape, stride;
};

Array taken(const Array& from, const View& view) {
  Array to(from.dtype(), view.shape);
  const std::size_t width = size_of(from.dtype());
  const auto* in = static_cast<const char*>(from.data());
  auto* out = static_cast<char*>(to.data());
  std::vector<std::int64_t> index(view.shape.size(), 0);
  std::int64_t at = view.offset;
  for (std::int64_t k = 0; k < to.count(); ++k) {
    std::memcpy(out + static_cast<std::size_t>(k) * width, in + static_cast<std::size_t>(at) * width, width);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += view.stride[axis];
      if (++index[axis] < view.shape[axis]) break;
      at -= view.stride[axis] * view.shape[axis];
      index[axis] = 0;
    }
  }
  return to;
}

std::string cut_text(const std::vector<Cut>& cuts) {
  const auto end = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : ""; };
  std::string text;
  for (const Cut& c : cuts) text += (text.empty() ? "[" : ", ") + end(c.low) + (c.kind == Cut::Kind::part ? " of " : ":") + end(c.high);
  return text.empty() ? "" : text + "]";
}

/// "h.0.w" as "h.*.w": what a line for all layers would say.
std::string as_pattern(const std::string& name) {
  std::string text;
  for (std::size_t low = 0; low <= name.size();) {
    const std::size_t high = std::min(name.find('.', low), name.size());
    const bool number = high > low && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(low), name.begin() + static_cast<std::ptrdiff_t>(high), [](char c) { return c >= '0' && c <= '9'; });
    text += (low == 0 ? "" : ".") + (number ? "*" : name.substr(low, high - low));
    low = high + 1;
  }
  return text;
}

class Application {
 public:
  Application(const WeightsMap& map, const Weights& weights, const std::string& name, Diagnostics& diagnostics)
      : map_(map), name_(name), diagnostics_(diagnostics) {
    for (const auto& [full, array] : weights) add(full, array);
  }

  std::optional<Mapped> run() {
    for (const MapLine& line : map_.lines) take(line);
    for (const auto& [name, held] : names_) {
      const bool ignored = std::any_of(map_.ignored.begin(), map_.ignored.end(), [&known = name](const Pattern& p) { return matched(p.text, known).has_value(); });
      if (ignored || used_.count(name)) continue;
      if (!mapped_.arrays.emplace(name, MappedArray{*held, "", {}}).second) mapped_.unused.push_back(name);
    }
    if (diagnostics_.errors() > before_) return std::nullopt;
    return std::move(mapped_);
  }

 private:
  void fault(Code code, Span span, std::string message, std::string help, std::vector<Note> notes = {}) {
    diagnostics_.add({code, span, std::move(message), "", std::move(notes), std::move(help), ""});
  }

  void add(const std::string& full, const StoredArray& array) {
    for (const Pattern& prefix : map_.prefixes) {
      if (full.size() <= prefix.text.size() || full.compare(0, prefix.text.size(), prefix.text) != 0) continue;
      const std::string rest = full.substr(prefix.text.size());
      if (!names_.emplace(rest, &array).second)
        fault(Code::E446, prefix.span, name_ + " holds both '" + rest + "' and '" + full + "', one name without the prefix", "leave the prefix out, and name both in full");
      return;
    }
    if (!names_.emplace(full, &array).second)
      fault(Code::E446, map_.prefixes.front().span, name_ + " holds '" + full + "' with and without a prefix, one name without it", "leave the prefix out, and name both in full");
  }

  void take(const MapLine& line) {
    bool any = false;
    for (const auto& [name, array] : names_) {
      const auto pieces = matched(line.theirs.text, name);
      if (!pieces) continue;
      any = true;
      used_.insert(name);
      const std::optional<View> view = view_of(line, name, array->shape);
      if (!view) return;  // said once for a line, not for each of its layers
      give(line, filled(line.ours.text, *pieces), name, *array, *view);
    }
    if (any) return;
    const bool layered = line.theirs.text.find('*') != std::string::npos;
    std::vector<std::string> candidates;
    for (const auto& [name, array] : names_) candidates.push_back(layered ? as_pattern(name) : name);
    const std::string wildcard = layered ? "no array matches '" : "no array is called '";
    const std::string near = nearest_name(line.theirs.text, candidates);
    fault(Code::E444, line.theirs.span, wildcard + line.theirs.text + "' in " + name_,
          near.empty() ? "`locus weights " + name_ + "` lists its arrays" : "the nearest name there is `" + near + "`");
  }

  void give(const MapLine& line, const std::string& path, const std::string& name, const StoredArray& array, const View& view) {
    const std::string source = name + cut_text(line.cuts) + (line.transposed ? " transposed" : "");
    StoredArray changed = array;
    if (!line.cuts.empty() || line.transposed) {
      changed.shape = view.shape;
      changed.bytes = static_cast<std::uint64_t>(count_of(view.shape).value_or(0)) * (array.bytes / std::max<std::uint64_t>(static_cast<std::uint64_t>(count_of(array.shape).value_or(0)), 1));
      changed.read = [read = array.read, view](Diagnostics& diagnostics) -> std::optional<Array> {
        const std::optional<Array> whole = read(diagnostics);
        if (!whole) return std::nullopt;
        return taken(*whole, view);
      };
    }
    const auto [at, fresh] = mapped_.arrays.emplace(path, MappedArray{std::move(changed), source, cover(line.ours.span, line.theirs.span)});
    if (!fresh)
      fault(Code::E446, line.ours.span, "'" + path + "' is given twice: by '" + at->second.source + "' and by '" + source + "'", "leave one of the two lines out", {{at->second.span, "the first time here"}});
  }

  std::optional<View> view_of(const MapLine& line, const std::string& name, const std::vector<std::int64_t>& shape) {
    const auto wrong = [&](Span span, std::string message, std::string help) {
      fault(Code::E445, span, std::move(message), std::move(help));
      return std::nullopt;
    };
    const std::string held = "'" + name + "' " + shape_text(shape);
    View view{0, shape, std::vector<std::int64_t>(shape.size(), 1)};
    for (std::size_t k = shape.size(); k-- > 1;) view.stride[k - 1] = view.stride[k] * std::max<std::int64_t>(shape[k], 1);
    if (line.cuts.size() > shape.size())
      return wrong(line.cut_span, held + " has " + std::to_string(shape.size()) + (shape.size() == 1 ? " axis" : " axes") + ", the cut names " + std::to_string(line.cuts.size()),
                   "leave axes out of the cut, or the cut");
    for (std::size_t k = 0; k < line.cuts.size(); ++k) {
      const Cut& c = line.cuts[k];
      std::int64_t low = c.low.value_or(0), high = c.high.value_or(shape[k]);
      const std::string axis = "axis " + std::to_string(k) + " of " + held;
      if (c.kind == Cut::Kind::part) {
        if (high == 0 || low >= high) return wrong(line.cut_span, "there is no part " + std::to_string(low) + " of " + std::to_string(high) + ": parts count from 0", "write `0 of 3` for the first of three");
        if (shape[k] % high != 0) return wrong(line.cut_span, axis + " cannot be cut in " + std::to_string(high) + " equal parts", "write the bounds: `low:high`");
        const std::int64_t size = shape[k] / high;
        low *= size, high = low + size;
      }
      if (low > high || high > shape[k])
        return wrong(line.cut_span, axis + " has no entries " + std::to_string(low) + ":" + std::to_string(high), "bounds lie between 0 and " + std::to_string(shape[k]) + ", low before high");
      view.offset += low * view.stride[k];
      view.shape[k] = high - low;
    }
    if (!line.transposed) return view;
    if (shape.size() < 2) return wrong(line.transposed_span, held + " has no two axes to transpose", "leave out `transposed`");
    std::swap(view.shape.end()[-1], view.shape.end()[-2]);
    std::swap(view.stride.end()[-1], view.stride.end()[-2]);
    return view;
  }

  const WeightsMap& map_;
  const std::string& name_;
  Diagnostics& diagnostics_;
  std::size_t before_ = diagnostics_.errors();
  std::map<std::string, const StoredArray*> names_;
  std::set<std::string> used_;
  Mapped mapped_;
};

}  // namespace

std::optional<Mapped> apply(const WeightsMap& map, const Weights& weights, const std::string& name, Diagnostics& diagnostics) {
  return Application(map, weights, name, diagnostics).run();
}

}  // namespace locus
