// The command line: options in any order, `--name value` and `--name=value`, nothing abbreviated, nothing ignored.
// Must not know what a command does with its options. The only user of Boost.Program_options.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"
#include "core/data/csv.hpp"
#include "core/data/door.hpp"
#include "host/command.hpp"

namespace locus::host {

class CommandLine {
 public:
  struct Named {
    std::string name, value;
  };

  const Command* command = nullptr;
  std::vector<std::string> words;      ///< all that stood behind `locus COMMAND`, as given
  std::vector<std::string> arguments;  ///< what stands beside the options
  std::vector<Named> inputs;           ///< names that are no options, in order (open commands only)

  bool has(const std::string& option) const { return values_.count(option) != 0; }
  std::string value(const std::string& option, const std::string& otherwise = "") const;
  const std::vector<std::string>& all(const std::string& option) const;

  /// `locus COMMAND words...`, quoted for a shell.
  std::string text() const { return text(words); }
  std::string text(const std::vector<std::string>& other) const;
  /// The words with the option `--from` renamed; with its value replaced; with words added.
  std::vector<std::string> renamed(const std::string& from, const std::string& to) const;
  std::vector<std::string> with_value(const std::string& option, const std::string& value) const;
  /// The words without the first `--option` and its value.
  std::vector<std::string> without_first(const std::string& option) const;

 private:
  friend std::optional<CommandLine> parse(const Command&, const std::vector<std::string>&, const std::set<std::string>&, Diagnostics&);
  std::map<std::string, std::vector<std::string>> values_;
};

/// Names in `declared` are inputs even where an option has the same name: then the option is written --locus-NAME.
/// Nothing after a mistake (E802, E803, E805, E806).
std::optional<CommandLine> parse(const Command& command, const std::vector<std::string>& words, const std::set<std::string>& declared, Diagnostics& diagnostics);

/// Options that several commands share.
const std::vector<Option>& common_options();
/// --dtype of a command with `both`.
Option both_types();
/// All options that the command takes: its own, then the shared ones.
std::vector<Option> options_of(const Command& command);

/// The shared options' values.
struct Common {
  std::string backend = "auto";
  unsigned threads = 0;  ///< 0: as many as the machine lets this process use
  Dtype dtype = Dtype::float32;
  std::vector<Dtype> dtypes;  ///< both, in commands that run in both if nothing is said; else `dtype` alone
  std::uint64_t seed = 0;
  std::uint64_t memory = 0;
  std::vector<std::string> plugins;
  Missing missing = Missing::refuse;
  Header header = Header::automatic;
  std::optional<char> delimiter;
  std::string status;
  bool quiet = false, verbose = false;
};
/// E804 for each value that is not what its option takes.
std::optional<Common> read_common(const CommandLine& line, Diagnostics& diagnostics);

/// A whole number of the option, at least `least`; `otherwise` where the option is not given. E804.
std::optional<std::uint64_t> read_count(const CommandLine& line, const std::string& option, std::uint64_t least, std::uint64_t otherwise, Diagnostics& diagnostics);
/// One of the words; E804 names the nearest.
std::optional<std::size_t> read_choice(const CommandLine& line, const std::string& option, const std::vector<std::string>& words, std::size_t otherwise,
                                       Diagnostics& diagnostics);

/// Quoted for a POSIX shell where it must be.
std::string quoted(const std::string& word);

/// Bytes that a run may take if nothing is said: 80 % of what the machine and this process's control group have left.
std::uint64_t default_memory();

}  // namespace locus::host
