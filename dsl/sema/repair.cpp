// What messages propose: text made of the tree's own words; see repair.hpp.
#include "dsl/sema/repair.hpp"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include "core/base/diagnostic.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {
namespace {

const ast::Declared* declared_in(const Declaration* owner, const std::string& name) {
  if (!owner || !owner->hierarchy) return nullptr;
  for (const auto* list : {&owner->hierarchy->inputs, &owner->hierarchy->settings})
    for (const ast::Declared& d : *list)
      if (d.name.text == name) return &d;
  return nullptr;
}

/// The declaration of `d` with int in it, and a default that is whole.
std::string as_integer(const ast::Declared& d) {
  std::string text = d.name.text + ": int";
  for (std::size_t k = 0; k < d.type.shape.size(); ++k) text += (k ? ", " : " [") + print(*d.type.shape[k]);
  if (!d.type.shape.empty()) text += "]";
  if (d.value && d.value->kind == ast::ExprKind::number) text += " = " + std::to_string(std::llround(d.value->number));
  return text;
}

ast::ExprPtr named(const std::string& name) {
  auto made = std::make_shared<ast::Expr>();
  made->kind = ast::ExprKind::name;
  made->name.text = name;
  return made;
}

ast::ExprPtr binary(ast::Operator op, ast::ExprPtr a, ast::ExprPtr b) {
  auto made = std::make_shared<ast::Expr>();
  made->kind = ast::ExprKind::binary;
  made->op = op;
  made->parts = {std::move(a), std::move(b)};
  return made;
}

ast::ExprPtr call(const std::string& function, ast::ExprPtr argument) {
  auto made = std::make_shared<ast::Expr>();
  made->kind = ast::ExprKind::call;
  made->parts = {named(function)};
  made->points = {{{}, std::move(argument)}};
  return made;
}

}  // namespace

std::string free_name(const std::string& name, const std::set<std::string>& taken) {
  for (int k = 2;; ++k)
    if (std::string made = name + std::to_string(k); !taken.count(made)) return made;
}

std::string integer_repair(const ast::Expr& e, const Value& v, const Declaration* owner) {
  if (e.kind == ast::ExprKind::number && std::abs(e.number) < 9e15) return "write `" + std::to_string(std::llround(e.number)) + "`";
  const ast::Declared* d = e.kind == ast::ExprKind::name ? declared_in(owner, e.name.text) : nullptr;
  const bool simple = d && (!d->value || d->value->kind == ast::ExprKind::number);
  if (simple) return "declare it `" + as_integer(*d) + "`";
  const auto axes = visible(v);
  return axes.empty() ? "write a whole number, such as `0`, or give it by an input that is declared `int`"
                      : "make it of integers, as in `index(" + v.axes[static_cast<std::size_t>(axes.front())].name + ")`, or give it by an input that is declared `int`";
}

std::string indexed_text(const ast::Expr& e, std::vector<ast::Index> places) {
  ast::Expr other;
  other.kind = ast::ExprKind::index;
  other.parts = e.parts;
  other.places = std::move(places);
  return other.places.empty() ? print(*e.parts[0]) : print(other);
}

std::string first_places(const ast::Expr& e, std::size_t most) {
  std::vector<ast::Index> places = e.places;
  std::erase_if(places, [](const ast::Index& p) { return p.kind == ast::Index::Kind::skip; });
  places.resize(std::min(most, places.size()));
  return "`" + indexed_text(e, std::move(places)) + "`";
}

std::string last_entries(const ast::ExprPtr& e, std::size_t count) {
  ast::Expr base;
  base.parts = {e};
  std::vector<ast::Index> places{{ast::Index::Kind::skip, {}, nullptr, nullptr}};
  places.resize(count + 1, {ast::Index::Kind::at, {}, whole_number(0), nullptr});
  return indexed_text(base, std::move(places));
}

std::string first_axes(const ast::Type& type, std::size_t count) {
  std::string text;
  for (std::size_t k = 0; k < std::min(count, type.shape.size()); ++k) text += (k ? ", " : "[") + print(*type.shape[k]);
  return text.empty() ? (type.base.text.empty() ? "real" : type.base.text) : (type.base.text.empty() ? "" : type.base.text + " ") + text + "]";
}

std::string repeated_text(const ast::ExprPtr& e, const std::string& axis) {
  return print(*binary(ast::Operator::multiply, e, call("ones", named(axis))));
}

std::string real_division(const ast::Expr& e) {
  const ast::ExprPtr a = e.parts[0], b = e.parts[1], whole = call("floor", binary(ast::Operator::divide, a, b));
  return print(e.op == ast::Operator::floor_divide ? *whole : *binary(ast::Operator::subtract, a, binary(ast::Operator::multiply, b, whole)));
}

ast::ExprPtr whole_number(std::int64_t value) {
  auto made = std::make_shared<ast::Expr>();
  made->whole = true;
  made->integer = value;
  made->number = static_cast<double>(value);
  return made;
}

std::string type_of_result(const std::string& base, const Value& v) {
  const bool number = visible(v).empty();
  if (base.empty()) return number ? "real" : shown(v);
  return number ? base : base + " " + shown(v);
}

std::string nearest_file(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path wanted(path);
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(wanted.has_parent_path() ? wanted.parent_path() : fs::path("."), error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".locus" && at->is_regular_file(error)) names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  const std::string whole = wanted.filename().string() + ".locus";
  const std::string near = std::binary_search(names.begin(), names.end(), whole) ? whole : nearest_name(wanted.filename().string(), names);
  return near.empty() ? "" : (wanted.parent_path() / near).string();
}

std::string listing(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  while (!folder.empty() && !std::filesystem::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return "`ls " + (folder.empty() ? std::string("*.locus") : "'" + folder.string() + "'") + "`";
}

}  // namespace locus::sema
