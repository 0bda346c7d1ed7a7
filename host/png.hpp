// A matrix as a picture: a colour for each entry. Must not know where the numbers come from.
#pragma once
#include <string>
#include "core/base/array.hpp"

namespace locus::host {

/// The bytes of a PNG: 0 white, `high` and above dark blue, NaN magenta. Small matrices get squares of several dots for each entry.
std::string png_of(const Array& matrix, double high);

}  // namespace locus::host
