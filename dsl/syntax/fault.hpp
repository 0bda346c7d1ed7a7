// Characters that begin no token: how far they reach, and what the writer most likely meant.
// Knows nothing of the grammar.
#pragma once
#include <cstddef>
#include <string_view>
#include "core/base/diagnostic.hpp"

namespace locus::syntax {

/// Bytes of the fault at the front of `rest`, at least 1. `rest` is not empty.
std::size_t fault_length(std::string_view rest);
/// The message for it, without a note.
Diagnostic explain_fault(std::string_view fault, Span span);

}  // namespace locus::syntax
