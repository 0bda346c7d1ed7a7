// Inputs as the user writes them: a path, and after a colon columns of a table. The kind of a file is told by its bytes.
// Must not know of the inputs of a model.
#include "core/data/input.hpp"

#include <filesystem>

#include "core/data/file.hpp"
#include "core/data/npy.hpp"

namespace locus {
namespace {

/// The name of a format that cannot be an input, told by its first bytes; empty for others.
std::string foreign_kind(std::string_view bytes) {
  static constexpr std::pair<std::string_view, const char*> marks[] = {
      {"PK\x03\x04", "a zip archive (.npz, .xlsx, …)"}, {"\x1f\x8b", "compressed by gzip"}, {"\x89HDF", "HDF5"}, {"\x89PNG", "a PNG image"},
      {"PAR1", "Parquet"}, {"%PDF", "PDF"}, {"\x80\x04\x95", "a Python pickle"}};
  for (const auto& [mark, kind] : marks)
    if (bytes.substr(0, mark.size()) == mark) return kind;
  return {};
}

}  // namespace

Inputs::Choice Inputs::split(const std::string& text) {
  std::error_code ignored;  // a path that cannot be looked at does not exist for this question
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || std::filesystem::exists(text, ignored)) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

const Inputs::File& Inputs::open(const std::string& path, Diagnostics& diagnostics) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  File& file = files_[path];
  const std::optional<std::string> bytes = read_file(path, diagnostics);
  if (!bytes) return file;
  if (is_npy(*bytes)) {
    file.array = read_npy(*bytes, shown_name(path), diagnostics);
  } else if (const std::string kind = foreign_kind(*bytes); !kind.empty()) {
    diagnostics.add({Code::E402, {}, "the file is " + kind + ", a .npy file or a table in text was expected", {}, {}, {}, shown_name(path)});
  } else {
    file.table = read_csv(*bytes, shown_name(path), options_, diagnostics);
  }
  return file;
}

/// The names between commas; a name that itself holds a comma is found whole first.
std::vector<std::string> Inputs::names_in(const Table& table, const std::string& columns) {
  for (const Column& column : table.columns)
    if (column.name == columns) return {columns};
  std::vector<std::string> names;
  std::size_t start = 0;
  for (std::size_t comma = 0; comma != std::string::npos; start = comma + 1) {
    comma = columns.find(',', start);
    names.push_back(columns.substr(start, comma == std::string::npos ? comma : comma - start));
  }
  return names;
}

std::optional<Input> Inputs::read(const std::string& text, Diagnostics& diagnostics) {
  const Choice choice = split(text);
  const File& file = open(choice.path, diagnostics);
  if (file.array && choice.columns) {
    diagnostics.add({Code::E416, {}, "a .npy file has no columns to name, found ':" + *choice.columns + "'", {}, {}, "`" + choice.path + "`",
                     shown_name(choice.path)});
    return std::nullopt;
  }
  if (file.array) return Input{*file.array, {shown_name(choice.path), {}}};
  if (!file.table) return std::nullopt;
  const std::size_t before = diagnostics.errors();
  const std::vector<std::string> names = choice.columns ? names_in(*file.table, *choice.columns) : number_columns(*file.table, diagnostics);
  if (diagnostics.errors() > before) return std::nullopt;
  std::optional<Array> array = select(*file.table, names, policy_, diagnostics);
  if (!array) return std::nullopt;
  return Input{std::move(*array), {file.table->name, names}};
}

std::optional<Labels> Inputs::read_labels(const std::string& text, Diagnostics& diagnostics) {
  const Choice choice = split(text);
  const File& file = open(choice.path, diagnostics);
  if (!file.array && !file.table) return std::nullopt;
  const bool one = file.table && (choice.columns || file.table->columns.size() == 1);
  if (!one) {
    diagnostics.add({Code::E416, {}, "labels come from one column of a table", {}, {}, "name it after a colon, as in `table.csv:kind`", shown_name(choice.path)});
    return std::nullopt;
  }
  return select_labels(*file.table, choice.columns ? *choice.columns : file.table->columns[0].name, policy_, diagnostics);
}

std::vector<std::string> Inputs::notes() const {
  std::vector<std::string> lines;
  for (const auto& [path, file] : files_) {
    if (!file.table) continue;
    std::string line = file.table->name + ": ";
    for (std::size_t i = 0; i < file.table->notes.size(); ++i) line += (i > 0 ? ", " : "") + file.table->notes[i];
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace locus
