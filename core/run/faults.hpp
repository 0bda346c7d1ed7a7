// What a backend reports, as messages with a line of the spec. Knows nothing of how a run is made.
#pragma once
#include "core/base/diagnostic.hpp"
#include "core/run/export.hpp"

namespace locus {

Diagnostic not_compiled(const ExportedProgram& program, const std::string& backend, int status, const std::string& message, std::uint32_t node);
Diagnostic not_run(const graph::Graph& graph, const ExportedProgram& program, const std::string& backend, int status, const locus_report& report);
Diagnostic no_memory(const std::string& backend, std::uint64_t bytes);
Diagnostic buffer_lost(const std::string& backend);
Diagnostic exception_escaped(const std::string& backend, const std::string& what);

}  // namespace locus
