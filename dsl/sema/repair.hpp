// Repairs that messages propose: text that can be pasted where the mistake stands.
// Knows what was written and what it turned out to be, not how it is lowered.
#pragma once
#include <set>
#include <string>
#include <vector>
#include "dsl/sema/build.hpp"
#include "dsl/sema/model.hpp"

namespace locus::sema {

/// `name` with the least number behind it that makes it free.
std::string free_name(const std::string& name, const std::set<std::string>& taken);

/// How integers come to stand where `e` gives real numbers; `owner` is the declaration that `e` stands in, and may be null.
std::string integer_repair(const ast::Expr& e, const Value& v, const Declaration* owner);

/// `x[0:3, 2]`: the expression that `e` indexes, with these places instead.
std::string indexed_text(const ast::Expr& e, std::vector<ast::Index> places);

/// `e` with no more places than `most`, in back ticks.
std::string first_places(const ast::Expr& e, std::size_t most);

/// `y[.., 0]`: as many axes at the end as `count` read at their first entry.
std::string last_entries(const ast::ExprPtr& e, std::size_t count);

/// The first `count` axes of a declared type: `[p]`; `real` where none is left.
std::string first_axes(const ast::Type& type, std::size_t count);

/// `h * ones(n)`.
std::string repeated_text(const ast::ExprPtr& e, const std::string& axis);

/// `floor(a / b)` for `a // b` and `a - b * floor(a / b)` for `a % b`.
std::string real_division(const ast::Expr& e);

/// A whole number as an expression.
ast::ExprPtr whole_number(std::int64_t value);

/// Behind a result's `->` or `name:` what it turned out to be: `int [n, d]`, `real`.
std::string type_of_result(const std::string& base, const Value& v);

/// The file beside `path` whose name is nearest to it, with the folder as written; "" if none is near. Only specs count.
std::string nearest_file(const std::string& path);
/// `ls` for the specs in the folder of `path`, with its back ticks.
std::string listing(const std::string& path);

}  // namespace locus::sema
