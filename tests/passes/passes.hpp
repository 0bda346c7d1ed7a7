// For tests of passes: a graph text in, the nodes as text out; every graph that a pass leaves must be sound.
#pragma once
#include <functional>
#include "core/passes/passes.hpp"
#include "tests/graph/texts.hpp"

namespace locus::test {

/// The graph text without declarations and inputs, that is: shared expressions, nodes and outputs.
inline std::string nodes_of(const std::string& text) {
  std::string nodes;
  for (std::size_t at = text.find('\n') + 1; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const bool declares = (line[0] == 'c' || line[0] == 't') && (line.find(" = ") == std::string::npos || line.find("= input") != std::string::npos);
    if (!declares) nodes += line + "\n";
    at = end + 1;
  }
  return nodes;
}

inline graph::Graph sound(graph::Graph g) {
  INFO(graph::print(g));
  REQUIRE(graph::verify(g) == std::vector<std::string>{});
  return g;
}

inline std::string after(void (*pass)(graph::Graph&), const std::string& body) {
  graph::Graph g = sound(graph_of(body));
  pass(g);
  return "\n" + nodes_of(graph::print(sound(std::move(g))));
}

/// Points x [4, 3] along c0 and y [5, 3] along c1, with c2 inner, c3 its twin; u [4], v [5], w [4, 5], flags s bool [5], k int [5].
inline const char* const points = R"(c0 "n" 4
c1 "m" 5
c2 "d" 3
c3 "d" 3
t0 "x" real [4 "n", 3 "d"]
t1 "y" real [5 "m", 3 "d"]
t2 "u" real [4 "n"]
t3 "v" real [5 "m"]
t4 "w" real [4 "n", 5 "m"]
t5 "s" bool [5 "m"]
t6 "k" int [5 "m"]
t7 "h" exact []
t8 "a" real [4 "n"]
t9 "b" real [4 "n"]
t10 "c" real [4 "n"]
t11 "d" real [4 "n", 3 "d"]
t12 "e" real [4 "n", 5 "m"]
t13 "f" real [5 "m"]
t0 = input "x"
t1 = input "y"
t2 = input "u"
t3 = input "v"
t4 = input "w"
t5 = input "s"
t6 = input "k"
t7 = input "h"
)";

}  // namespace locus::test
