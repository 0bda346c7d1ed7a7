// What the tests of the parser share: text in, tree or messages out.
// Knows nothing of single tests.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include "dsl/syntax/parse.hpp"

namespace reading {

struct Read {
  locus::Sources sources;
  locus::Diagnostics diagnostics;
  locus::ast::File file;

  explicit Read(std::string text, std::string name = "test.locus") { file = locus::parse(sources, sources.add(std::move(name), std::move(text)), diagnostics); }

  std::string messages() const {
    std::ostringstream out;
    locus::write(out, diagnostics, sources);
    return out.str();
  }
  std::string code(std::size_t k = 0) const { return k < diagnostics.all().size() ? locus::info(diagnostics.all()[k].code).name : "none"; }
};

/// The expression of `kernel k(a, b) = TEXT` as print gives it, or the messages.
inline std::string expression(const std::string& text) {
  const Read read("kernel k(a, b) = " + text + "\n");
  return read.diagnostics.failed() ? read.messages() : locus::print(*read.file.declarations.at(0).kernel->body);
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace reading
