// Any bytes as a spec: the parser must come back, keep its spans inside the text, render its messages, and print what it read so that it reads the same.
// Knows nothing of what specs mean.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include "dsl/syntax/parse.hpp"

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  locus::Sources sources;
  locus::Diagnostics diagnostics;
  const auto id = sources.add("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  const locus::ast::File file = locus::parse(sources, id, diagnostics);
  for (const locus::Diagnostic& each : diagnostics.all()) {
    demand(each.span.source == id && each.span.low <= each.span.high && each.span.high <= sources.at(id).text.size());
    demand(!each.message.empty() && !each.help.empty());
  }
  std::ostringstream messages;
  locus::write(messages, diagnostics, sources);

  locus::Diagnostics none;
  const std::string printed = locus::print(file);
  const locus::ast::File again = locus::parse(sources, sources.add("printed", printed), none);
  demand(!none.failed());
  demand(again.declarations.size() == file.declarations.size());
  demand(locus::print(again) == printed);
  return 0;
}
