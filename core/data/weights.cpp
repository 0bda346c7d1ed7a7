// Weights from a .npz archive or a folder of .npy files, and the choice among the three forms.
// Must not know of the parameters they are given to. Faults are collected: one run lists them all.
#include "core/data/weights.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/data/file.hpp"
#include "core/data/npy.hpp"
#include "core/data/zip.hpp"

namespace locus {
namespace {

constexpr std::string_view npy_end = ".npy";

bool ends_with_npy(const std::string& name) { return name.size() > npy_end.size() && name.compare(name.size() - npy_end.size(), npy_end.size(), npy_end) == 0; }

std::string stem(const std::string& name) { return name.substr(0, name.size() - npy_end.size()); }

std::optional<Weights> read_folder(const std::string& path, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (ends_with_npy(name)) names.push_back(name);
  }
  if (error) return diagnostics.add({Code::E401, {}, "cannot open " + path + ": " + error.message(), {}, {}, {}, {}}), std::nullopt;
  std::sort(names.begin(), names.end());
  Weights weights;
  for (const std::string& name : names) {
    std::optional<Array> array = read_npy_file((std::filesystem::path(path) / name).string(), diagnostics);
    if (array) weights.emplace(stem(name), std::move(*array));
  }
  if (names.empty()) diagnostics.add({Code::E402, {}, "the folder holds no .npy file, one for each array was expected", {}, {}, {}, path});
  if (diagnostics.errors() > before) return std::nullopt;
  return weights;
}

}  // namespace

std::optional<Weights> read_npz(std::string_view bytes, const std::string& name, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  std::string fault;
  const auto entries = list_zip(bytes, fault);
  if (!entries) return diagnostics.add({Code::E440, {}, "the archive cannot be read: " + fault, {}, {}, {}, name}), std::nullopt;
  Weights weights;
  for (const ZipEntry& entry : *entries) {
    const auto broken = [&](const std::string& what) { diagnostics.add({Code::E441, {}, "'" + entry.name + "': " + what, {}, {}, {}, name}); };
    if (!ends_with_npy(entry.name)) {
      broken("it is not a .npy file");
      continue;
    }
    const std::optional<std::string> file = unpack(bytes, entry, fault);
    if (!file) {
      broken(fault);
      continue;
    }
    std::optional<Array> array = read_npy(*file, name + ":" + entry.name, diagnostics);
    if (array && !weights.emplace(stem(entry.name), std::move(*array)).second) broken("the name stands twice");
  }
  if (diagnostics.errors() > before) return std::nullopt;
  return weights;
}

std::optional<Weights> read_weights(const std::string& path, Diagnostics& diagnostics) {
  std::error_code ignored;  // what cannot be looked at is not a folder; opening it then says why
  if (std::filesystem::is_directory(path, ignored)) return read_folder(path, diagnostics);
  const std::optional<std::string> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  const std::string name = shown_name(path);
  if (bytes->compare(0, 2, "PK") == 0) return read_npz(*bytes, name, diagnostics);
  if (is_npy(*bytes)) {
    diagnostics.add({Code::E402, {}, "the file is one .npy array without a name, named arrays were expected", {}, {},
                     "name it: `numpy.savez('weights.npz', name=array)`", name});
    return std::nullopt;
  }
  return read_safetensors(*bytes, name, diagnostics);
}

}  // namespace locus
