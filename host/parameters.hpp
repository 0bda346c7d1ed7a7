// From a file of weights, and a map if there is one, to the parameters of a request.
// Must not know what a spec declares.
#pragma once
#include <optional>
#include <string>
#include "core/data/door.hpp"
#include "core/data/weights_map.hpp"
#include "dsl/compile.hpp"

namespace locus::host {

/// `map` is a path too, or "": then arrays are found by the parameters' own paths. Nothing after a message.
std::optional<Parameters> read_parameters(const std::string& file, const std::string& map, Missing policy, Sources& sources, Diagnostics& diagnostics);

/// The map in a file, kept among the sources so that messages can show its lines.
std::optional<WeightsMap> load_map(const std::string& path, Sources& sources, Diagnostics& diagnostics);

}  // namespace locus::host
