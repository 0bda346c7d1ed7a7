// Any bytes read as .npy: an array or one message, never more; an array that was read writes and reads back the same.
#include <cstdlib>
#include <cstring>
#include "core/data/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  locus::Diagnostics diagnostics;
  const auto array = locus::read_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy", diagnostics);
  if (array.has_value() == diagnostics.failed() || diagnostics.errors() > 1) std::abort();
  if (!array) return 0;
  const auto again = locus::read_npy(locus::npy_bytes(*array), "again.npy", diagnostics);
  if (!again || again->shape() != array->shape() || again->dtype() != array->dtype()) std::abort();
  if (array->bytes() > 0 && std::memcmp(array->data(), again->data(), array->bytes()) != 0) std::abort();
  return 0;
}
