// `locus selftest`: on this machine, every scalar op and every call of the gallery on one backend against the reference backend.
// Must not know how a backend computes; what may differ is published in docs/numerics.md.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include "host/gallery.hpp"
#include "host/session.hpp"

namespace locus::host {
namespace {

using nlohmann::json;

/// What a scalar op may differ by: in units of the last place of max(|value|, floor).
struct Allowed {
  double units, floor;
};

Allowed allowed_for(const std::string& op, Dtype real) {
  static const std::set<std::string> exact{"neg", "abs", "sign", "floor", "round", "real", "not", "add", "sub", "mul", "idiv", "mod", "maximum", "minimum", "lt", "le", "eq", "ne", "and", "or", "select", "relu", "sqrt"};
  static const std::set<std::string> relative{"exp", "sigmoid", "tanh"};
  if (exact.count(op)) return {0, 0};
  if (op == "div") return {2.5, 0};
  if (op == "erf" || op == "gelu" || op == "lgamma") return {64, 1};
  if (op == "pow") return {real == Dtype::float32 ? 8.0 : 512.0, 0};
  return {8, relative.count(op) ? 0.0 : 1.0};
}

double epsilon(Dtype real) { return real == Dtype::float32 ? 0x1p-23 : 0x1p-52; }

/// Arguments: the sampling range of the op, and numbers at which implementations part.
Array arguments(graph::Op op, int which, Dtype real, graph::Type type) {
  const graph::OpInfo& row = graph::info(op);
  std::mt19937_64 random(static_cast<std::uint64_t>(op) * 31 + static_cast<std::uint64_t>(which));
  std::uniform_real_distribution<double> range(row.low, row.high);
  std::vector<double> values;
  const std::string rule = row.rule;
  for (int k = 0; k < 4000; ++k) values.push_back(range(random));
  if (type == graph::Type::real)
    for (double v : {0.0, -0.0, 1.0, -1.0, 0.5, HUGE_VAL, -HUGE_VAL, std::nan(""), op == LOCUS_sin || op == LOCUS_cos ? 1e6 : 1e30, op == LOCUS_sin || op == LOCUS_cos ? -1e6 : -1e30, 88.0, -87.0, 700.0 * (real == Dtype::float64)}) values.push_back(v);
  Array a(type == graph::Type::boolean ? Dtype::boolean : type == graph::Type::integer ? Dtype::int64 : Dtype::float64, {static_cast<std::int64_t>(values.size())});
  for (std::size_t k = 0; k < values.size(); ++k) {
    double v = values[(k * (which == 1 ? 7 : 1)) % values.size()];
    if (type == graph::Type::boolean) a.as<std::uint8_t>()[k] = std::lround(v) & 1;
    else if (type == graph::Type::integer) a.as<std::int64_t>()[k] = std::lround(v) == 0 && which == 1 && rule == "integer" ? 3 : std::lround(v);
    else a.as<double>()[k] = v;
  }
  return a;
}

/// y[n] = op(x0[n], ...): the argument of a condition is a condition, of // and % an int.
graph::Graph graph_of(graph::Op op, std::int64_t n, std::vector<graph::Type>& types) {
  const graph::OpInfo& row = graph::info(op);
  const std::string rule = row.rule;
  graph::Graph g;
  const graph::CoordId c = g.add_coordinate("n", n);
  graph::ExprId args[3] = {graph::none, graph::none, graph::none};
  for (int k = 0; k < row.arity; ++k) {
    types.push_back(rule == "logic" || (rule == "select" && k == 0) ? graph::Type::boolean : rule == "integer" || rule == "to_real" ? graph::Type::integer : graph::Type::real);
    const graph::TensorId t = g.add_tensor({"x" + std::to_string(k), types.back(), {n}, {"n"}});
    graph::Input input;
    input.out = t, input.name = "x" + std::to_string(k);
    g.nodes.push_back({{}, input.name, input});
    args[k] = g.read(t, {c});
  }
  graph::ExprId e = g.exprs.apply(op, args[0], args[1], args[2]);
  if (g.exprs.at(e).type == graph::Type::exact) e = g.exprs.to(graph::Type::real, e);
  graph::Map m;
  m.out = g.add_tensor({"y", g.exprs.at(e).type, {n}, {"n"}}), m.space = {c}, m.value = e;
  g.outputs.push_back({"y", m.out});
  g.nodes.push_back({{}, "y", std::move(m)});
  return g;
}

struct Difference {
  double worst = 0;
  std::string where;
};

Difference compare(const Array& expected, const Array& got, Dtype real, double floor) {
  Difference d;
  for (std::int64_t k = 0; k < expected.count(); ++k) {
    const double e = expected.number(k), g = got.number(k);
    if (e == g || (std::isnan(e) && std::isnan(g))) continue;
    const double unit = epsilon(real) * std::max({std::abs(e), floor, real == Dtype::float32 ? 1e-37 : 1e-300});
    const double off = std::isfinite(e) && std::isfinite(g) ? std::abs(e - g) / unit : HUGE_VAL;
    if (off > d.worst) d = {off, std::to_string(g) + " for " + std::to_string(e)};
  }
  return d;
}

class SelfTest {
 public:
  SelfTest(Session& session, const LoadedBackend& backend, const LoadedBackend& reference, Dtype real) : session_(session), backend_(backend), reference_(reference), real_(real) {}

  json ops() {
    json all = json::array();
    for (int op = LOCUS_BEFORE_OPS + 1; op < LOCUS_OP_END; ++op) {
      const auto o = static_cast<graph::Op>(op);
      const std::string name = graph::info(o).name;
      const Allowed allowed = allowed_for(name, real_);
      std::vector<graph::Type> types;
      const std::int64_t n = arguments(o, 0, real_, graph::info(o).rule == std::string("logic") || graph::info(o).rule == std::string("integer") || graph::info(o).rule == std::string("to_real") || graph::info(o).rule == std::string("select") ? graph::Type::integer : graph::Type::real).count();
      const graph::Graph g = graph_of(o, n, types);
      std::map<std::string, Array> inputs;
      for (std::size_t k = 0; k < types.size(); ++k) inputs["x" + std::to_string(k)] = cut(arguments(o, static_cast<int>(k), real_, types[k]), n);
      const auto expected = run(g, inputs, reference_), got = run(g, inputs, backend_);
      Difference d;
      if (expected.empty() || got.empty()) d = {HUGE_VAL, "it could not be run"};
      else d = compare(expected.at("y"), got.at("y"), real_, allowed.floor);
      report("op " + name, d, allowed.units, "units of the last place", all);
    }
    return all;
  }

  json gallery(const json& calls) {
    json all = json::array();
    for (const json& call : calls) {
      Difference worst;
      const auto expected = gallery_results(call, session_, reference_, real_), got = gallery_results(call, session_, backend_, real_);
      if (!expected || !got) worst = {HUGE_VAL, "it could not be run"};
      for (std::size_t r = 0; expected && got && r < expected->size(); ++r) {
        const Array &e = (*expected)[r].array, &g = (*got)[r].array;
        double largest = 0;
        for (std::int64_t k = 0; k < e.count(); ++k)
          if (std::isfinite(e.number(k))) largest = std::max(largest, std::abs(e.number(k)));
        if (e.shape() != g.shape()) worst = {HUGE_VAL, "another shape"};
        else if (const Difference d = compare(e, g, real_, largest); d.worst > worst.worst) worst = d;
      }
      const std::string name = call.value("spec", "") + ' ' + call.value("hierarchy", "");
      report(name, worst, real_ == Dtype::float32 ? 2000 : 1e7, "units of the last place of the largest entry", all);
    }
    return all;
  }

  bool fine() const { return failed_ == 0; }
  int failed() const { return failed_; }
  int passed() const { return passed_; }

 private:
  static Array cut(const Array& a, std::int64_t n) {
    Array r(a.dtype(), {n});
    for (std::int64_t k = 0; k < n; ++k) std::memcpy(static_cast<char*>(r.data()) + k * static_cast<std::int64_t>(size_of(a.dtype())), static_cast<const char*>(a.data()) + (k % a.count()) * static_cast<std::int64_t>(size_of(a.dtype())), size_of(a.dtype()));
    return r;
  }

  std::map<std::string, Array> run(const graph::Graph& g, const std::map<std::string, Array>& inputs, const LoadedBackend& backend) {
    RunOptions options;
    options.backend = backend.backend, options.real = real_, options.fuse = false;
    Diagnostics found;
    return run_graph(g, inputs, options, found);
  }

  void report(const std::string& name, const Difference& d, double allowed, const char* unit, json& all) {
    const bool good = d.worst <= allowed;
    ++(good ? passed_ : failed_);
    all.push_back({{"name", name}, {"worst", std::isfinite(d.worst) ? json(d.worst) : json("infinite")}, {"allowed", allowed}, {"unit", unit}, {"passed", good}});
    if (good && (session_.common.quiet || !session_.common.verbose)) return;
    std::printf("%s %s: %.3g of %g %s%s\n", good ? "pass" : "FAIL", name.c_str(), d.worst, allowed, unit, d.where.empty() ? "" : (", " + d.where).c_str());
  }

  Session& session_;
  const LoadedBackend &backend_, &reference_;
  Dtype real_;
  int passed_ = 0, failed_ = 0;
};

json device_of(const LoadedBackend& b) {
  std::uint32_t count = 0;
  locus_device device{};
  if (b.backend->devices(1, &device, &count) != LOCUS_OK || count == 0) return json::object();
  return {{"device", device.name ? device.name : ""}, {"driver", device.driver ? device.driver : ""}};
}

int run_selftest(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  const auto calls = gallery_calls("", session.diagnostics);
  const LoadedBackend *backend = session.choose_backend(), *reference = session.registry().backend("reference");
  if (!backend || !calls) return session.finish();
  if (!reference) {
    session.diagnostics.add({Code::E702, {}, "the reference backend is not loaded, so there is nothing to compare with", "", {}, "`locus plugins -v` shows where backends are looked for", "selftest"});
    return session.finish();
  }
  json all{{"backend", backend->name}, {"against", reference->name}, {"version", LOCUS_VERSION}};
  all.update(device_of(*backend));
  std::printf("%s, %s %s, against %s\n", backend->name.c_str(), all.value("device", "").c_str(), all.value("driver", "").c_str(), reference->name.c_str());
  bool fine_all = true;
  for (const Dtype real : session.common.dtypes) {
    SelfTest test(session, *backend, *reference, real);
    all[name_of(real)]["ops"] = test.ops();
    all[name_of(real)]["gallery"] = test.gallery(*calls);
    std::printf("%s: %d passed, %d failed\n", name_of(real), test.passed(), test.failed());
    fine_all &= test.fine();
  }
  if (line.has("json")) {
    std::ofstream out(line.value("json"));
    out << all.dump(1) << '\n';
    out.close();
    if (!out) session.diagnostics.add({Code::E430, {}, "cannot write '" + line.value("json") + "'", "", {}, "name a file in a folder that can be written: `--json selftest.json`", "--json"});
  }
  const int code = session.finish();
  return code ? code : fine_all ? fine : differs;
}

}  // namespace

Command selftest_command() {
  return {"selftest", "[--backend NAME] [--json FILE] [--dtype float32|float64|both]", "compare a backend with the reference on this machine",
          "Every scalar operation, over its range and at infinities and NaN, and every call of the gallery. What may differ is published in docs/numerics.md.\n"
          "Exit code 1 if something differs by more.",
          0, 0, {{"json", "FILE", "write the figures for a script", "selftest.json"}, both_types()}, {"backend", "threads", "seed", "memory", "plugin", "quiet", "verbose"}, false, run_selftest, true};
}

}  // namespace locus::host
