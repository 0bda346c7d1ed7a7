// Random specs with data: sentences over kernels composed from the language's functions, masks, neighbourhoods, batches, tuples and loops. One seed, one spec.
// Knows nothing of how specs are run. Data lie on a grid wherever a spec decides something by comparing them, so that no rounding can decide otherwise.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include "core/base/array.hpp"

namespace locus::test {

struct RandomSpec {
  std::uint64_t seed = 0;
  std::string text;                       ///< declares the hierarchy `main`
  std::map<std::string, Array> inputs;    ///< float64, int64 or boolean; real numbers are representable in float32
  std::map<std::string, Array> settings;  ///< numbers
  Dtype real = Dtype::float64;            ///< the precision to run in
};

struct Limits {
  std::int64_t pairs = 20000;  ///< queries times samples
  bool empty = true;           ///< axes of no point may occur
};

RandomSpec random_spec(std::uint64_t seed, const Limits& limits = {});

}  // namespace locus::test
