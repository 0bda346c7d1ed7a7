// The model as its users see it: declared names, types and kernels as text; see compile.hpp.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include "dsl/compile.hpp"
#include "dsl/sema/model.hpp"
#include "dsl/sema/repair.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus {

Spec Spec::from_text(const std::string& name, const std::string& text, Sources& sources, const Library& library, Diagnostics& diagnostics) {
  Spec spec;
  spec.model_ = sema::load_model(name, text, sources, library, diagnostics);
  sema::resolve(*spec.model_, diagnostics);
  return spec;
}

Spec Spec::load(const std::string& path, Sources& sources, const Library& library, Diagnostics& diagnostics) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream in(path, std::ios::binary);
    std::error_code error;
    if (!in || std::filesystem::is_directory(path, error)) {
      const std::string near = sema::nearest_file(path);
      diagnostics.add({Code::E103, {}, "cannot open '" + path + "'", "", {}, near.empty() ? sema::listing(path) + " shows the specs there" : "did you mean `" + near + "`?", ""});
      return from_text(path, "", sources, library, diagnostics);
    }
    text << in.rdbuf();
  }
  return from_text(path, text.str(), sources, library, diagnostics);
}

namespace {
DeclaredName shown(const ast::Declared& d) {
  DeclaredName n;
  n.name = d.name.text;
  n.span = d.name.span;
  n.kind = d.type.base.text.empty() ? "real" : d.type.base.text;
  for (const auto& e : d.type.shape) n.shape.push_back(print(*e));
  if (d.type.present) {
    n.type = d.type.base.text;
    std::string shape;
    for (const auto& s : n.shape) shape += (shape.empty() ? "" : ", ") + s;
    if (!n.shape.empty()) n.type += (n.type.empty() ? "[" : " [") + shape + "]";
  }
  if (d.value) n.initial = print(*d.value);
  return n;
}
}  // namespace

std::vector<HierarchyInfo> Spec::hierarchies() const {
  std::vector<HierarchyInfo> all;
  for (const auto& name : model_->own) {
    const auto* d = model_->find(name);
    if (!d || !d->hierarchy) continue;
    HierarchyInfo h;
    h.name = name;
    h.comment = d->comment;
    h.span = d->hierarchy->span;
    for (const auto& x : d->hierarchy->inputs) h.inputs.push_back(shown(x));
    for (const auto& x : d->hierarchy->settings) h.settings.push_back(shown(x));
    for (const auto& x : d->hierarchy->results) h.results.push_back(shown(x));
    if (!d->hierarchy->named_results) {
      ast::Declared single;
      single.name.text = "result";
      single.type = d->hierarchy->output;
      h.results.push_back(shown(single));
    }
    for (const auto& s : d->hierarchy->steps) h.parameters |= s.kind == ast::StepKind::param;
    all.push_back(std::move(h));
  }
  return all;
}

std::vector<KernelInfo> Spec::kernels() const {
  std::vector<KernelInfo> all;
  const auto point = [](const ast::Point& p) {
    std::string text;
    for (const auto& n : p.names) text += (text.empty() ? "" : ", ") + n.text;
    return p.tuple ? "(" + text + ")" : text;
  };
  for (const auto& [name, d] : model_->declarations) {
    if (d.native) {
      std::string settings;
      for (const auto& [setting, initial] : d.native->settings) settings += (settings.empty() ? "; " : ", ") + setting;
      all.push_back({name, "(a, b" + settings + ")", d.native->native ? d.native->native->formula : "", d.comment, d.native->origin});
    }
    if (!d.kernel) continue;
    std::string settings;
    for (const auto& s : d.kernel->settings) settings += (settings.empty() ? "; " : ", ") + s.name.text + (s.value ? " = " + print(*s.value) : "");
    all.push_back({name, "(" + point(d.kernel->query) + ", " + point(d.kernel->sample) + settings + ")", print(*d.kernel->body), d.comment, model_->sources->at(d.source).name});
  }
  return all;
}

}  // namespace locus
