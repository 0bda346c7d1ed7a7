// From the command line to a request: the spec, the hierarchy, and data for each name that it declares.
// Must not know how a request is run.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include "core/data/write.hpp"
#include "dsl/compile.hpp"
#include "host/alphabet.hpp"
#include "host/session.hpp"

namespace locus::host {

/// A spec and the hierarchy that was asked for; `line` is the command line read again with the declared names as inputs.
struct Chosen {
  Spec spec;
  HierarchyInfo hierarchy;
  CommandLine line;
};

/// Inputs and settings of the spec among the words, of the hierarchy named among them if there is one: they go before options of the same name.
std::set<std::string> names_declared_in(const std::vector<std::string>& words);

/// Loads the first argument and chooses by the second. Nothing after a message.
std::optional<Chosen> choose_hierarchy(Session& session);

/// Every name after `--` is declared; every declared input and setting without a default is given, unless `may_lack` (a dry run).
bool check_names(const Chosen& chosen, bool may_lack, Diagnostics& diagnostics);

struct Data {
  Request request;
  std::optional<Alphabet> alphabet;  ///< of --alphabet: how texts are numbers
  std::map<std::string, Kept> kept;  ///< under --missing drop: for each axis that lost rows, those that are left
};

/// Reads files and numbers into a request. All mistakes are reported together.
std::optional<Data> read_data(const Chosen& chosen, Session& session);

/// "0.5", "0.5,1.0", "true" as an array; nothing if it is neither, so that it is a file.
std::optional<Array> literal(const std::string& text);

/// "nadaraya_watson(query: [n, d], x: [m, d]; h = 1.0)"
std::string signature(const HierarchyInfo& hierarchy);

/// Formulas of the kernels that the hierarchy names: "gaussian(a, b; h) = exp(...)".
std::vector<std::string> formulas(const Chosen& chosen, const Sources& sources);

}  // namespace locus::host
