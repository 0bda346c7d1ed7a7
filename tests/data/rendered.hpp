// What the tests of files share: messages as one text, fixture files, arrays from lists.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"
#include "core/data/file.hpp"

namespace locus::test {

inline std::string rendered(const Diagnostics& diagnostics, const Sources& sources = Sources()) {
  std::ostringstream out;
  write(out, diagnostics, sources);
  return out.str();
}

inline std::string fixture(const std::string& name) { return std::string(LOCUS_TREE) + "/tests/data/files/" + name; }

inline std::string bytes_of(const std::string& path) {
  Diagnostics diagnostics;
  const auto bytes = read_file(path, diagnostics);
  INFO(rendered(diagnostics));
  REQUIRE(bytes);
  return *bytes;
}

inline std::vector<double> numbers(const Array& array) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < array.count(); ++k) values.push_back(array.number(k));
  return values;
}

inline Array array_of(const std::vector<double>& values, std::vector<std::int64_t> shape) {
  Array array(Dtype::float64, std::move(shape));
  REQUIRE(array.count() == static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), array.as<double>());
  return array;
}

/// A fresh path in the build folder.
inline std::string scratch(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(LOCUS_BUILD) / "scratch" / "data";
  std::filesystem::create_directories(folder);
  std::filesystem::remove_all(folder / name);
  return (folder / name).string();
}

}  // namespace locus::test
