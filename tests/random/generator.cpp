// The grammar of the random specs. Weights stay positive where something is divided by their sum; arguments of functions stay moderate: what differs between
// two engines then is rounding, not the condition of the problem.
#include "tests/random/generator.hpp"
#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

namespace locus::test {
namespace {

enum class Points { vectors, numbers, tuples };

class Generator {
 public:
  Generator(std::uint64_t seed, const Limits& limits) : random_(seed * 0x9e3779b97f4a7c15u + 1), limits_(limits) { spec_.seed = seed; }

  RandomSpec run() {
    spec_.real = chance(2) ? Dtype::float32 : Dtype::float64;
    choose_shapes();
    choose_data();
    const int sentences = 1 + below(2);
    for (int k = 0; k < sentences; ++k) sentence(k + 1 == sentences);
    finish();
    return std::move(spec_);
  }

 private:
  // -- chance
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  std::string pick(std::initializer_list<const char*> of) { return std::data(of)[below(static_cast<int>(of.size()))]; }
  static std::string replaced(std::string text, const std::string& word, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) text.replace(at, word.size(), by);
    return text;
  }

  // -- shapes
  std::int64_t size() {
    static const std::int64_t all[] = {1, 2, 3, 5, 7, 8, 13, 15, 16, 17, 23, 31, 32, 33, 47, 63, 64, 65, 95, 96, 97, 127, 128, 129, 191, 193, 255, 256, 257};
    return all[below(static_cast<int>(std::size(all)))];
  }
  void choose_shapes() {
    static const std::int64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64};
    points_ = chance(5) ? Points::numbers : chance(6) ? Points::tuples : Points::vectors;
    self_ = chance(4);
    batch_ = chance(4) ? 1 + below(3) : 0;
    door_ = batch_ != 0 && (points_ != Points::vectors || chance(3));
    d_ = widths[below(limits_.pairs < 5000 ? 8 : 14)];
    p_ = chance(3) ? 0 : 1 + below(chance(4) ? 17 : 4);
    do n_ = size(), m_ = self_ ? n_ : size();
    while (n_ * m_ * std::max<std::int64_t>(batch_, 1) > limits_.pairs);
    if (limits_.empty && chance(40)) (chance(2) && !self_ ? m_ : n_) = 0;
    if (self_) m_ = n_;
    own_samples_ = !self_ && batch_ == 0 && points_ == Points::vectors && n_ * m_ * d_ <= 8 * limits_.pairs && chance(15);
    scale_ = 1;
    while (scale_ * scale_ < 2 * static_cast<double>(points_ == Points::vectors ? d_ : 1)) scale_ *= 2;
  }

  // -- data
  void choose_data() {
    discrete_ = !chance(3);
    const std::string b = batch_ ? "heads, " : "";
    const bool flat = points_ == Points::numbers;
    input("q", b + (flat ? "n" : "n, d"));
    if (!self_) input("x", (own_samples_ ? "n, " : b) + (flat ? "m" : "m, d"));
    if (points_ == Points::tuples) {
      input("u", b + "n");
      if (!self_) input("t", b + "m");
    }
    input("y", b + samples() + (p_ ? ", p" : ""));
    queries_ = points_ == Points::tuples ? "(q, u)" : "q";
    samples_ = self_ ? queries_ : points_ == Points::tuples ? "(x, t)" : "x";
    left_ = "q[i]", right_ = self_ ? "q[j]" : "x[j]";
  }
  std::string samples() const { return self_ ? "n" : "m"; }

  std::int64_t extent(const std::string& axis) const { return axis == "n" ? n_ : axis == "m" ? m_ : axis == "d" ? d_ : axis == "p" ? p_ : batch_; }
  std::vector<std::int64_t> extents(const std::string& axes) const {
    std::vector<std::int64_t> all;
    for (std::size_t at = 0; at < axes.size();) {
      const std::size_t end = std::min(axes.find(", ", at), axes.size());
      all.push_back(extent(axes.substr(at, end - at)));
      at = end + 2;
    }
    return all;
  }

  // On the grid: multiples of 1/8, whose squared distances are exact in float32. Else any float32 number.
  double number() {
    const double span = d_ > 8 && points_ != Points::numbers ? 1 : 2;
    if (discrete_) return static_cast<double>(below(static_cast<int>(16 * span) + 1)) / 8 - span;
    return static_cast<double>(static_cast<float>((static_cast<double>(random_() % 1000003) / 500001.5 - 1) * span));
  }
  void input(const std::string& name, const std::string& axes, const std::string& kind = "") {
    const Dtype dtype = kind == "int" ? Dtype::int64 : kind == "bool" ? Dtype::boolean : Dtype::float64;
    Array data(dtype, extents(axes));
    for (std::int64_t k = 0; k < data.count(); ++k) {
      if (dtype == Dtype::int64) data.as<std::int64_t>()[k] = below(4);
      if (dtype == Dtype::boolean) data.as<std::uint8_t>()[k] = below(4) != 0;
      if (dtype == Dtype::float64) data.as<double>()[k] = number();
    }
    spec_.inputs.emplace(name, std::move(data));
    const std::string shown = door_ && axes.starts_with("heads, ") ? axes.substr(7) : axes;
    declared_ += (declared_.empty() ? "" : ", ") + name + ": " + (kind.empty() ? "" : kind + " ") + "[" + shown + "]";
  }
  // The input of this name, declared when it is first asked for.
  std::string asked(const std::string& name, const std::string& axes, const std::string& kind = "") {
    if (!spec_.inputs.contains(name)) input(name, axes, kind);
    return name;
  }
  std::string setting(double value) {
    const std::string name = std::string("s") + std::to_string(spec_.settings.size());
    Array one(Dtype::float64, {});
    *one.as<double>() = value;
    spec_.settings.emplace(name, std::move(one));
    settings_ += (settings_.empty() ? "" : ", ") + name + " = 1.0";
    return name;
  }
  static std::string text_of(double v) {
    std::string s = std::to_string(v);
    while (s.back() == '0' && s[s.size() - 2] != '.') s.pop_back();
    return s;
  }
  std::string width() { return chance(3) ? setting(scale_) : text_of(chance(4) ? 2 * scale_ : scale_); }

  // -- kernels, over points A and B: words that are replaced by what stands for the two points
  // One moderate number of a pair.
  std::string measure() {
    const bool vectors = points_ != Points::numbers;
    const std::string h = text_of(scale_), hh = text_of(scale_ * scale_);
    switch (below(vectors ? 8 : 7)) {
      case 0:
      case 1:
        return "sqdist(A / " + h + ", B / " + h + ")";
      case 2:
        return "dot(A, B) / " + hh;
      case 3:
        return "l1dist(A, B) / " + hh;
      case 4:
        return "dist(A, B) / " + h;
      case 5:
        return "maxdist(A, B)";
      case 6:
        return "sqdist(A, B) / " + hh;
      default:
        return "sum(abs(A - B)^3) / " + hh;
    }
  }
  // One number of a pair in (0, 10], smooth unless data are discrete.
  std::string positive(int depth) {
    const std::string z = "(" + measure() + ")";
    if (depth > 0 && chance(4)) return "(" + positive(depth - 1) + " " + pick({"*", "+"}) + " " + positive(depth - 1) + ")";
    if (depth > 0 && chance(8)) return positive(depth - 1) + " / (1 + " + positive(depth - 1) + ")";
    if (discrete_ && chance(4))
      return replaced(pick({"(floor(abs(Z)) + 1)", "(sign(Z) + 2)", "(round(2 * abs(Z)) + 1)", "(if Z < 0.77 then 0.9 else 0.4)", "max(1.03 - abs(Z), 0)",
                            "max(1.03 - abs(Z), 0)^3", "[abs(Z) <= 1.13]"}),
                      "Z", z);
    return replaced(pick({"exp(-abs(Z))",
                          "exp(-Z^2 / 2)",
                          "exp(Z / 2)",
                          "sigmoid(Z)",
                          "softplus(Z)",
                          "(1 + Z^2)^(-1)",
                          "1 / (1 + abs(Z))",
                          "(1.1 + sin(Z))",
                          "(1.1 + cos(2 * Z))",
                          "(1.1 + tanh(Z))",
                          "(1.1 + erf(Z))",
                          "(relu(Z) + 0.1)",
                          "(elu(Z) + 1.1)",
                          "(gelu(Z) + 0.3)",
                          "(silu(Z) + 0.4)",
                          "(abs(Z) + 0.1)",
                          "sqrt(abs(Z) + 0.1)",
                          "log(2 + abs(Z))",
                          "log2(2 + abs(Z))",
                          "(lgamma(2.5 + abs(Z)) + 1)",
                          "max(Z, 0.2)",
                          "(min(abs(Z), 1.5) + 0.1)",
                          "(1 + abs(Z))^(-1.5)",
                          "(if i == j then 0.5 else 1) * exp(-abs(Z))",
                          "exp(-sqrt(abs(Z) + 0.01))",
                          "exp(-abs(Z)) / exp(0.2 * Z)",
                          "exp(-abs(Z))^1.5"}),
                    "Z", z);
  }

  std::string declare_kernel(const std::string& body) {
    const std::string name = "kernel" + std::to_string(++kernels_);
    if (points_ == Points::tuples)
      declarations_ += "kernel " + name + "((a, c), (b, e)) = " + replaced(replaced(body, "A", "a"), "B", "b") + " * exp(-(c - e)^2 / 2)\n";
    else
      declarations_ += "kernel " + name + "(a, b) = " + replaced(replaced(body, "A", "a"), "B", "b") + "\n";
    return name + "()";
  }

  // What stands behind `by`. A kernel declared beside, or an expression of the pair; other factors may follow.
  std::string weight(bool signed_too) {
    std::string body = positive(2);
    while (points_ == Points::tuples && body.find("i == j") != std::string::npos) body = positive(2);
    const bool indexed = body.find("i == j") != std::string::npos;
    std::string w;
    if (chance(5) && !indexed && points_ == Points::vectors && !own_samples_) {
      declarations_ += gaussian_declared_ ? "" : "kernel gaussian(a, b; h) = exp(-sqdist(a / h, b / h) / 2)\n";
      gaussian_declared_ = true;
      w = "gaussian(" + (chance(3) && batch_ == 0 ? "abs(" + asked("width_of", "n") + "[i]) + " : std::string()) + width() + ")";
    } else if (!indexed && (points_ == Points::tuples || own_samples_ || chance(2))) {
      w = declare_kernel(body);
    } else {
      w = replaced(replaced(body, "A", left_), "B", right_);
    }
    if (batch_ == 0 && chance(6)) w += " * exp(" + asked("bias", "n, " + samples()) + (self_ ? "[i, j]" : "") + ")";
    if (batch_ == 0 && chance(6)) w += " * (abs(" + asked("trust", samples()) + "[j]) + 0.2)";
    if (chance(8)) w += " * exp(-abs(i - j) / 8)";
    if (chance(12)) w += " * [i != j]";
    if (signed_too && chance(3)) w = "-0.7 * " + w;
    return w;
  }

  // -- masks
  std::string mask(int depth) {
    if (depth > 0 && chance(3)) return "(" + mask(depth - 1) + " " + pick({"and", "or"}) + " " + mask(depth - 1) + ")";
    if (depth > 0 && chance(8)) return "not (" + mask(depth - 1) + ")";
    switch (below(batch_ == 0 ? 9 : 6)) {
      case 0:
        return "i != j";
      case 1:
        return "j <= i";
      case 2:
        return "abs(i - j) <= " + std::to_string(1 + below(40));
      case 3:
        return "0 <= i - j < " + std::to_string(1 + below(70));
      case 4:
        return "i // 3 == j // 3";
      case 5:
        return "(i + j) % 2 == 0";
      case 6:
        return asked("seg", samples(), "int") + "[j] != " + std::to_string(below(4));
      case 7:
        return asked("seen", samples(), "bool") + "[j]";
      default:
        return self_ ? asked("seg", samples(), "int") + "[i] == seg[j]" : asked("part", "n", "int") + "[i] != " + asked("seg", samples(), "int") + "[j]";
    }
  }

  // -- sentences
  struct Result {
    std::string kind, axes;
  };
  std::string with_batch(const std::string& axes) const { return (batch_ && !door_ ? "heads, " : "") + axes; }

  // The estimate and the shape of its result.
  std::string estimate(Result& result, bool& positive_only, bool nearest) {
    const std::string features = p_ ? ", p" : "";
    const int kind = below(nearest ? 10 : 14);
    const bool valued = kind <= 4 || (kind >= 8 && kind != 10 && kind != 11);
    const std::string value = valued ? value_expr() : "";
    result = {"", with_batch("n") + features};
    positive_only = true;
    switch (kind) {
      case 0:
      case 1:
      case 2:
        return "mean(" + value + ")";
      case 3:
        return positive_only = false, "sum(" + value + ")";
      case 4:
        return pick({"max(", "min("}) + value + ")";
      case 5:
        return result.axes = with_batch("n"), pick({"mass()", "entropy()"});
      case 6:
        return result.axes = with_batch("n"), "logmass()";
      case 7:
        return result = {"int", with_batch("n")}, "count()";
      case 8:
        return quantile_ = true, pick({"median(", "quantile("}) + value;
      case 9:
        return result.axes += features, "cov(" + value + ")";
      case 10:
        return positive_only = false, result.axes = with_batch("n, " + samples()), "gram()";
      case 11:
        return result.axes = with_batch("n, " + samples()), "weights()";
      default:
        return positive_only = false, "sum(" + value + ")";
    }
  }

  std::string value_expr() {
    const std::string y = current_;
    if (batch_ == 0 && p_ == 0 && points_ == Points::vectors && !own_samples_ && chance(5)) return replaced(replaced(measure(), "A", left_), "B", right_);
    if (batch_ == 0 && !self_ && chance(6)) return y + "[j] * (1 + tanh(" + asked("gain", "n") + "[i]))";
    switch (below(8)) {
      case 0:
        return "2 * " + y + " + 1";
      case 1:
        return "tanh(" + y + ")";
      case 2:
        return y + "^2";
      default:
        return y;
    }
  }

  void sentence(bool last) {
    quantile_ = false;
    Result result;
    bool positive_only = true;
    const bool choosing = discrete_ && points_ != Points::tuples && chance(4) && m_ > 1;
    std::string what = estimate(result, positive_only, choosing);
    std::string clauses;
    if (choosing) {
      clauses += chance(3) ? " within " + text_of(scale_ * 0.83) : " nearest " + std::to_string(1 + below(static_cast<int>(std::min<std::int64_t>(m_ + 1, 9))));
      if (chance(3)) clauses += " under " + pick({"l1dist", "maxdist"});
    }
    // Equal shares that meet a quantile exactly are equal only in exact arithmetic: quantiles are weighted where nothing ties, or not at all.
    if (quantile_) what += what[0] == 'q' ? (discrete_ ? "; 0.5)" : "; 0.37)") : ")";
    if (!(quantile_ && discrete_) && !chance(6)) clauses += " by " + weight(!positive_only);
    if (chance(2)) clauses += " where " + mask(1);
    if (clauses.find("where") != std::string::npos && chance(3) && result.kind.empty() && what != "logmass()" && what != "gram()" && what != "weights()")
      clauses += " otherwise " + pick({"0", "-1.5"});
    const std::string name = "r" + std::to_string(++lets_);
    const bool loop = !choosing && what == "mean(y)" && last && !discrete_ && points_ == Points::vectors && !own_samples_ && chance(2);
    if (loop) return iterate(name);
    body_ += "  let " + name + " = " + what + " at " + queries_ + " among " + samples_ + clauses + "\n";
    // Results of the samples' axis may be the values of the next sentence; what may be NaN is not.
    if (!last && self_ && result.kind.empty() && result.axes == with_batch("n") + (p_ ? ", p" : "") && clauses.find("where") == std::string::npos && !choosing)
      current_ = "tanh(" + name + ")";
    results_.push_back({name, result});
  }

  void iterate(const std::string& name) {
    const std::string kernel =
        declare_kernel(replaced(pick({"exp(-Z)", "1 / (1 + Z)"}), "Z", "sqdist(A / " + text_of(scale_) + ", B / " + text_of(scale_) + ")"));
    const bool path = batch_ == 0 && chance(3);
    const int limit = 1 + below(4);
    body_ += "  iterate z from q {\n    z <- mean(" + std::string(self_ ? "q" : "x") + ") at z among " + samples_ + " by " + kernel + "\n  }" +
             (chance(3) ? " until change(z) < 0.001" : "") + " limit " + std::to_string(limit) + "\n";
    body_ += "  let " + name + " = " + (path ? "path(z)" : "z * 2") + "\n";
    results_.push_back({name, {"", path ? std::to_string(limit + 1) + ", n, d" : with_batch("n, d")}});
  }

  void finish() {
    std::string type, value;
    for (const auto& [name, result] : results_) {
      const std::string declared = (result.kind.empty() ? "" : result.kind + " ") + "[" + result.axes + "]";
      type += (type.empty() ? "" : ", ") + name + "_out: " + declared, value += (value.empty() ? "" : ", ") + name + "_out: " + name;
    }
    spec_.text = declarations_ + "hierarchy main(" + declared_ + (settings_.empty() ? "" : "; " + settings_) + ") -> (" + type + ") {\n" + body_ +
                 "  return (" + value + ")\n}\n";
  }

  std::mt19937_64 random_;
  const Limits limits_;
  RandomSpec spec_;
  Points points_ = Points::vectors;
  bool door_ = false;  ///< the batch stands in front of what is declared
  bool self_ = false, own_samples_ = false, discrete_ = false, quantile_ = false, gaussian_declared_ = false;
  std::int64_t n_ = 1, m_ = 1, d_ = 1, p_ = 1, batch_ = 0;
  double scale_ = 1;  ///< a power of two near the distance of two points
  int kernels_ = 0, lets_ = 0;
  std::string declarations_, declared_, settings_, body_, queries_, samples_, left_, right_, current_ = "y";
  std::vector<std::pair<std::string, Result>> results_;
};

}  // namespace

RandomSpec random_spec(std::uint64_t seed, const Limits& limits) { return Generator(seed, limits).run(); }

}  // namespace locus::test
