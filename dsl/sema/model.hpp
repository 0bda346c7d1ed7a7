// The model: the declarations of a spec, of what it imports and of the standard library, under their names. Nothing is typed yet: axes and types are
// found when a hierarchy is lowered, since it may be called with other axes. Knows nothing of graphs and data.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "core/base/diagnostic.hpp"
#include "dsl/compile.hpp"
#include "dsl/syntax/ast.hpp"

namespace locus::sema {

/// A declaration in force: exactly one of the pointers is set.
struct Declaration {
  std::string name;
  Span span;
  std::string comment;
  std::uint32_t source = 0;
  std::shared_ptr<const ast::Kernel> kernel;
  std::shared_ptr<const ast::Local> local;
  std::shared_ptr<const ast::Hierarchy> hierarchy;
  const KernelSignature* native = nullptr;  ///< a plugin's kernel without source
};

struct Model {
  Sources* sources = nullptr;
  std::uint32_t main = 0;                             ///< the file itself
  std::map<std::string, Declaration> declarations;    ///< own hide imported, imported hide plugins' and the library's
  std::vector<std::string> own;                       ///< names declared in the file itself, in its order
  std::vector<KernelSignature> natives;               ///< owns what `native` points to
  std::vector<std::shared_ptr<ast::File>> files;

  const Declaration* find(const std::string& name) const;
};

/// Reads imports and the library and fills the model (E1: double declarations, two imported ones of one name, a file that cannot be read, an import circle is fine: once).
std::shared_ptr<Model> load_model(const std::string& name, const std::string& text, Sources& sources, const Library& library, Diagnostics& diagnostics);

/// Names within the file's own declarations: unknown names (with the nearest known one), built-ins misspelt, an update of what is not carried, a name read after its `<-`,
/// steps in blocks where they cannot stand, a hierarchy that calls itself, wrong counts and unknown keywords of arguments, a clause that cannot change the estimate (`under` alone).
void resolve(const Model& model, Diagnostics& diagnostics);

/// Built-in functions and estimators: name -> is known. `pi`, `inf`, `i`, `j` are not among them.
const std::vector<std::string>& builtin_names();
bool is_estimator(const std::string& name);
bool is_pair_function(const std::string& name);

}  // namespace locus::sema
