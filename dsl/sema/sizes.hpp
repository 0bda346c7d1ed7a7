// Names of axes. An axis is its name: a declared name ("n") or the normal form of a size expression ("2*r+c"); equal normal forms are one axis.
// Knows nothing of values and graphs.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace locus::sema {

/// Normal forms of size expressions: polynomials with rational coefficients over atoms (declared names). Remembers the polynomial behind each name it made.
class Sizes {
 public:
  Sizes();
  std::string number(std::int64_t k);
  std::string add(const std::string& a, const std::string& b, int sign = 1);
  std::string multiply(const std::string& a, const std::string& b);
  /// a / b; a quotient by a sum becomes an atom of its own.
  std::string divide(const std::string& a, const std::string& b);
  /// The name of `axis` when each of its atoms is replaced by meaning(atom), itself an axis name.
  std::string substitute(const std::string& axis, const std::function<std::string(const std::string&)>& meaning);

 private:
  struct Ratio {
    std::int64_t top = 0, bottom = 1;
  };
  using Monomial = std::vector<std::pair<std::string, int>>;  // atoms with their powers, sorted
  using Polynomial = std::map<Monomial, Ratio>;
  static Ratio reduced(std::int64_t top, std::int64_t bottom);
  static Monomial product(const Monomial& a, const Monomial& b, int sign);
  Polynomial polynomial(const std::string& axis) const;
  std::string named(Polynomial p);
  std::map<std::string, Polynomial> known_;
};

}  // namespace locus::sema
