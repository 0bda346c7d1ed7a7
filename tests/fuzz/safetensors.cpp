// Any bytes opened as .safetensors and as .npz, and every array read: arrays or messages, never both, never a read outside the bytes.
#include <cstdlib>
#include "core/data/weights.hpp"

namespace {

void look(const std::optional<locus::Weights>& weights, locus::Diagnostics& diagnostics) {
  if (weights.has_value() == diagnostics.failed()) std::abort();
  if (!weights) return;
  for (const auto& [name, stored] : *weights) {
    const std::size_t before = diagnostics.errors();
    const auto array = stored.read(diagnostics);
    if (array.has_value() == (diagnostics.errors() > before)) std::abort();
    if (array && (array->shape() != stored.shape || array->dtype() != stored.held)) std::abort();
    if (array) locus::check_weight(*array, name, "fuzz", diagnostics);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  locus::Diagnostics tensors, archive;
  look(locus::open_safetensors(locus::held(bytes), "fuzz.safetensors", tensors), tensors);
  look(locus::open_npz(locus::held(bytes), "fuzz.npz", archive), archive);
  return 0;
}
