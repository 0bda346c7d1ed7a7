// Graph texts for tests: read, or fail the test with the parser's reason.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include "core/graph/graph.hpp"

namespace locus::test {

inline graph::Graph graph_of(const std::string& body) {
  std::string error;
  graph::Graph g = graph::parse_text("locus graph 1\n" + body, &error);
  INFO(body);
  REQUIRE(error == "");
  return g;
}

}  // namespace locus::test
