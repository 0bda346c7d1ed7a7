// Inputs as they are written on a command line, standard input among them.
#include <fcntl.h>
#include <unistd.h>
#include <fstream>
#include "core/data/input.hpp"
#include "core/data/npy.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {

std::string saved(const std::string& name, const std::string& bytes) {
  const std::string path = scratch(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// Puts a file in the place of standard input while it lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : before_(::dup(0)) {
    const int file = ::open(path.c_str(), O_RDONLY);
    REQUIRE(file >= 0);
    REQUIRE(::dup2(file, 0) == 0);
    ::close(file);
  }
  ~StandardInput() {
    ::dup2(before_, 0);
    ::close(before_);
  }

 private:
  int before_;
};

Input good(Inputs& inputs, const std::string& text) {
  Diagnostics diagnostics;
  auto input = inputs.read(text, diagnostics);
  INFO(text << "\n" << rendered(diagnostics));
  REQUIRE(input);
  return *input;
}

using Shape = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("columns are chosen after a colon") {
  const std::string path = saved("prices.csv", "age,dose,price\n1,2,3\n4,5,6\n");
  Inputs inputs({}, Missing::refuse);
  CHECK(good(inputs, path).array.shape() == Shape{2, 3});
  CHECK(good(inputs, path + ":dose").array.shape() == Shape{2});
  const Input two = good(inputs, path + ":price,age");
  CHECK(numbers(two.array) == std::vector<double>{3, 1, 6, 4});
  CHECK(two.named.columns == std::vector<std::string>{"price", "age"});
  CHECK(inputs.notes() == std::vector<std::string>{path + ": 3 columns, 2 rows, delimiter comma, header in the first line"});
}

TEST_CASE("a path with a colon that exists is a path") {
  const std::string path = saved("odd:name.csv", "a\n1\n");
  Inputs inputs({}, Missing::refuse);
  CHECK(good(inputs, path).array.shape() == Shape{1});
}

TEST_CASE("standard input is read once, as .npy or table, and may be named twice") {
  {
    const StandardInput redirected(saved("stdin.csv", "a,b\n1,2\n"));
    Inputs inputs({}, Missing::refuse);
    CHECK(numbers(good(inputs, "-:a").array) == std::vector<double>{1});
    CHECK(numbers(good(inputs, "-:b").array) == std::vector<double>{2});
  }
  const StandardInput redirected(saved("stdin.npy", npy_bytes(array_of({1, 2, 3}, {3}))));
  Inputs inputs({}, Missing::refuse);
  CHECK(numbers(good(inputs, "-").array) == std::vector<double>{1, 2, 3});
}

TEST_CASE("the kind of a file is told by its bytes, not by its name") {
  Inputs inputs({}, Missing::refuse);
  CHECK(good(inputs, saved("array.csv", npy_bytes(array_of({1}, {1})))).array.shape() == Shape{1});
}

TEST_CASE("a file that failed fails again without a second message") {
  Inputs inputs({}, Missing::refuse);
  Diagnostics diagnostics;
  CHECK_FALSE(inputs.read("absent.csv:a", diagnostics));
  CHECK_FALSE(inputs.read("absent.csv:b", diagnostics));
  CHECK(rendered(diagnostics) == "error[E401]: cannot open absent.csv: no such file\n");
}

TEST_CASE("labels come from one column") {
  const std::string path = saved("kinds.csv", "kind,v\nx,1\ny,2\n");
  Inputs inputs({}, Missing::refuse);
  Diagnostics diagnostics;
  const auto labels = inputs.read_labels(path + ":kind", diagnostics);
  REQUIRE(labels);
  CHECK(labels->names == std::vector<std::string>{"x", "y"});
  CHECK_FALSE(inputs.read_labels(path, diagnostics));
  CHECK(diagnostics.all().back().code == Code::E416);
}
