// Scalar functions that GLSL lacks or computes too loosely, as GLSL text by name. What they compute is plugins/abi/scalar.hpp.
// Knows nothing of programs.
#pragma once
#include <string>

namespace locus::vulkan {

/// The definitions of all functions that `text` calls, directly or through others, each before its users. Names end in _f (float), _d (double), _i (int64).
std::string functions_for(const std::string& text);

/// A number in GLSL, to the bit: compilers of GLSL may miss a long decimal by a unit in the last place.
std::string float_text(float v);
std::string double_text(double v);

}  // namespace locus::vulkan
