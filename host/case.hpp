// A case of reference data: its folder, the sources that bindings name in it, its tolerances, and the comparison of arrays.
// Must not know how results are computed.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include "core/base/array.hpp"
#include "dsl/compile.hpp"

namespace locus::host {

struct Tolerance {
  double absolute = 0, relative = 0;
};

/// How far a result is from what was expected.
struct Comparison {
  bool passed = false;
  double worst = 0;   ///< the largest error as a share of what is tolerated
  std::string where;  ///< "at (3, 1): 0.5, expected 0.25", or the shapes where they differ
};

class ReferenceCase {
 public:
  /// Reads case.json; throws std::runtime_error with a sentence for people, as all members do.
  explicit ReferenceCase(const std::string& folder);

  /// A number, true or false, "parameters.a.b[0]", "inputs/x[1, 2:]", "expected/x".
  Array resolve(const nlohmann::json& source) const;
  /// Parameters by path; '*' on both sides stands for the number of a copy; "inputs/file.safetensors#name".
  Parameters parameters(const nlohmann::json& binding) const;
  /// The tolerance of an expected array; nothing where the case says that it is no target in float32 (`reason` gets its words).
  std::optional<Tolerance> tolerance(const std::string& path, Dtype real, std::string& reason) const;
  bool up_to_sign_by_row(const std::string& path) const;

 private:
  std::string folder_;
  nlohmann::json json_;
};

/// |g - e| <= absolute + relative |e| for every entry; infinities and NaN exactly. Axes of length 1 may be missing or added.
Comparison compare(const Array& got, const Array& expected, Tolerance tolerance);
/// `got` with the sign of each column (or row) that fits `expected` best.
Array with_sign(const Array& got, const Array& expected, bool by_row);

}  // namespace locus::host
