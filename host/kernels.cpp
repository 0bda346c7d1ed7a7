// `locus kernels [NAME]`: the catalogue of kernels that every spec knows: the standard library's and the plugins'.
// Must not know how a kernel is computed.
#include <cmath>
#include <iostream>
#include "core/data/number.hpp"
#include "host/session.hpp"

namespace locus::host {
namespace {

std::string support_of(const locus_kernel& kernel) {
  if (!kernel.support) return "everywhere";
  std::vector<double> settings;
  for (std::uint32_t k = 0; k < kernel.setting_count; ++k) settings.push_back(std::isnan(kernel.settings[k].initial) ? 1.0 : kernel.settings[k].initial);
  const double radius = kernel.support(settings.data());
  if (std::isinf(radius)) return "everywhere";
  std::string at;
  for (std::uint32_t k = 0; k < kernel.setting_count; ++k) at += std::string(k ? ", " : " at ") + kernel.settings[k].name + " = " + number_word(settings[k]);
  return "zero beyond " + number_word(radius) + at;
}

void show(const KernelInfo& kernel, const Registry& registry) {
  std::cout << kernel.name << kernel.parameters << " = " << kernel.formula << '\n';
  if (!kernel.comment.empty()) std::cout << "  " << kernel.comment << '\n';
  if (const LoadedKernel* native = registry.kernel(kernel.name)) {
    std::cout << "  support: " << support_of(*native->kernel) << '\n';
    if (native->kernel->reference && *native->kernel->reference) std::cout << "  reference: " << native->kernel->reference << '\n';
  }
  std::cout << "  declared in " << kernel.file << '\n';
}

int run_kernels(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  const Spec spec = Spec::from_text("<catalogue>", "", session.sources, session.library(), session.diagnostics);
  if (session.diagnostics.failed()) return session.finish();
  const std::vector<KernelInfo> all = spec.kernels();
  if (line.arguments.empty()) {
    for (const KernelInfo& kernel : all) std::cout << kernel.name << kernel.parameters << " = " << kernel.formula << '\n';
    return session.finish();
  }
  std::vector<std::string> names;
  for (const KernelInfo& kernel : all) {
    if (kernel.name == line.arguments.front()) return show(kernel, session.registry()), session.finish();
    names.push_back(kernel.name);
  }
  const std::string near = nearest_name(line.arguments.front(), names);
  session.diagnostics.add({Code::E810, {}, "no kernel is called '" + line.arguments.front() + "'", "", {}, near.empty() ? "`locus kernels` lists all" : "write `locus kernels " + near + "`", ""});
  return session.finish();
}

}  // namespace

Command kernels_command() {
  return {"kernels", "[NAME]", "the catalogue of kernels: formulas, support, references", "", 0, 1, {}, {"plugin", "quiet", "verbose"}, false, run_kernels};
}

}  // namespace locus::host
