// Reference cases; see case.hpp.
#include "host/case.hpp"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include "core/data/npy.hpp"
#include "core/data/weights.hpp"

namespace locus::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

[[noreturn]] void refuse(const std::string& text) { throw std::runtime_error(text); }

std::string text_of(const Diagnostics& d) { return d.all().empty() ? "unknown fault" : d.all().front().message; }

Array read_array(const std::string& path) {
  Diagnostics diagnostics;
  auto array = read_npy_file(path, diagnostics);
  if (!array) refuse(path + ": " + text_of(diagnostics));
  return *array;
}

Array from_json(const json& value) {
  std::vector<std::int64_t> shape;
  for (const json* at = &value; at->is_array(); at = &at->front()) {
    shape.push_back(static_cast<std::int64_t>(at->size()));
    if (at->empty()) break;
  }
  std::vector<const json*> flat{&value};
  bool whole = true, truth = true;
  for (std::size_t depth = 0; depth < shape.size(); ++depth) {
    std::vector<const json*> next;
    for (const json* v : flat) {
      if (!v->is_array() || static_cast<std::int64_t>(v->size()) != shape[depth]) refuse("a list in case.json is ragged");
      for (const json& part : *v) next.push_back(&part);
    }
    flat = std::move(next);
  }
  for (const json* v : flat) {
    if (!v->is_number() && !v->is_boolean()) refuse("a value in case.json is no number");
    whole &= v->is_number_integer();
    truth &= v->is_boolean();
  }
  Array a(truth ? Dtype::boolean : whole ? Dtype::int64 : Dtype::float64, shape);
  for (std::size_t k = 0; k < flat.size(); ++k) {
    if (truth) a.as<bool>()[k] = flat[k]->get<bool>();
    else if (whole) a.as<std::int64_t>()[k] = flat[k]->get<std::int64_t>();
    else a.as<double>()[k] = flat[k]->is_boolean() ? flat[k]->get<bool>() : flat[k]->get<double>();
  }
  return a;
}

/// One index in numpy's notation: numbers and lo:hi for leading axes.
Array indexed(const Array& a, const std::string& text) {
  std::vector<std::int64_t> low(a.shape().size(), 0), high = a.shape();
  std::vector<bool> drop(a.shape().size(), false);
  std::stringstream parts(text);
  std::string part;
  for (std::size_t k = 0; std::getline(parts, part, ','); ++k) {
    if (k >= high.size()) refuse("more indices than axes in [" + text + "]");
    part.erase(std::remove(part.begin(), part.end(), ' '), part.end());
    const auto colon = part.find(':');
    const auto place = [&](const std::string& word) {
      const std::int64_t v = std::stoll(word);
      return v < 0 ? v + a.shape()[k] : v;
    };
    if (colon == std::string::npos) {
      low[k] = place(part), high[k] = low[k] + 1, drop[k] = true;
    } else {
      if (colon > 0) low[k] = place(part.substr(0, colon));
      if (colon + 1 < part.size()) high[k] = place(part.substr(colon + 1));
    }
    if (low[k] < 0 || high[k] > a.shape()[k] || low[k] > high[k]) refuse("[" + text + "] does not fit " + shape_text(a.shape()));
  }
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;
  for (std::size_t k = 0; k < high.size(); ++k) {
    count *= high[k] - low[k];
    if (!drop[k]) shape.push_back(high[k] - low[k]);
  }
  Array out(a.dtype(), shape);
  const std::size_t width = size_of(a.dtype());
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t rest = n, at = 0, stride = 1;
    for (std::size_t k = high.size(); k-- > 0;) {
      const std::int64_t extent = high[k] - low[k];
      at += (low[k] + rest % extent) * stride;
      rest /= extent;
      stride *= a.shape()[k];
    }
    std::copy_n(static_cast<const char*>(a.data()) + static_cast<std::size_t>(at) * width, width, static_cast<char*>(out.data()) + static_cast<std::size_t>(n) * width);
  }
  return out;
}

std::string bare_name(const std::string& path) { return path.substr(path.find('/') + 1, path.find('[') == std::string::npos ? std::string::npos : path.find('[') - path.find('/') - 1); }

std::string replaced(std::string text, const std::string& number) {
  for (std::size_t at; (at = text.find('*')) != std::string::npos;) text.replace(at, 1, number);
  return text;
}

}  // namespace

ReferenceCase::ReferenceCase(const std::string& folder) : folder_(folder) {
  std::ifstream in(fs::path(folder) / "case.json");
  if (!in) refuse("cannot open " + (fs::path(folder) / "case.json").string());
  json_ = json::parse(in, nullptr, false);
  if (json_.is_discarded()) refuse((fs::path(folder) / "case.json").string() + " is not JSON");
}

Array ReferenceCase::resolve(const json& source) const {
  if (!source.is_string()) return from_json(source);
  const std::string text = source.get<std::string>();
  static const std::regex file(R"((inputs|expected)/([\w.-]+)((?:\[[^\]]*\])*))"), value(R"(([a-z_]\w*)((?:\.\w+|\[-?\d+\])*))"), bracket(R"(\[([^\]]*)\])"), key(R"(\.(\w+)|\[(-?\d+)\])");
  std::smatch m;
  if (std::regex_match(text, m, file)) {
    Array a = read_array((fs::path(folder_) / m[1].str() / (m[2].str() + ".npy")).string());
    const std::string indices = m[3].str();
    for (std::sregex_iterator it(indices.begin(), indices.end(), bracket), end; it != end; ++it) a = indexed(a, (*it)[1].str());
    return a;
  }
  if (std::regex_match(text, m, value) && json_.contains(m[1].str()) && m[2].length() > 0) {
    const json* found = &json_[m[1].str()];
    const std::string keys = m[2].str();
    for (std::sregex_iterator it(keys.begin(), keys.end(), key), end; it != end; ++it) {
      const std::string name = (*it)[1].str().empty() ? (*it)[2].str() : (*it)[1].str();
      if (found->is_object() && found->contains(name)) found = &(*found)[name];
      else if (found->is_array() && std::stoul(name) < found->size()) found = &(*found)[std::stoul(name)];
      else refuse("case.json has no " + text);
    }
    return from_json(*found);
  }
  refuse("the binding '" + text + "' is neither a path into the case nor an array of it");
}

Parameters ReferenceCase::parameters(const json& binding) const {
  Parameters found;
  const auto hold = [&](const std::string& path, const Array& array) {
    const Array numbers = array.dtype() == Dtype::int64 ? array.cast(Dtype::float64) : array;  // lists of whole numbers are numbers like others
    found.names.push_back(path);
    found.by_path[path] = {numbers.shape(), numbers.dtype(), "", {}, [numbers](Diagnostics&) { return std::optional(numbers); }};
  };
  for (const auto& [path, source] : binding.items()) {
    const std::string text = source.is_string() ? source.get<std::string>() : "";
    const auto hash = text.find('#');
    Weights stored;
    if (hash != std::string::npos) {
      Diagnostics diagnostics;
      const auto weights = open_weights((fs::path(folder_) / text.substr(0, hash)).string(), diagnostics);
      if (!weights) refuse(text.substr(0, hash) + ": " + text_of(diagnostics));
      stored = *weights;
    }
    const bool many = text.find('*') != std::string::npos;
    for (int k = 0; k < (many ? 100000 : 1); ++k) {
      const std::string at = replaced(text, std::to_string(k)), name = replaced(path, std::to_string(k));
      if (hash != std::string::npos) {
        const auto array = stored.find(at.substr(at.find('#') + 1));
        if (array == stored.end()) {
          if (many) break;
          refuse("no array '" + at.substr(at.find('#') + 1) + "' in " + text.substr(0, hash));
        }
        Diagnostics diagnostics;
        const auto numbers = array->second.read(diagnostics);
        if (!numbers) refuse(text.substr(0, hash) + ": " + text_of(diagnostics));
        hold(name, *numbers);
      } else {
        if (many && !fs::exists(fs::path(folder_) / (at + ".npy"))) break;
        hold(name, resolve(many ? json(at) : source));
      }
    }
  }
  return found;
}

std::optional<Tolerance> ReferenceCase::tolerance(const std::string& path, Dtype real, std::string& reason) const {
  const std::string name = bare_name(path);
  const auto of = [](const json& t) { return Tolerance{t.value("atol", 0.0), t.value("rtol", 0.0)}; };
  if (json_.contains("expected") && json_["expected"].is_object() && json_["expected"].contains(name)) {
    const json& e = json_["expected"][name];
    if (e.is_object() && e.contains("tolerance") && e["tolerance"].is_object()) {
      const json& t = e["tolerance"];
      const char* which = real == Dtype::float32 ? "float32" : "float64";
      const json& mine = t.contains(which) ? t[which] : t;
      if (mine.is_string()) {
        reason = mine.get<std::string>();
        if (real == Dtype::float32) return {};
        return Tolerance{};
      }
      if (mine.is_object()) return of(mine);
      return Tolerance{};
    }
  }
  if (json_.contains("tolerance") && json_["tolerance"].contains("per_array") && json_["tolerance"]["per_array"].contains(name) && json_["tolerance"]["per_array"][name].is_object())
    return of(json_["tolerance"]["per_array"][name]);
  return Tolerance{};
}

bool ReferenceCase::up_to_sign_by_row(const std::string& path) const {
  const std::string name = bare_name(path);
  if (!json_.contains("expected") || !json_["expected"].is_object() || !json_["expected"].contains(name) || !json_["expected"][name].is_object()) return false;
  const json& e = json_["expected"][name];
  return e.contains("up_to_sign") && e["up_to_sign"].is_string() && e["up_to_sign"].get<std::string>().find("row") != std::string::npos;
}

Comparison compare(const Array& got, const Array& expected, Tolerance tolerance) {
  const auto long_axes = [](std::vector<std::int64_t> shape) {
    std::erase(shape, 1);
    return shape;
  };
  if (got.shape() != expected.shape() && (got.count() != expected.count() || long_axes(got.shape()) != long_axes(expected.shape())))
    return {false, INFINITY, "shape " + shape_text(got.shape()) + ", expected " + shape_text(expected.shape())};
  Comparison c{true, 0, ""};
  for (std::int64_t k = 0; k < expected.count(); ++k) {
    const double g = got.number(k), e = expected.number(k);
    if (g == e || (std::isnan(g) && std::isnan(e))) continue;
    const double error = std::abs(g - e), bound = tolerance.absolute + tolerance.relative * (std::isfinite(e) ? std::abs(e) : 0);
    const double ratio = std::isnan(error) || bound == 0 ? INFINITY : error / bound;
    if (ratio > 1) c.passed = false;
    if (ratio <= c.worst && !c.where.empty()) continue;
    c.worst = std::max(c.worst, ratio);
    std::string place = ")";
    std::int64_t rest = k;
    for (std::size_t axis = expected.shape().size(); axis-- > 0;) {
      place = (axis ? ", " : "(") + std::to_string(rest % expected.shape()[axis]) + place;
      rest /= expected.shape()[axis];
    }
    std::ostringstream text;
    text.precision(9);
    text << "at " << (expected.shape().empty() ? "()" : place) << ": " << g << ", expected " << e;
    c.where = text.str();
  }
  return c;
}

Array with_sign(const Array& got, const Array& expected, bool by_row) {
  if (got.count() != expected.count() || expected.shape().empty()) return got;
  Array out = got.cast(Dtype::float64);
  const std::int64_t width = expected.shape().size() > 1 ? expected.shape().back() : 1, height = expected.count() / std::max<std::int64_t>(width, 1);
  const std::int64_t groups = by_row ? height : width;
  for (std::int64_t k = 0; k < groups; ++k) {
    double product = 0;
    const auto each = [&](const auto& f) {
      for (std::int64_t n = 0; n < (by_row ? width : height); ++n) f(by_row ? k * width + n : n * width + k);
    };
    each([&](std::int64_t at) { product += got.number(at) * expected.number(at); });
    if (product < 0) each([&](std::int64_t at) { out.as<double>()[at] = -out.as<double>()[at]; });
  }
  return out;
}

}  // namespace locus::host
