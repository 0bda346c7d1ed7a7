// Normal forms of size expressions; see sizes.hpp.
#include "dsl/sema/sizes.hpp"
#include <algorithm>
#include <numeric>

namespace locus::sema {

Sizes::Sizes() {
  known_["0"] = {};
  known_["1"] = {{{}, {1, 1}}};
}

Sizes::Ratio Sizes::reduced(std::int64_t top, std::int64_t bottom) {
  if (bottom < 0) top = -top, bottom = -bottom;
  const std::int64_t g = std::gcd(top, bottom);
  return g > 1 ? Ratio{top / g, bottom / g} : Ratio{top, bottom};
}

Sizes::Monomial Sizes::product(const Monomial& a, const Monomial& b, int sign) {
  std::map<std::string, int> powers;
  for (const auto& [atom, power] : a) powers[atom] += power;
  for (const auto& [atom, power] : b) powers[atom] += sign * power;
  Monomial result;
  for (const auto& [atom, power] : powers)
    if (power != 0) result.emplace_back(atom, power);
  return result;
}

Sizes::Polynomial Sizes::polynomial(const std::string& axis) const {
  const auto found = known_.find(axis);
  return found != known_.end() ? found->second : Polynomial{{{{axis, 1}}, {1, 1}}};
}

std::string Sizes::named(Polynomial p) {
  std::erase_if(p, [](const auto& term) { return term.second.top == 0; });
  std::vector<std::pair<Monomial, Ratio>> terms(p.begin(), p.end());
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::string text;
  for (const auto& [monomial, ratio] : terms) {
    std::string term;
    const auto join = [&](const std::string& part) { term += (term.empty() ? "" : "*") + part; };
    if (ratio.top != ratio.bottom || monomial.empty())
      join(std::to_string(ratio.top) + (ratio.bottom == 1 ? "" : "/" + std::to_string(ratio.bottom)));
    for (const auto& [atom, power] : monomial) join(power == 1 ? atom : atom + "^" + std::to_string(power));
    text += (text.empty() || term.front() == '-' ? "" : "+") + term;
  }
  if (text.empty()) text = "0";
  known_[text] = std::move(p);
  return text;
}

std::string Sizes::number(std::int64_t k) { return named({{{}, {k, 1}}}); }

std::string Sizes::add(const std::string& a, const std::string& b, int sign) {
  Polynomial total = polynomial(a);
  for (const auto& [monomial, ratio] : polynomial(b)) {
    Ratio& r = total[monomial];
    r = reduced(r.top * ratio.bottom + sign * ratio.top * r.bottom, r.bottom * ratio.bottom);
  }
  return named(std::move(total));
}

std::string Sizes::multiply(const std::string& a, const std::string& b) {
  Polynomial total;
  for (const auto& [m, r] : polynomial(a))
    for (const auto& [o, s] : polynomial(b)) {
      Ratio& t = total[product(m, o, 1)];
      const Ratio p = reduced(r.top * s.top, r.bottom * s.bottom);
      t = reduced(t.top * p.bottom + p.top * t.bottom, t.bottom * p.bottom);
    }
  return named(std::move(total));
}

std::string Sizes::divide(const std::string& a, const std::string& b) {
  Polynomial p = polynomial(b);
  std::erase_if(p, [](const auto& term) { return term.second.top == 0; });
  if (p.size() != 1) return named({{{{"(" + a + ")/(" + b + ")", 1}}, {1, 1}}});
  const auto& [monomial, ratio] = *p.begin();
  Polynomial total;
  for (const auto& [m, r] : polynomial(a)) total[product(m, monomial, -1)] = reduced(r.top * ratio.bottom, r.bottom * ratio.top);
  return named(std::move(total));
}

std::string Sizes::substitute(const std::string& axis, const std::function<std::string(const std::string&)>& meaning) {
  std::string total = "0";
  for (const auto& [monomial, ratio] : polynomial(axis)) {
    std::string term = named({{{}, ratio}});
    for (const auto& [atom, power] : monomial)
      for (int k = 0; k < std::abs(power); ++k) term = power > 0 ? multiply(term, meaning(atom)) : divide(term, meaning(atom));
    total = add(total, term);
  }
  return total;
}

}  // namespace locus::sema
