// Any text read as a map of weights and applied to a file: parameters or messages, never both, and arrays of the shapes that were promised.
#include <cstdlib>
#include <sstream>
#include "core/data/weights_map.hpp"

namespace {

locus::Weights file() {
  locus::Weights all;
  const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
    const locus::Array array(locus::Dtype::float32, shape);
    all[name] = {"F32", array.dtype(), shape, array.bytes(), [array](locus::Diagnostics&) { return std::optional(array); }};
  };
  for (const char* name : {"h.0.w", "h.1.w", "t.h.2.w"}) add(name, {4, 6});
  add("b", {3}), add("t.c", {2, 0, 3}), add("odd name", {}), add("h.0.mask", {1, 1, 2, 2});
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const locus::Weights weights = file();
  locus::Sources sources;
  locus::Diagnostics diagnostics;
  const auto map = locus::read_weights_map(sources.add("fuzz.map", std::string(reinterpret_cast<const char*>(data), size)), sources, diagnostics);
  if (map.has_value() == diagnostics.failed()) std::abort();
  if (map) {
    const auto mapped = locus::apply(*map, weights, "fuzz.safetensors", diagnostics);
    if (mapped.has_value() == diagnostics.failed()) std::abort();
    if (mapped)
      for (const auto& [path, m] : mapped->arrays) {
        const auto array = m.array.read(diagnostics);
        if (!array || array->shape() != m.array.shape || array->bytes() != m.array.bytes) std::abort();
      }
  }
  std::ostringstream out;
  write(out, diagnostics, sources);
  return 0;
}
