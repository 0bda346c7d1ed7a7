// Where results go: files as asked for with -o and --out, or a short view on standard output.
// Must not know how they came about.
#include "host/results.hpp"
#include <algorithm>
#include <filesystem>
#include <iostream>

namespace locus::host {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t shown_rows = 8;

const Kept* kept_of(const ResultInfo& info, const Data& data) {
  if (info.axes.empty()) return nullptr;
  const auto at = data.kept.find(info.axes.front());
  return at == data.kept.end() ? nullptr : &at->second;
}

bool write_one(const std::string& path, const Result& result, const ResultInfo& info, const Data& data, Session& session) {
  const Kept* kept = kept_of(info, data);
  const bool npy = path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0;
  Result written = result;
  std::optional<Kept> table;
  if (kept && npy) written.array = spread_rows(result.array, kept->rows, kept->total);
  else if (kept) table = *kept;
  if (!write_results(path, std::span(&written, 1), table, session.diagnostics)) return false;
  if (!session.common.quiet && path != "-") std::cerr << result.name << ' ' << shape_text(written.array.shape()) << ": " << path << '\n';
  return true;
}

bool make_folder(const std::string& folder, Session& session) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (!fault) return true;
  session.diagnostics.add({Code::E430, {}, "the folder cannot be made: " + fault.message(), "", {}, "choose another folder behind --out", folder});
  return false;
}

}  // namespace

std::optional<Destination> read_destination(const Chosen& chosen, Diagnostics& diagnostics) {
  Destination destination;
  std::vector<std::string> names;
  for (const DeclaredName& d : chosen.hierarchy.results) names.push_back(d.name);
  for (const std::string& text : chosen.line.all("output")) {
    const auto at = text.find('=');
    const std::string name = at == std::string::npos ? "" : text.substr(0, at);
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) {
      destination.targets.push_back({name, at == std::string::npos ? text : text.substr(at + 1)});
      continue;
    }
    const std::string near = nearest_name(name, names);
    const std::string right = (near.empty() ? names.front() : near) + text.substr(at);
    std::vector<std::string> words = chosen.line.words;
    for (std::string& word : words)
      if (word.size() >= text.size() && word.compare(word.size() - text.size(), text.size(), text) == 0) word.replace(word.size() - text.size(), text.size(), right);
    diagnostics.add({Code::E809, {}, chosen.hierarchy.name + " returns no '" + name + "'", "", {}, "write `" + chosen.line.text(words) + "`", "-o"});
    return {};
  }
  destination.folder = chosen.line.value("out");
  const auto format = read_choice(chosen.line, "format", {"npy", "csv"}, 0, diagnostics);
  if (!format) return {};
  destination.format = *format == 0 ? "npy" : "csv";
  return destination;
}

bool write_outcome(const Outcome& outcome, const Destination& destination, const Data& data, Session& session) {
  bool fine = true;
  for (const Target& target : destination.targets) {
    std::size_t k = 0;
    while (!target.name.empty() && outcome.results[k].name != target.name) ++k;
    fine &= write_one(target.path, outcome.results[k], outcome.infos[k], data, session);
  }
  if (!destination.folder.empty()) {
    if (!make_folder(destination.folder, session)) return false;
    for (std::size_t k = 0; k < outcome.results.size(); ++k)
      fine &= write_one((fs::path(destination.folder) / (outcome.results[k].name + "." + destination.format)).string(), outcome.results[k], outcome.infos[k], data, session);
  }
  if (!session.common.status.empty()) fine &= write_results(session.common.status, outcome.status, {}, session.diagnostics);
  if (!destination.targets.empty() || !destination.folder.empty()) return fine;
  for (const Result& result : outcome.results) {
    const bool text = data.alphabet && result.array.dtype() == Dtype::int64 && result.array.shape().size() == 1;
    std::cout << (text ? result.name + " " + shape_text(result.array.shape()) + "\n  " + data.alphabet->text(result.array) + "\n" : view(result, shown_rows));
  }
  session.note("nothing is written: `-o FILE` keeps the first result, `--out DIR` all of them");
  return fine;
}

std::string view(const Result& result, std::int64_t rows) {
  const auto& shape = result.array.shape();
  if (shape.empty()) return result.name + " = " + number_text(result.array, 0) + '\n';
  std::string text = result.name + ' ' + shape_text(shape) + '\n';
  std::int64_t columns = 1;
  for (std::size_t k = 1; k < shape.size(); ++k) columns *= shape[k];
  for (std::int64_t row = 0; row < std::min(rows, shape.front()); ++row) {
    text += ' ';
    for (std::int64_t column = 0; column < std::min(columns, shown_rows); ++column) text += ' ' + number_text(result.array, row * columns + column);
    text += columns > shown_rows ? " ...\n" : "\n";
  }
  if (shape.front() > rows) text += "  ...\n";
  return text;
}

}  // namespace locus::host
