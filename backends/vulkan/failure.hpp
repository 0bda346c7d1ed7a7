// What went wrong in the backend, in words, with the status for the C table. It is thrown inside the plugin and never leaves it.
#pragma once
#include <stdexcept>
#include <string>
#include "plugins/abi/locus_plugin.h"

namespace locus::vulkan {

struct Failure : std::runtime_error {
  int status;
  std::uint32_t node;  ///< whose fault it is, or LOCUS_NONE
  Failure(int s, const std::string& what, std::uint32_t n = LOCUS_NONE) : std::runtime_error(what), status(s), node(n) {}
};

}  // namespace locus::vulkan
