// The calls of the gallery, for those who run them all. Must not know what a method is.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include "host/engine.hpp"
#include "host/request.hpp"

namespace locus::host {

/// What stands in the file ("": the gallery's own), or nothing after a message.
std::optional<nlohmann::json> gallery_calls(const std::string& path, Diagnostics& diagnostics);
/// The results of one call on a backend; nothing after messages in the session's diagnostics.
std::optional<std::vector<Result>> gallery_results(const nlohmann::json& call, Session& session, const LoadedBackend& backend, Dtype real);

}  // namespace locus::host
