// The options that several commands share, and how their values are read: each wrong value is said with what was expected.
// Must not know what a command does with them.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include "core/data/number.hpp"
#include "host/options.hpp"

namespace locus::host {
namespace {

Diagnostic wrong(const CommandLine& line, const std::string& option, const std::string& expected, const std::string& sample) {
  return {Code::E804, {}, "--" + option + " takes " + expected + ", not '" + line.value(option) + "'", "", {}, "write `" + line.text(line.with_value(option, sample)) + "`", "--" + option};
}

/// 640, 500K, 4G, 1.5T: powers of 1000, and of 1024 with an i behind (4Gi).
std::optional<std::uint64_t> bytes_in(std::string text) {
  double unit = 1;
  if (!text.empty() && (text.back() == 'B' || text.back() == 'b')) text.pop_back();
  double base = 1000;
  if (!text.empty() && text.back() == 'i') base = 1024, text.pop_back();
  if (!text.empty()) {
    const auto at = std::string("KMGT").find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (at != std::string::npos) {
      for (std::size_t k = 0; k <= at; ++k) unit *= base;
      text.pop_back();
    } else if (base == 1024) {
      return {};
    }
  }
  const auto number = parse_number(text);
  if (!number || !(*number > 0) || *number * unit > 1e18) return {};
  return static_cast<std::uint64_t>(*number * unit);
}

std::optional<char> read_delimiter(const CommandLine& line, Diagnostics& diagnostics) {
  const std::string text = line.value("delimiter");
  const auto delimiter = delimiter_in(text);
  if (delimiter) return delimiter;
  const std::string near = text == "\\t" ? "tab" : nearest_name(text, {"comma", "semicolon", "tab", "bar", "space"});
  diagnostics.add(wrong(line, "delimiter", "one character that no number holds, or comma, semicolon, tab, bar or space", near.empty() ? "comma" : near));
  return {};
}

std::uint64_t number_in_file(const char* path, const std::string& key) {
  std::ifstream in(path);
  std::string word;
  if (key.empty()) {
    in >> word;
    return static_cast<std::uint64_t>(parse_integer(word).value_or(0));
  }
  while (in >> word)
    if (word == key) {
      in >> word;
      return static_cast<std::uint64_t>(parse_integer(word).value_or(0));
    }
  return 0;
}

}  // namespace

const std::vector<Option>& common_options() {
  static const std::vector<Option> all = {
      {"backend", "NAME", "what runs it: auto, cpu, reference or another that `locus backends` lists", "auto"},
      {"threads", "N", "threads to use; all that this process may use if not said", "2"},
      {"dtype", "TYPE", "float32 (the default) or float64", "float64"},
      {"seed", "N", "seed of all randomness, 0 if not said", "1"},
      {"memory", "SIZE", "refuse runs that need more: 500M, 4G; 80 % of the free memory if not said", "4G"},
      {"plugin", "PATH", "load this plugin, or all plugins of this folder", "", true},
      {"missing", "POLICY", "missing values: error (the default), drop (leave the row out) or nan", "drop"},
      {"header", "WORD", "first line of tables: auto (the default), yes or no", "auto"},
      {"delimiter", "CHAR", "what parts the cells of tables: one character, or comma, semicolon, tab, bar or space; found if not said", "comma"},
      {"status", "FILE", "write a table with mass, effective number and count of samples for each query"},
      {"quiet", "", "messages of errors only"},
      {"verbose", "", "say more of what is done", "", false, 'v'},
      {"help", "", "show this page", "", false, 'h'},
  };
  return all;
}

Option both_types() { return {"dtype", "TYPE", "float32, float64 or both (the default)", "both"}; }

std::optional<std::uint64_t> read_count(const CommandLine& line, const std::string& option, std::uint64_t least, std::uint64_t otherwise, Diagnostics& diagnostics) {
  if (!line.has(option)) return otherwise;
  const std::string text = line.value(option);
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault == std::errc() && end == text.data() + text.size() && number >= least) return number;
  const bool large = fault == std::errc::result_out_of_range;
  diagnostics.add(wrong(line, option, large ? "a whole number below 18446744073709551616" : "a whole number from " + std::to_string(least) + " on", std::to_string(std::max<std::uint64_t>(least, 1))));
  return {};
}

std::optional<std::size_t> read_choice(const CommandLine& line, const std::string& option, const std::vector<std::string>& words, std::size_t otherwise,
                                       Diagnostics& diagnostics) {
  if (!line.has(option)) return otherwise;
  const auto at = std::find(words.begin(), words.end(), line.value(option));
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  std::string expected;
  for (std::size_t k = 0; k < words.size(); ++k) expected += (k == 0 ? "" : k + 1 == words.size() ? " or " : ", ") + words[k];
  const std::string near = nearest_name(line.value(option), words);
  diagnostics.add(wrong(line, option, expected, near.empty() ? words.front() : near));
  return {};
}

std::optional<Common> read_common(const CommandLine& line, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  Common common;
  common.backend = line.value("backend", "auto");
  common.threads = static_cast<unsigned>(read_count(line, "threads", 1, 0, diagnostics).value_or(0));
  if (common.threads > 4096) diagnostics.add(wrong(line, "threads", "a whole number from 1 to 4096", "2"));
  const bool both = line.command && line.command->both;
  std::vector<std::string> types{"float32", "float64"};
  if (both) types.push_back("both");
  const std::size_t type = read_choice(line, "dtype", types, both ? 2 : 0, diagnostics).value_or(0);
  common.dtype = type == 0 ? Dtype::float32 : Dtype::float64;
  common.dtypes = type == 2 ? std::vector{Dtype::float32, Dtype::float64} : std::vector{common.dtype};
  common.seed = read_count(line, "seed", 0, 0, diagnostics).value_or(0);
  if (line.has("memory")) {
    const auto bytes = bytes_in(line.value("memory"));
    if (!bytes) diagnostics.add(wrong(line, "memory", "a size such as 500M or 4G", "4G"));
    common.memory = bytes.value_or(0);
  } else {
    common.memory = default_memory();
  }
  common.plugins = line.all("plugin");
  common.missing = std::vector{Missing::refuse, Missing::drop, Missing::nan}[read_choice(line, "missing", {"error", "drop", "nan"}, 0, diagnostics).value_or(0)];
  common.header = std::vector{Header::automatic, Header::yes, Header::no}[read_choice(line, "header", {"auto", "yes", "no"}, 0, diagnostics).value_or(0)];
  if (line.has("delimiter")) common.delimiter = read_delimiter(line, diagnostics);
  common.status = line.value("status");
  common.quiet = line.has("quiet");
  common.verbose = line.has("verbose");
  if (diagnostics.errors() != before) return {};
  return common;
}

std::uint64_t default_memory() {
  std::uint64_t left = number_in_file("/proc/meminfo", "MemAvailable:") * 1024;
  const std::uint64_t limit = number_in_file("/sys/fs/cgroup/memory.max", ""), used = number_in_file("/sys/fs/cgroup/memory.current", "");
  if (limit > used && (left == 0 || limit - used < left)) left = limit - used;
  return left / 10 * 8;
}

}  // namespace locus::host
