// The hierarchy as nested boxes, for people: a text for Graphviz and the picture made of it.
// Must not know specs, data and backends.
#pragma once
#include <optional>
#include <string>
#include <vector>
#include "dsl/compile.hpp"

namespace locus::host {

/// A cluster for each call, copies of one layer drawn once. The first part is the hierarchy itself.
std::string hierarchy_dot(const std::vector<Part>& parts);

/// The SVG that Graphviz lays out for the text.
std::string svg_of_dot(const std::string& dot);

}  // namespace locus::host
