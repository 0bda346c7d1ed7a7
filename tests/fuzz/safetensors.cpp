// Any bytes read as .safetensors and as .npz: arrays or messages, never both, never a read outside the bytes.
#include <cstdlib>
#include "core/data/weights.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  locus::Diagnostics tensors, archive;
  if (locus::read_safetensors(bytes, "fuzz.safetensors", tensors).has_value() == tensors.failed()) std::abort();
  if (locus::read_npz(bytes, "fuzz.npz", archive).has_value() == archive.failed()) std::abort();
  return 0;
}
