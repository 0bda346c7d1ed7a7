// Any bytes as a graph text: reading, verifying and printing must hold, and a sound graph must come back as it was printed.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include "core/graph/graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace locus::graph;
  std::string error;
  const Graph g = parse_text(std::string(reinterpret_cast<const char*>(data), size), &error);
  if (!error.empty() || !verify(g).empty()) return 0;
  const std::string once = print(g);
  const std::string twice = print(parse_text(once, &error));
  if (!error.empty() || once != twice) {
    std::cerr << error << "\n" << once << "\n--\n" << twice;
    std::abort();
  }
  return 0;
}
