// Reading a spec with its imports, the standard library and plugins' kernels into one model; see model.hpp.
#include "dsl/sema/model.hpp"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include "dsl/sema/repair.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

namespace {

struct Loader {
  Model& model;
  Sources& sources;
  Diagnostics& diagnostics;
  std::set<std::string> read;
  std::map<std::string, int> rank;  ///< of the declaration in force: 3 own, 2 imported, 1 plugin, 0 library

  static std::string key(const std::string& path) {
    std::error_code error;
    const auto full = std::filesystem::weakly_canonical(path, error);
    return error ? path : full.string();
  }

  std::set<std::string> declared_names() const {
    std::set<std::string> names;
    for (const auto& [name, other] : rank) names.insert(name);
    return names;
  }

  void declare(Declaration d, int level) {
    const auto at = rank.find(d.name);
    if (at != rank.end() && at->second > level) return;
    if (at != rank.end() && at->second == level && level >= 2) {
      const Declaration& other = model.declarations[d.name];
      diagnostics.add({Code::E102, d.span, level == 3 ? "'" + d.name + "' is declared twice" : "two imported files declare '" + d.name + "'", "", {{other.span, "the first declaration is here"}},
                       level == 3 ? "call this one `" + free_name(d.name, declared_names()) + "`" : "declare `" + d.name + "` in this file: own declarations hide imported ones", ""});
      return;
    }
    rank[d.name] = level;
    if (level == 3) model.own.push_back(d.name);
    model.declarations[d.name] = std::move(d);
  }

  void file(const std::string& name, const std::string& text, int level) {
    const std::uint32_t source = sources.add(name, text);
    if (level == 3) model.main = source;
    auto tree = std::make_shared<ast::File>(parse(sources, source, diagnostics));
    model.files.push_back(tree);
    for (const auto& part : tree->declarations) {
      Declaration d;
      d.span = part.span;
      d.comment = part.comment;
      d.source = source;
      switch (part.kind) {
        case ast::Declaration::Kind::import: import(*part.import, name, level); continue;
        case ast::Declaration::Kind::kernel: d.kernel = part.kernel, d.name = part.kernel->name.text, d.span = part.kernel->name.span; break;
        case ast::Declaration::Kind::local: d.local = part.local, d.name = part.local->name.text, d.span = part.local->name.span; break;
        case ast::Declaration::Kind::hierarchy: d.hierarchy = part.hierarchy, d.name = part.hierarchy->name.text, d.span = part.hierarchy->name.span; break;
      }
      declare(std::move(d), level);
    }
  }

  void import(const ast::Import& i, const std::string& from, int level) {
    const auto path = (std::filesystem::path(from).parent_path() / i.path).string();
    if (!read.insert(key(path)).second) return;  // once
    std::ifstream in(path, std::ios::binary);
    std::error_code error;
    if (!in || std::filesystem::is_directory(path, error)) {
      const std::string near = nearest_file(path);
      diagnostics.add({Code::E103, i.span, "cannot open '" + path + "'", "", {},
                       near.empty() ? "an import is looked up beside the file that imports it: " + listing(path) + " shows what is there" : "write `import \"" + (std::filesystem::path(i.path).parent_path() / std::filesystem::path(near).filename()).string() + "\"`", ""});
      return;
    }
    std::ostringstream text;
    text << in.rdbuf();
    file(path, text.str(), std::min(level, 2));
  }
};

}  // namespace

const Declaration* Model::find(const std::string& name) const {
  const auto found = declarations.find(name);
  return found == declarations.end() ? nullptr : &found->second;
}

std::shared_ptr<Model> load_model(const std::string& name, const std::string& text, Sources& sources, const Library& library, Diagnostics& diagnostics) {
  auto model = std::make_shared<Model>();
  model->sources = &sources;
  model->natives = library.kernels;
  Loader loader{*model, sources, diagnostics, {Loader::key(name)}, {}};
  loader.file(name, text, 3);
  for (const KernelSignature& k : model->natives) {
    if (!k.source.empty()) {
      loader.file("<plugin " + k.name + ">", k.source, 1);
      continue;
    }
    Declaration d;
    d.name = k.name;
    d.comment = k.origin;
    d.native = &k;
    loader.declare(std::move(d), 1);
  }
  for (const auto& [shown, part] : library.texts) loader.file(shown, part, 0);
  return model;
}

}  // namespace locus::sema
