// From a file of weights, and a map if there is one, to the parameters of a request.
// Must not know what a spec declares.
#include "host/parameters.hpp"
#include <memory>

namespace locus::host {
namespace {

/// Read with its numbers looked at, unless the policy lets all through.
ReadArray checked(const StoredArray& array, const std::string& name, const std::string& file, Missing policy) {
  if (policy == Missing::nan) return array.read;
  return [read = array.read, name, file](Diagnostics& diagnostics) -> std::optional<Array> {
    std::optional<Array> numbers = read(diagnostics);
    if (!numbers || !check_weight(*numbers, name, file, diagnostics)) return std::nullopt;
    return numbers;
  };
}

}  // namespace

std::optional<WeightsMap> load_map(const std::string& path, Sources& sources, Diagnostics& diagnostics) {
  auto text = read_file(path, diagnostics);
  if (!text) return {};
  return read_weights_map(sources.add(path, std::move(*text)), sources, diagnostics);
}

std::optional<Parameters> read_parameters(const std::string& file, const std::string& map, Missing policy, Sources& sources, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  const auto lines = map.empty() ? std::nullopt : load_map(map, sources, diagnostics);
  const auto weights = open_weights(file, diagnostics);
  if (!weights || diagnostics.errors() > before) return {};
  Parameters all;
  for (const auto& [name, array] : *weights) all.names.push_back(name);
  if (!lines) {
    for (const auto& [name, array] : *weights) all.by_path[name] = {array.shape, array.held, "", {}, checked(array, name, file, policy)};
    return all;
  }
  auto mapped = apply(*lines, *weights, file, diagnostics);
  if (!mapped) return {};
  for (const auto& [path, m] : mapped->arrays) all.by_path[path] = {m.array.shape, m.array.held, m.source, m.span, checked(m.array, m.source.empty() ? path : m.source, file, policy)};
  all.unused = std::move(mapped->unused);
  all.wanted = [kept = std::make_shared<WeightsMap>(*lines)](const std::string& path) { return kept->name_for(path); };
  return all;
}

}  // namespace locus::host
