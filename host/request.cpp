// From the command line to a request: the spec, the hierarchy, and data for each name that it declares.
// Must not know how a request is run.
#include "host/request.hpp"
#include <filesystem>
#include "core/data/file.hpp"
#include <algorithm>
#include <cctype>
#include "core/data/input.hpp"
#include "core/data/number.hpp"
#include "core/data/weights.hpp"

namespace locus::host {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) text += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  return text;
}

std::vector<std::string> names_of(const std::vector<HierarchyInfo>& all) {
  std::vector<std::string> names;
  for (const HierarchyInfo& h : all) names.push_back(h.name);
  return names;
}

std::set<std::string> declared_names(const HierarchyInfo& h) {
  std::set<std::string> names;
  for (const DeclaredName& d : h.inputs) names.insert(d.name);
  for (const DeclaredName& d : h.settings) names.insert(d.name);
  return names;
}

const DeclaredName* find(const HierarchyInfo& h, const std::string& name) {
  for (const DeclaredName& d : h.inputs)
    if (d.name == name) return &d;
  for (const DeclaredName& d : h.settings)
    if (d.name == name) return &d;
  return nullptr;
}

/// The hierarchy that the second argument names, or the only one.
const HierarchyInfo* choose(const std::vector<HierarchyInfo>& all, const CommandLine& line, Diagnostics& diagnostics) {
  const std::string& file = line.arguments.front();
  if (all.empty()) {
    diagnostics.add({Code::E807, {}, file + " declares no hierarchy, so there is nothing to run", "", {}, "`locus check " + quoted(file) + "` checks the rest", ""});
    return nullptr;
  }
  const std::string asked = line.arguments.size() > 1 ? line.arguments[1] : "";
  if (asked.empty() && all.size() == 1) return &all.front();
  for (const HierarchyInfo& h : all)
    if (h.name == asked) return &h;
  const std::string near = asked.empty() ? all.front().name : nearest_name(asked, names_of(all));
  std::vector<std::string> words = line.words;
  if (!asked.empty()) {  // a value may be spelt like the hierarchy: the argument is the last such word that stands beside the options
    const auto at = std::find(words.rbegin(), words.rend(), asked);
    if (at != words.rend()) *at = near;
  } else {
    words.insert(std::find(words.begin(), words.end(), file) + 1, near);
  }
  const std::string text = asked.empty() ? file + " declares " + std::to_string(all.size()) + " hierarchies: " + listed(names_of(all))
                                         : file + " declares no hierarchy '" + asked + "', only " + listed(names_of(all));
  diagnostics.add({Code::E807, {}, text, "", {}, near.empty() ? "`locus explain " + quoted(file) + "` lists them" : "write `" + line.text(words) + "`", ""});
  return nullptr;
}

/// Reads one value by what is declared.
class Reader {
 public:
  Reader(const Chosen& chosen, Session& session) : chosen_(chosen), session_(session), files_({session.common.header, session.common.delimiter}, session.common.missing) {}

  bool read(const CommandLine::Named& given, Data& data) {
    const DeclaredName& declared = *find(chosen_.hierarchy, given.name);
    if (given.value.rfind("text:", 0) == 0 && declared.kind == "int") return read_text(given, data);
    auto array = literal(given.value);
    Named named{given.name, {}};
    if (!array) {
      auto input = declared.kind == "int" ? read_integers(given.value) : files_.read(given.value, session_.diagnostics);
      if (!input) return false;
      array = std::move(input->array), named = std::move(input->named);
      data.request.origins[given.name] = given.value;
    }
    array = checked(*array, declared.kind, named);
    if (!array) return false;
    put(given.name, *array, data);
    return true;
  }

  void put(const std::string& name, const Array& array, Data& data) {
    const bool input = std::any_of(chosen_.hierarchy.inputs.begin(), chosen_.hierarchy.inputs.end(), [&](const DeclaredName& d) { return d.name == name; });
    (input ? data.request.inputs : data.request.settings)[name] = array;
  }

  bool read_text(const CommandLine::Named& given, Data& data) {
    if (!data.alphabet) {
      session_.diagnostics.add({Code::E424, {}, "'" + given.name + "' is given as text, and no alphabet says which numbers its characters are", "", {},
                                "write `--alphabet bytes`, or `--alphabet FILE` with the characters in the order of their numbers", "--" + given.name});
      return false;
    }
    const auto numbers = data.alphabet->numbers(given.value.substr(5), given.name, session_.diagnostics);
    if (numbers) put(given.name, *numbers, data);
    return numbers.has_value();
  }

  std::vector<std::string> notes() const { return files_.notes(); }

 private:
  /// A column of text becomes the numbers of its labels, and a remark says which is which.
  std::optional<Input> read_integers(const std::string& text) {
    Diagnostics trial;
    auto input = files_.read(text, trial);
    const bool words = !input && std::all_of(trial.all().begin(), trial.all().end(), [](const Diagnostic& d) { return d.code == Code::E415 || info(d.code).severity != Severity::error; });
    if (!words) {
      for (const Diagnostic& d : trial.all()) session_.diagnostics.add(d);
      return input;
    }
    auto labels = files_.read_labels(text, session_.diagnostics);
    if (!labels) return {};
    std::string meaning;
    for (std::size_t k = 0; k < labels->names.size() && k < 20; ++k) meaning += (k ? ", " : "") + std::to_string(k) + " is " + labels->names[k];
    session_.note(text + " holds labels: " + meaning + (labels->names.size() > 20 ? ", ..." : ""));
    return Input{labels->codes, {text, {}}};
  }

  std::optional<Array> checked(const Array& array, const std::string& kind, const Named& named) {
    if (kind == "int") return as_integers(array, named, session_.diagnostics);
    if (kind == "bool") return as_booleans(array, named, session_.diagnostics);
    if (!check_finite(array, named, session_.common.missing, session_.diagnostics)) return {};
    return array;
  }

  const Chosen& chosen_;
  Session& session_;
  Inputs files_;
};

/// Under `--missing drop` a row leaves all inputs of its axis together.
void drop_rows(const Chosen& chosen, Session& session, Data& data) {
  std::map<std::string, std::vector<std::string>> by_axis;
  for (const DeclaredName& d : chosen.hierarchy.inputs)
    if (data.request.inputs.count(d.name) && !d.shape.empty() && !data.request.inputs[d.name].shape().empty()) by_axis[d.shape.front()].push_back(d.name);
  for (const auto& [axis, names] : by_axis) {
    std::vector<Array> together;
    for (const std::string& name : names) together.push_back(data.request.inputs[name]);
    const std::int64_t total = together.front().shape().front();
    if (std::any_of(together.begin(), together.end(), [&](const Array& a) { return a.shape().front() != total; })) continue;  // lowering says which sizes differ
    const std::vector<std::int64_t> rows = complete_rows(together);
    const auto left_out = total - static_cast<std::int64_t>(rows.size());
    if (left_out == 0) continue;
    for (const std::string& name : names) data.request.inputs[name] = keep_rows(data.request.inputs[name], rows);
    data.kept[axis] = {rows, total};
    session.note(std::to_string(left_out) + " of " + std::to_string(total) + " rows of axis " + axis + " have a missing value and are left out of " + listed(names));
  }
}

}  // namespace

std::set<std::string> names_declared_in(const std::vector<std::string>& words) {
  std::set<std::string> names;
  for (const std::string& word : words) {
    if (word.empty() || word.front() == '-' || std::filesystem::path(word).extension() != ".locus") continue;
    Diagnostics unheard;  // the spec is read again, and its mistakes are said then
    const auto text = read_file(word, unheard);
    if (!text) continue;
    Sources sources;
    std::set<std::string> all;
    for (const HierarchyInfo& h : Spec::from_text(word, *text, sources, Library(), unheard).hierarchies()) {
      const bool asked = std::find(words.begin(), words.end(), h.name) != words.end();
      for (const auto* list : {&h.inputs, &h.settings})
        for (const DeclaredName& declared : *list) (asked ? names : all).insert(declared.name);
    }
    if (names.empty()) names = std::move(all);
    break;
  }
  return names;
}

std::optional<Chosen> choose_hierarchy(Session& session) {
  const CommandLine& first = session.line();
  Chosen chosen{Spec::load(first.arguments.front(), session.sources, session.library(), session.diagnostics), {}, {}};
  if (session.diagnostics.failed()) return {};
  const std::vector<HierarchyInfo> all = chosen.spec.hierarchies();
  const HierarchyInfo* hierarchy = choose(all, first, session.diagnostics);
  if (!hierarchy) return {};
  chosen.hierarchy = *hierarchy;
  auto line = parse(*first.command, first.words, declared_names(*hierarchy), session.diagnostics);
  if (!line) return {};
  chosen.line = std::move(*line);
  return chosen;
}

bool check_names(const Chosen& chosen, bool may_lack, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  const HierarchyInfo& h = chosen.hierarchy;
  std::vector<std::string> candidates;  // what is given already is not what was meant
  const auto offer = [&](const std::string& name) {
    const auto& inputs = chosen.line.inputs;
    if (!chosen.line.has(name) && std::none_of(inputs.begin(), inputs.end(), [&](const CommandLine::Named& n) { return n.name == name; })) candidates.push_back(name);
  };
  for (const std::string& name : declared_names(h)) offer(name);
  for (const Option& o : options_of(*chosen.line.command)) offer(o.name);
  std::set<std::string> given;
  const std::string list = "`locus explain " + quoted(chosen.line.arguments.front()) + ' ' + h.name + "` lists its names";
  CommandLine repaired = chosen.line;  // all misspelt names at once: each proposal can be pasted as it stands
  for (const CommandLine::Named& n : chosen.line.inputs)
    if (const std::string near = find(h, n.name) ? "" : nearest_name(n.name, candidates); !near.empty()) repaired.words = repaired.renamed(n.name, near);
  for (const CommandLine::Named& n : chosen.line.inputs) {
    if (!find(h, n.name)) {
      const std::string near = nearest_name(n.name, candidates);
      diagnostics.add({Code::E802, {}, h.name + " has no input or setting '" + n.name + "', and there is no option of this name", "", {},
                       near.empty() ? list : "did you mean --" + near + "? write `" + repaired.text() + "`", "--" + n.name});
    } else if (!given.insert(n.name).second) {
      diagnostics.add({Code::E805, {}, "--" + n.name + " is given twice", "", {}, "write `" + chosen.line.text(chosen.line.without_first(n.name)) + "`", "--" + n.name});
    }
  }
  if (diagnostics.errors() != before) return false;
  std::vector<std::string> lacking;
  for (const DeclaredName& d : h.inputs)
    if (!given.count(d.name)) lacking.push_back("--" + d.name + " (" + d.type + ")");
  for (const DeclaredName& d : h.settings)
    if (!given.count(d.name) && d.initial.empty()) lacking.push_back("--" + d.name + (d.type.empty() ? "" : " (" + d.type + ")"));
  if (lacking.empty() || may_lack) return true;
  diagnostics.add({Code::E808, h.span, h.name + " needs " + listed(lacking), "declared here", {}, list, ""});
  return false;
}

std::optional<Data> read_data(const Chosen& chosen, Session& session) {
  Data data;
  Reader reader(chosen, session);
  bool fine = true;
  if (chosen.line.has("alphabet")) {
    data.alphabet = Alphabet::read(chosen.line.value("alphabet"), session.diagnostics);
    if (!data.alphabet) return {};
  }
  for (const CommandLine::Named& given : chosen.line.inputs) fine &= reader.read(given, data);
  if (chosen.line.has("weights")) {
    auto weights = read_weights(chosen.line.value("weights"), session.diagnostics);
    fine &= weights.has_value();
    if (weights) data.request.weights = std::move(*weights);
  }
  for (const std::string& note : reader.notes()) session.note(note);
  if (!fine) return {};
  if (session.common.missing == Missing::drop) drop_rows(chosen, session, data);
  data.request.hierarchy = chosen.hierarchy.name;
  data.request.seed = session.common.seed;
  data.request.status = !session.common.status.empty();
  return data;
}

std::optional<Array> literal(const std::string& text) {
  if (text == "true" || text == "false") {
    Array one(Dtype::boolean, {});
    *one.as<std::uint8_t>() = text == "true";
    return one;
  }
  std::vector<double> numbers;
  bool whole = true;
  for (std::size_t low = 0; low <= text.size();) {
    const std::size_t high = std::min(text.find(',', low), text.size());
    const std::string word = text.substr(low, high - low);
    const auto number = parse_number(word);
    if (!number) return {};
    whole &= parse_integer(word).has_value();
    numbers.push_back(*number);
    low = high + 1;
  }
  const bool scalar = numbers.size() == 1;
  Array array(whole ? Dtype::int64 : Dtype::float64, scalar ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{static_cast<std::int64_t>(numbers.size())});
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (whole) array.as<std::int64_t>()[k] = static_cast<std::int64_t>(numbers[k]);
    else array.as<double>()[k] = numbers[k];
  }
  return array;
}

std::string signature(const HierarchyInfo& h) {
  const auto list = [](const std::vector<DeclaredName>& names) {
    std::string text;
    for (const DeclaredName& d : names) text += (text.empty() ? "" : ", ") + d.name + (d.type.empty() ? "" : ": " + d.type) + (d.initial.empty() ? "" : " = " + d.initial);
    return text;
  };
  std::string text = h.name + "(" + list(h.inputs) + (h.settings.empty() ? "" : "; " + list(h.settings)) + ")";
  if (h.results.size() == 1 && h.results.front().name == "result") return text + " -> " + h.results.front().type;
  return text + " -> (" + list(h.results) + ")";
}

std::vector<std::string> formulas(const Chosen& chosen, const Sources& sources) {
  const std::string_view text = sources.text(chosen.hierarchy.span);
  std::set<std::string> words;
  for (std::size_t k = 0; k < text.size();) {
    std::size_t end = k;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    if (end > k) words.insert(std::string(text.substr(k, end - k)));
    if (end < text.size() && text[end] == '#') end = std::min(text.find('\n', end), text.size());
    k = end + (end == k);
  }
  std::vector<std::string> all;
  for (const KernelInfo& kernel : chosen.spec.kernels())
    if (words.count(kernel.name)) all.push_back(kernel.name + kernel.parameters + " = " + kernel.formula);
  return all;
}

}  // namespace locus::host
