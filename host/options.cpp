// The command line: options in any order, `--name value` and `--name=value`, nothing abbreviated, nothing ignored.
// Must not know what a command does with its options. The only user of Boost.Program_options.
#include "host/options.hpp"
#include <algorithm>
#include <cctype>
#include <boost/program_options.hpp>

namespace locus::host {
namespace {

namespace po = boost::program_options;

/// Arguments get this key: no name on the command line can be equal to it.
constexpr const char* argument_key = " argument";
/// Reaches an option whose name the spec has taken for an input.
const std::string always = "locus-";

std::string name_in(const std::string& word) {
  const auto end = word.find('=');
  return word.substr(2, end == std::string::npos ? end : end - 2);
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80; });
}

const Option* find(const std::vector<Option>& options, const std::string& name) {
  const auto at = std::find_if(options.begin(), options.end(), [&](const Option& o) { return name == o.name; });
  return at == options.end() ? nullptr : &*at;
}

bool is_long(const std::string& word) { return word.size() > 2 && word.compare(0, 2, "--") == 0 && std::isalpha(static_cast<unsigned char>(word[2])); }

bool is_switch(const std::vector<Option>& options, const std::string& name) {
  const Option* option = find(options, name);
  return option && !*option->value;
}

/// Nothing that could be a value stands behind words[k]. Boost would take the next option for it.
bool stands_alone(const std::vector<std::string>& words, std::size_t k) { return k + 1 == words.size() || is_long(words[k + 1]); }

/// Boost's parser for this command. Unknown names are taken as options, with a value if one follows, so that their mistake can be said in our words.
po::parsed_options read_words(const std::vector<Option>& options, const std::set<std::string>& declared, const std::vector<std::string>& words) {
  po::options_description known;
  std::set<std::string> names;
  const auto add = [&](const std::string& name, char letter, bool flag) {
    if (!names.insert(name).second) return;
    const std::string spelling = letter ? name + ',' + letter : name;
    if (flag) known.add_options()(spelling.c_str(), "");
    else known.add_options()(spelling.c_str(), po::value<std::vector<std::string>>(), "");
  };
  for (const Option& o : options) {
    if (!declared.count(o.name)) add(o.name, o.letter, !*o.value);
    else if (o.letter) add(std::string(1, o.letter), o.letter, !*o.value);
    add(always + o.name, 0, !*o.value);
  }
  for (std::size_t k = 0; k < words.size() && words[k] != "--"; ++k)
    if (is_long(words[k]) && is_name(name_in(words[k]))) add(name_in(words[k]), 0, words[k].find('=') == std::string::npos && stands_alone(words, k));
  known.add_options()(argument_key, po::value<std::vector<std::string>>(), "");
  po::positional_options_description positions;
  positions.add(argument_key, -1);
  namespace style = po::command_line_style;
  return po::command_line_parser(words).options(known).positional(positions)
      .style(style::allow_long | style::allow_short | style::allow_dash_for_short | style::long_allow_adjacent | style::long_allow_next |
             style::short_allow_adjacent | style::short_allow_next)
      .run();
}

Diagnostic message(Code code, const std::string& text, const std::string& help, const std::string& where = "") { return {code, {}, text, "", {}, help, where}; }

std::string help_for(const Command& command) { return "`locus help " + std::string(command.name) + "` lists what it takes"; }

/// Says what Boost has found wrong. `name` is the option as written, with its dashes.
Diagnostic broken(const Command& command, const CommandLine& line, const std::vector<Option>& options, const std::string& name, bool extra) {
  const std::string bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  const Option* option = find(options, bare.compare(0, always.size(), always) == 0 ? bare.substr(always.size()) : bare);
  for (const Option& o : options)
    if (!option && o.letter && bare == std::string(1, o.letter)) option = &o;
  if (extra) {
    std::vector<std::string> words = line.words;
    for (std::string& word : words)
      if (word.compare(0, name.size() + 1, name + "=") == 0) word = name;
    return message(Code::E803, name + " is a switch and takes no value", "write `" + line.text(words) + "`", name);
  }
  if (!option || !*option->value) return message(Code::E803, name + " lacks its value", help_for(command), name);
  std::vector<std::string> words = line.words;
  for (std::size_t k = 0; k < words.size(); ++k)
    if (words[k] == name) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(k) + 1, option->sample);
      break;
    }
  return message(Code::E803, name + " lacks its value " + option->value, *option->sample ? "write `" + line.text(words) + "`" : help_for(command), name);
}

/// The first option or declared input, as written, behind which its value is missing; "" if all have one.
std::string lacking_value(const std::vector<Option>& options, const std::set<std::string>& declared, const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size() && words[k] != "--"; ++k) {
    if (!stands_alone(words, k) || words[k].find('=') != std::string::npos) continue;
    if (is_long(words[k])) {
      std::string name = name_in(words[k]);
      if (declared.count(name)) return words[k];
      if (name.compare(0, always.size(), always) == 0) name = name.substr(always.size());
      const Option* option = find(options, name);
      if (option && *option->value) return words[k];
    }
    for (const Option& o : options)
      if (o.letter && *o.value && words[k] == std::string{'-', o.letter}) return words[k];
  }
  return "";
}

Diagnostic unknown(const Command& command, const CommandLine& line, const std::string& name, const std::vector<std::string>& candidates) {
  const std::string near = nearest_name(name, candidates);
  const std::string text = "`locus " + std::string(command.name) + "` has no option --" + name;
  if (near.empty()) return message(Code::E802, text, help_for(command), "--" + name);
  return message(Code::E802, text, "did you mean --" + near + "? write `" + line.text(line.renamed(name, near)) + "`", "--" + name);
}

/// -quiet, -z: Boost names the first letter only, the user has written the whole word.
Diagnostic one_dash(const Command& command, const CommandLine& line, const std::string& name, const std::vector<std::string>& candidates) {
  const auto at = std::find_if(line.words.begin(), line.words.end(), [&](const std::string& word) { return word.compare(0, name.size(), name) == 0; });
  const std::string written = at == line.words.end() ? name : *at;
  const std::string text = "`locus " + std::string(command.name) + "` has no option " + written;
  const std::string bare = written.substr(std::min(written.find_first_not_of('-'), written.size()));
  const std::string near = std::find(candidates.begin(), candidates.end(), bare) != candidates.end() ? bare : nearest_name(bare, candidates);
  if (near.empty() || at == line.words.end()) return message(Code::E802, text, help_for(command), written);
  std::vector<std::string> words = line.words;
  words[static_cast<std::size_t>(at - line.words.begin())] = "--" + near;
  return message(Code::E802, text, "did you mean --" + near + "? write `" + line.text(words) + "`", written);
}

}  // namespace

std::string CommandLine::value(const std::string& option, const std::string& otherwise) const {
  const auto at = values_.find(option);
  return at == values_.end() || at->second.empty() ? otherwise : at->second.back();
}

const std::vector<std::string>& CommandLine::all(const std::string& option) const {
  static const std::vector<std::string> none;
  const auto at = values_.find(option);
  return at == values_.end() ? none : at->second;
}

std::string CommandLine::text(const std::vector<std::string>& other) const {
  std::string all = "locus " + std::string(command->name);
  for (const std::string& word : other) all += ' ' + quoted(word);
  return all;
}

std::vector<std::string> CommandLine::renamed(const std::string& from, const std::string& to) const {
  std::vector<std::string> changed = words;
  for (std::string& word : changed)
    if (word.compare(0, 2, "--") == 0 && name_in(word) == from) word.replace(2, from.size(), to);
  return changed;
}

std::vector<std::string> CommandLine::with_value(const std::string& option, const std::string& value) const {
  std::vector<std::string> changed = words;
  const std::string name = "--" + option;
  for (std::size_t k = 0; k < changed.size(); ++k) {
    if (changed[k].compare(0, name.size() + 1, name + "=") == 0) changed[k] = name + "=" + value;
    else if (changed[k] == name && k + 1 < changed.size()) changed[++k] = value;
  }
  return changed;
}

std::vector<std::string> CommandLine::without_first(const std::string& option) const {
  std::vector<std::string> left = words;
  for (auto at = left.begin(); at != left.end(); ++at) {
    if (!is_long(*at) || name_in(*at) != option) continue;
    at = left.erase(at, at + (at->find('=') == std::string::npos && at + 1 != left.end() ? 2 : 1));
    break;
  }
  return left;
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> all = command.options;
  for (const char* name : command.shared) all.push_back(*find(common_options(), name));
  all.push_back(*find(common_options(), "help"));
  return all;
}

std::optional<CommandLine> parse(const Command& command, const std::vector<std::string>& words, const std::set<std::string>& declared, Diagnostics& diagnostics) {
  CommandLine line;
  line.command = &command;
  line.words = words;
  const std::vector<Option> options = options_of(command);
  std::vector<std::string> candidates;
  for (const Option& o : options) candidates.push_back(o.name);
  const std::size_t before = diagnostics.errors();
  if (const std::string name = lacking_value(options, declared, words); !name.empty()) {
    diagnostics.add(broken(command, line, options, name, false));
    return {};
  }
  std::optional<po::parsed_options> parsed;
  try {
    parsed = read_words(options, declared, words);
  } catch (const po::invalid_command_line_syntax& e) {
    diagnostics.add(broken(command, line, options, e.get_option_name(), e.kind() == po::invalid_syntax::extra_parameter));
    return {};
  } catch (const po::unknown_option& e) {
    diagnostics.add(one_dash(command, line, e.get_option_name(), candidates));
    return {};
  } catch (const po::error& e) {
    diagnostics.add(message(Code::E802, e.what(), help_for(command)));
    return {};
  }
  for (const auto& o : parsed->options) {
    const std::string value = o.value.empty() ? "" : o.value.front();
    std::string name = o.string_key;
    if (name == argument_key) {
      line.arguments.insert(line.arguments.end(), o.value.begin(), o.value.end());
      continue;
    }
    const bool whole = !o.original_tokens.empty() && o.original_tokens.front().compare(0, 2, "--") == 0;  // --h may be a bandwidth; -h is help
    for (const Option& each : options)
      if (!whole && each.letter && name == std::string(1, each.letter)) name = always + each.name;
    const bool sure = name.compare(0, always.size(), always) == 0;
    const Option* option = find(options, sure ? name.substr(always.size()) : name);
    if (option && (sure || !declared.count(name))) {
      auto& values = line.values_[option->name];
      if (!values.empty() && !option->many && *option->value)
        diagnostics.add(message(Code::E805, "--" + name + " is given twice: " + values.front() + " and " + value, "write `" + line.text(line.without_first(name)) + "`", "--" + name));
      values.push_back(value);
    } else if (command.open && !sure && !(o.value.empty() && is_switch(options, nearest_name(name, candidates)))) {
      line.inputs.push_back({name, value});
    } else {
      diagnostics.add(unknown(command, line, name, candidates));
    }
  }
  if (diagnostics.errors() != before) return {};
  if (line.has("help")) return line;
  if (line.arguments.size() < command.least || line.arguments.size() > command.most) {
    const bool few = line.arguments.size() < command.least;
    for (const CommandLine::Named& n : line.inputs) {  // a misspelt switch has taken an argument for its value
      if (few && is_switch(options, nearest_name(n.name, candidates))) return diagnostics.add(unknown(command, line, n.name, candidates)), std::nullopt;
    }
    diagnostics.add(message(Code::E806, few ? "`locus " + std::string(command.name) + "` needs " + command.usage
                                            : "there is one argument too many: " + line.arguments[command.most], help_for(command)));
    return {};
  }
  return line;
}

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) || std::string_view("_-./:,=+@%").find(static_cast<char>(c)) != std::string_view::npos; });
  if (plain) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace locus::host
