// Weights: the three forms give the same arrays; broken files tell all their faults.
#include <cstring>
#include "core/data/weights.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {

std::string framed(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Opened, and every array read.
std::optional<std::map<std::string, Array>> read(const std::optional<Weights>& weights, Diagnostics& diagnostics) {
  if (!weights) return {};
  std::map<std::string, Array> all;
  for (const auto& [name, stored] : *weights) {
    auto array = stored.read(diagnostics);
    if (!array) return {};
    all.emplace(name, std::move(*array));
  }
  return all;
}

std::map<std::string, Array> good(const std::string& path) {
  Diagnostics diagnostics;
  const auto weights = read(open_weights(path, diagnostics), diagnostics);
  INFO(rendered(diagnostics));
  REQUIRE(weights);
  return *weights;
}

}  // namespace

TEST_CASE("an archive, stored or deflated, and a folder") {
  for (const char* form : {"stored.npz", "deflated.npz", "folder"}) {
    INFO(form);
    const auto weights = good(fixture(form));
    REQUIRE(weights.size() == 2);
    CHECK(weights.at("w").dtype() == Dtype::float32);
    CHECK(weights.at("w").shape() == std::vector<std::int64_t>{2, 3});
    CHECK(numbers(weights.at("w")) == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(weights.at("b").number(1) == (std::string(form) == "deflated.npz" ? 1 : 2));
  }
  CHECK(good(fixture("deflated.npz")).at("b").count() == 1000);
}

TEST_CASE("safetensors: every type, metadata, no rows") {
  const std::string data = raw<float>({1.5f, -2}) + raw<double>({0.1}) + raw<std::uint16_t>({0x3E00, 0x3FC0}) + raw<std::int32_t>({-7}) + std::string("\x01", 1);
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"f":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"d":{"dtype":"F64","shape":[],"data_offsets":[8,16]},)"
      R"("h":{"dtype":"F16","shape":[1],"data_offsets":[16,18]},"b":{"dtype":"BF16","shape":[1,1],"data_offsets":[18,20]},)"
      R"("i":{"dtype":"I32","shape":[1],"data_offsets":[20,24]},"t":{"dtype":"BOOL","shape":[1],"data_offsets":[24,25]},)"
      R"("none":{"dtype":"F32","shape":[0,3],"data_offsets":[25,25]}}   )";
  Diagnostics diagnostics;
  const auto weights = read(open_safetensors(held(framed(header, data)), "w.safetensors", diagnostics), diagnostics);
  INFO(rendered(diagnostics));
  REQUIRE(weights);
  CHECK(numbers(weights->at("f")) == std::vector<double>{1.5, -2});
  CHECK(weights->at("d").shape().empty());
  CHECK(weights->at("d").number(0) == 0.1);
  CHECK(weights->at("h").number(0) == 1.5);
  CHECK(weights->at("b").number(0) == 1.5);
  CHECK(weights->at("i").number(0) == -7);
  CHECK(weights->at("i").dtype() == Dtype::int64);
  CHECK(weights->at("t").dtype() == Dtype::boolean);
  CHECK(weights->at("none").shape() == std::vector<std::int64_t>{0, 3});
}

TEST_CASE("every cut of a safetensors file or archive is an error") {
  const std::string tensors = framed(R"({"f":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", raw<float>({1, 2}));
  const std::string archive = bytes_of(fixture("deflated.npz"));
  for (const std::string* whole : {&tensors, &archive}) {
    for (std::size_t size = 0; size < whole->size(); ++size) {
      Diagnostics diagnostics;
      const std::string cut = whole->substr(0, size);
      CHECK_FALSE((whole == &tensors ? open_safetensors(held(cut), "cut", diagnostics) : open_npz(held(cut), "cut", diagnostics)));
      CHECK(diagnostics.failed());
    }
  }
}

TEST_CASE("a changed byte in an archive is found by its checksum") {
  std::string archive = bytes_of(fixture("stored.npz"));
  const std::size_t at = archive.find(std::string("\x00\x00\x80\x3F", 4));
  REQUIRE(at != std::string::npos);
  archive[at + 2] = '\x7F';
  Diagnostics diagnostics;
  CHECK_FALSE(open_npz(held(archive), "w.npz", diagnostics));
  CHECK(rendered(diagnostics) == "error[E441]: 'w.npy': its checksum is wrong: bytes were changed\n  --> w.npz\n");
}
