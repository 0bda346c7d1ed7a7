// Weights from a .npz archive or a folder of .npy files, and the choice among the three forms.
// Must not know of the parameters they are given to. Faults are collected: one run lists them all.
#include "core/data/weights.hpp"

#include <algorithm>
#include <cmath>
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

StoredArray stored_array(const NpyFrame& frame, ReadArray read) {
  return {frame.descr, dtype_of(frame.kind), frame.shape, frame.data.size(), std::move(read)};
}

std::optional<Weights> open_folder(const std::string& path, Diagnostics& diagnostics) {
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
    const std::string whole = (std::filesystem::path(path) / name).string();
    const std::optional<FileBytes> file = map_file(whole, diagnostics);
    std::optional<NpyFrame> frame = file ? frame_npy(file->view, whole, diagnostics) : std::nullopt;
    if (frame) weights.emplace(stem(name), stored_array(*frame, [file = *file, frame = *frame, whole](Diagnostics& d) {
      auto array = decode(frame.data, frame.kind, frame.layout, frame.shape, whole, d);
      file.forget(frame.data);
      return array;
    }));
  }
  if (names.empty()) diagnostics.add({Code::E402, {}, "the folder holds no .npy file, one for each array was expected", {}, {}, {}, path});
  if (diagnostics.errors() > before) return std::nullopt;
  return weights;
}

}  // namespace

std::optional<Weights> open_npz(const FileBytes& file, const std::string& name, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors();
  std::string fault;
  const auto entries = list_zip(file.view, fault);
  if (!entries) return diagnostics.add({Code::E440, {}, "the archive cannot be read: " + fault, {}, {}, {}, name}), std::nullopt;
  Weights weights;
  for (const ZipEntry& entry : *entries) {
    const auto broken = [&](const std::string& what) { diagnostics.add({Code::E441, {}, "'" + entry.name + "': " + what, {}, {}, {}, name}); };
    if (!ends_with_npy(entry.name)) {
      broken("it is not a .npy file");
      continue;
    }
    const std::optional<std::string> bytes = unpack(file.view, entry, fault);  // to verify it; unpacked again when it is read, so that one array at a time is held
    if (!bytes) {
      broken(fault);
      continue;
    }
    const std::string whole = name + ":" + entry.name;
    const std::optional<NpyFrame> frame = frame_npy(*bytes, whole, diagnostics);
    if (!frame) continue;
    auto read = [file, entry, name, whole](Diagnostics& d) -> std::optional<Array> {
      std::string changed;
      const auto again = unpack(file.view, entry, changed);
      if (!again) return d.add({Code::E441, {}, "'" + entry.name + "': " + changed, {}, {}, {}, name}), std::nullopt;
      return read_npy(*again, whole, d);
    };
    if (!weights.emplace(stem(entry.name), stored_array(*frame, std::move(read))).second) broken("the name stands twice");
  }
  if (diagnostics.errors() > before) return std::nullopt;
  return weights;
}

bool check_weight(const Array& array, const std::string& name, const std::string& file, Diagnostics& diagnostics) {
  if (array.dtype() == Dtype::int64 || array.dtype() == Dtype::boolean) return true;
  std::int64_t first = -1, count = 0;
  const auto look = [&](const auto* numbers) {
    for (std::int64_t k = 0; k < array.count(); ++k)
      if (!std::isfinite(numbers[k]) && ++count == 1) first = k;
  };
  array.dtype() == Dtype::float32 ? look(array.as<float>()) : look(array.as<double>());
  if (count == 0) return true;
  std::vector<std::int64_t> place;
  std::int64_t rest = first;
  for (std::size_t axis = array.shape().size(); axis-- > 0; rest /= array.shape()[axis]) place.insert(place.begin(), rest % array.shape()[axis]);
  const double value = array.number(first);
  diagnostics.add({Code::E442, {}, "'" + name + "' holds " + (std::isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf") + (place.empty() ? "" : " at " + shape_text(place)) +
                                       (count == 1 ? "" : ", " + std::to_string(count) + " such numbers of " + std::to_string(array.count())),
                   {}, {}, "`--missing nan` lets them through", file});
  return false;
}

std::optional<Weights> open_weights(const std::string& path, Diagnostics& diagnostics) {
  std::error_code ignored;  // what cannot be looked at is not a folder; opening it then says why
  if (std::filesystem::is_directory(path, ignored)) return open_folder(path, diagnostics);
  const std::optional<FileBytes> file = map_file(path, diagnostics);
  if (!file) return std::nullopt;
  const std::string name = shown_name(path);
  if (file->view.substr(0, 2) == "PK") return open_npz(*file, name, diagnostics);
  if (is_npy(file->view)) {
    diagnostics.add({Code::E402, {}, "the file is one .npy array without a name, named arrays were expected", {}, {},
                     "name it: `numpy.savez('weights.npz', name=array)`", name});
    return std::nullopt;
  }
  return open_safetensors(*file, name, diagnostics);
}

}  // namespace locus
