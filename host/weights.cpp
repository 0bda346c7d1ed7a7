// `locus weights FILE`: what a file of weights holds, and what a map makes of it.
// Must not know what a spec declares.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include "core/run/budget.hpp"
#include "host/parameters.hpp"
#include "host/session.hpp"

namespace locus::host {
namespace {

struct Row {
  std::string name, type;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
  std::string source;  ///< with a map: where it comes from
};

std::uint64_t entries(const Row& row) {
  std::uint64_t count = 1;
  for (const std::int64_t size : row.shape) count *= static_cast<std::uint64_t>(size);
  return count;
}

std::optional<std::vector<Row>> rows_of(const CommandLine& line, Session& session, std::vector<std::string>& unused) {
  const std::string& file = line.arguments.front();
  const auto map = line.has("map") ? load_map(line.value("map"), session.sources, session.diagnostics) : std::nullopt;
  const auto weights = open_weights(file, session.diagnostics);
  if (session.diagnostics.failed()) return {};
  std::vector<Row> rows;
  if (!map) {
    for (const auto& [name, array] : *weights) rows.push_back({name, array.type, array.shape, array.bytes, ""});
    return rows;
  }
  auto mapped = apply(*map, *weights, file, session.diagnostics);
  if (!mapped) return {};
  for (const auto& [path, m] : mapped->arrays) rows.push_back({path, m.array.type, m.array.shape, m.array.bytes, m.source});
  unused = std::move(mapped->unused);
  return rows;
}

void print_table(const std::vector<Row>& rows) {
  std::size_t name = 0, type = 0, shape = 0;
  for (const Row& r : rows) name = std::max(name, r.name.size()), type = std::max(type, r.type.size()), shape = std::max(shape, shape_text(r.shape).size());
  const auto cell = [](std::string text, std::size_t width) { return text.resize(std::max(text.size(), width), ' '), text; };
  std::uint64_t numbers = 0, bytes = 0;
  for (const Row& r : rows) {
    std::cout << cell(r.name, name) << "  " << cell(r.type, type) << "  " << cell(shape_text(r.shape), shape) << "  " << entries(r) << (r.source.empty() ? "" : "  = " + r.source) << '\n';
    numbers += entries(r), bytes += r.bytes;
  }
  std::cout << rows.size() << (rows.size() == 1 ? " array, " : " arrays, ") << numbers << " numbers, " << size_text(bytes) << '\n';
}

void write_json(const std::vector<Row>& rows, const std::vector<std::string>& unused, const std::string& path, Session& session) {
  nlohmann::json all{{"arrays", nlohmann::json::array()}, {"numbers", 0}, {"bytes", 0}, {"unused", unused}};
  std::uint64_t numbers = 0, bytes = 0;
  for (const Row& r : rows) {
    nlohmann::json one{{"name", r.name}, {"type", r.type}, {"shape", r.shape}, {"numbers", entries(r)}, {"bytes", r.bytes}};
    if (!r.source.empty()) one["source"] = r.source;
    all["arrays"].push_back(std::move(one));
    numbers += entries(r), bytes += r.bytes;
  }
  all["numbers"] = numbers, all["bytes"] = bytes;
  std::ofstream out(path);
  out << all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  if (!out.flush()) session.diagnostics.add({Code::E430, {}, "cannot write '" + path + "'", "", {}, "name a file in a folder that can be written: `--json weights.json`", "--json"});
}

int run_weights(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  std::vector<std::string> unused;
  const auto rows = rows_of(line, session, unused);
  if (!rows) return session.finish();
  print_table(*rows);
  for (const std::string& name : unused) std::cout << "not used: " << name << '\n';
  if (line.has("json")) write_json(*rows, unused, line.value("json"), session);
  return session.finish();
}

}  // namespace

Command weights_command() {
  return {"weights", "FILE [--map MAPFILE] [--json FILE]", "what a file of weights holds",
          "Each array of a .safetensors file, a .npz archive or a folder of .npy files: its name, the type of its numbers as stored, its shape and how many they are.\n"
          "With a map: each parameter that the map gives, where it comes from, and the arrays that are not used.", 1, 1,
          {{"map", "MAPFILE", "which array is which parameter, as for --weights-map of `locus run`"}, {"json", "FILE", "write the list for a script", "weights.json"}},
          {"quiet", "verbose"}, false, run_weights};
}

}  // namespace locus::host
