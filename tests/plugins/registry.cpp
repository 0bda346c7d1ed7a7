// What the registry loads, refuses and says. The broken plugins stand in bad/, one file each.
#include "plugins/host/registry.hpp"
#include <elf.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include "plugins/host/host_services.hpp"

using namespace locus;
namespace fs = std::filesystem;
using Catch::Contains;

namespace {

const fs::path bad = LOCUS_BAD_PLUGINS;
std::string bad_file(const std::string& name) { return (bad / (name + ".so")).string(); }

/// A folder of this process, gone when the test ends.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("locus-plugins-" + std::to_string(::getpid()) + "-" + std::to_string(counter++))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }

 private:
  static inline int counter = 0;
  fs::path path_;
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Registry load(std::vector<std::string> asked, Diagnostics& diagnostics) {
  return Registry({std::move(asked), std::nullopt, {}}, host_services().table(), diagnostics);
}

/// Asks for one file that must be refused; gives the reason, after checking that the same reason is in the message.
std::string refusal(const std::string& file) {
  Diagnostics diagnostics;
  const Registry registry = load({file}, diagnostics);
  CHECK(registry.plugins().empty());
  CHECK(registry.kernels().empty());
  CHECK(registry.backends().empty());
  REQUIRE(registry.places().size() == 1);
  REQUIRE(registry.places()[0].files.size() == 1);
  const FileOutcome& outcome = registry.places()[0].files[0];
  CHECK_FALSE(outcome.loaded);
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].code == Code::E701);
  CHECK_THAT(diagnostics.all()[0].message, Contains(file) && Contains(outcome.reason));
  return outcome.reason;
}

Elf64_Ehdr header_of(const std::string& bytes) {
  Elf64_Ehdr header;
  bytes.copy(reinterpret_cast<char*>(&header), sizeof header);
  return header;
}

std::string with_header(std::string bytes, const Elf64_Ehdr& header) {
  return bytes.replace(0, sizeof header, std::string(reinterpret_cast<const char*>(&header), sizeof header));
}

}  // namespace

TEST_CASE("a plugin that keeps the contract is loaded") {
  Diagnostics diagnostics;
  const Registry registry = load({bad_file("good")}, diagnostics);
  CHECK(diagnostics.all().empty());
  REQUIRE(registry.plugins().size() == 1);
  CHECK(registry.plugins()[0].name == "good");
  CHECK(registry.plugins()[0].version == "1");
  CHECK(registry.plugins()[0].file == bad_file("good"));
  CHECK(registry.plugins()[0].capabilities == std::vector<std::string>{"kernel good"});
  REQUIRE(registry.kernel("good") != nullptr);
  CHECK(registry.kernel("good")->kernel->size == sizeof(locus_kernel));
  CHECK(registry.kernel("bad") == nullptr);
}

TEST_CASE("plugins that break the contract are refused with the reason") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"wrong_abi", "the plugin was built for ABI 7, this locus has ABI 1"},
      {"short_struct", "locus_plugin.size is 32, at least 40 expected"},
      {"short_kernel", "locus_kernel.size is 8, at least " + std::to_string(sizeof(locus_kernel)) + " expected"},
      {"null_query", "locus_plugin.query is NULL"},
      {"null_kernel", "an entry of locus_kernels.kernels is NULL"},
      {"offers_nothing", "the plugin offers neither locus.kernel/1 nor locus.backend/1"},
      {"null_entry", "locus_plugin_entry gave NULL: the plugin cannot work with ABI 1"},
      {"no_entry", "the symbol `locus_plugin_entry` is missing"},
      {"single_only", "kernel `single_only`: locus_kernel has scalar_f32 or scalar_f64 alone, both or none expected"},
      {"backend_incomplete", "backend `incomplete`: locus_backend.run is NULL"},
      {"throwing_entry", "locus_plugin_entry threw an exception: no licence"},
      {"throwing_query", "query(\"locus.kernel/1\") threw an exception"},
  };
  for (const auto& [name, reason] : cases) {
    INFO(name);
    CHECK(refusal(bad_file(name)) == reason);
  }
  CHECK_THAT(refusal(bad_file("undefined_symbol")),
             Contains("the loader says: ") && Contains("undefined symbol: locus_defined_nowhere") && !Contains("Bad file descriptor"));
  CHECK_THAT(refusal(bad_file("other_sanitizer")), Contains("was built with the sanitizer `memory`, this locus with"));
}

TEST_CASE("a file is inspected before it is loaded") {
  const Folder folder;
  const std::string whole = bytes_of(bad_file("good"));
  REQUIRE(whole.size() > 4096);
  Elf64_Ehdr header = header_of(whole);

  CHECK(refusal(folder.file("empty.so", "")) == "the file is not a shared object (0 bytes are less than an ELF header)");
  CHECK(refusal(folder.file("text.so", std::string(100, 'x'))) == "the file is not a shared object (no ELF magic at its start)");

  header.e_machine = EM_AARCH64 == header.e_machine ? EM_X86_64 : EM_AARCH64;
  CHECK_THAT(refusal(folder.file("machine.so", with_header(whole, header))), Contains("was built for ") && Contains(", this is "));
  header = header_of(whole);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  CHECK(refusal(folder.file("class.so", with_header(whole, header))) == "the file is not a 64-bit shared object");
  header = header_of(whole);
  header.e_type = ET_REL;
  CHECK_THAT(refusal(folder.file("object.so", with_header(whole, header))), Contains("not a shared object (type 1)"));
  header = header_of(whole);
  header.e_shoff = ~std::uint64_t{0};  // a sum with it overflows
  CHECK_THAT(refusal(folder.file("sections.so", with_header(whole, header))), Contains("is cut short: its section table"));
}

TEST_CASE("a file that is cut anywhere never reaches the loader") {
  const Folder folder;
  const std::string whole = bytes_of(bad_file("good"));
  for (std::size_t size = 1; size < whole.size(); size += 509) {
    INFO(size);
    const std::string reason = refusal(folder.file("cut" + std::to_string(size) + ".so", whole.substr(0, size)));
    CHECK_THAT(reason, Contains("cut short") || Contains("less than an ELF header"));
  }
  CHECK_THAT(refusal(folder.file("last.so", whole.substr(0, whole.size() - 1))), Contains("cut short"));
}

TEST_CASE("the first of a name wins, the second is refused with both paths") {
  Diagnostics diagnostics;
  const Registry registry =
      load({bad_file("good"), bad_file("duplicate_plugin"), bad_file("duplicate_kernel"), bad_file("backend_slow"), bad_file("backend_clash")}, diagnostics);
  REQUIRE(registry.plugins().size() == 3);
  CHECK(registry.kernel("other") == nullptr);  // a second plugin `good` leaves no trace
  CHECK(registry.kernel("good")->plugin == 0);
  REQUIRE(registry.kernel("own") != nullptr);  // the kernel beside the one that clashed is there
  CHECK(registry.plugins()[1].capabilities == std::vector<std::string>{"kernel own"});
  CHECK(registry.places()[1].files[0].reason == "the plugin name `good` is already taken by " + bad_file("good"));
  CHECK(registry.places()[2].files[0].reason == "the kernel name `good` is already taken by " + bad_file("good"));
  CHECK(registry.places()[2].files[0].loaded);
  CHECK(registry.places()[4].files[0].reason == "the backend name `slow` is already taken by " + bad_file("backend_slow"));
  CHECK_FALSE(registry.places()[4].files[0].loaded);
  CHECK(diagnostics.errors() == 2);  // the plugins that gave nothing at all
  CHECK_THAT(diagnostics.all()[0].message, Contains(bad_file("duplicate_plugin")) && Contains(bad_file("good")));
}

TEST_CASE("one file is one plugin, by whatever name it is reached") {
  const Folder folder;
  fs::create_symlink(bad_file("good"), folder.path() / "link.so");
  Diagnostics diagnostics;
  const Registry registry = load({bad_file("good"), bad_file("good"), (folder.path() / "link.so").string()}, diagnostics);
  CHECK(diagnostics.all().empty());
  CHECK(registry.plugins().size() == 1);
  CHECK(registry.kernels().size() == 1);
  CHECK_THAT(registry.places()[2].files[0].reason, Contains("already loaded as " + bad_file("good")));
}

TEST_CASE("what was asked for and is not there is an error") {
  const Folder folder;
  Diagnostics diagnostics;
  const std::string gone = (folder.path() / "gone.so").string();
  load({gone, folder.path().string()}, diagnostics);
  REQUIRE(diagnostics.errors() == 2);
  CHECK(diagnostics.all()[0].message == "no plugin at " + gone + ": there is no such file or directory");
  CHECK(diagnostics.all()[1].message == "no plugin at " + folder.path().string() + ": holds no *.so");
  CHECK(diagnostics.all()[1].where == "--plugin");
}

TEST_CASE("a directory is searched in the order of names, and what is bad in it does not matter beside what is good") {
  const Folder folder;
  folder.file("a.so", "not a plugin");
  folder.file("notes.txt", "no shared object");
  fs::create_directory(folder.path() / "c.so");
  fs::copy_file(bad_file("good"), folder.path() / "b.so");
  Diagnostics diagnostics;
  const Registry registry = load({folder.path().string()}, diagnostics);
  CHECK(diagnostics.all().empty());
  REQUIRE(registry.places()[0].files.size() == 3);
  CHECK(registry.places()[0].files[0].file.filename() == "a.so");
  CHECK(registry.places()[0].files[1].loaded);
  CHECK(registry.places()[0].files[2].reason == "it is a directory");
}

TEST_CASE("a directory in which nothing can be loaded lists every refusal") {
  const Folder folder;
  folder.file("a.so", "one");
  folder.file("b.so", "two");
  Diagnostics diagnostics;
  load({folder.path().string()}, diagnostics);
  REQUIRE(diagnostics.errors() == 1);
  REQUIRE(diagnostics.all()[0].notes.size() == 2);
  CHECK_THAT(diagnostics.all()[0].notes[1].text, Contains("b.so: the file is not a shared object"));
}

TEST_CASE("LOCUS_PLUGIN_PATH stands in place of the default places; an empty item means them") {
  const Folder one, two;
  const auto origins = [&](std::optional<std::string> path) {
    Diagnostics diagnostics;
    const Registry registry({{}, std::move(path), {two.path()}}, host_services().table(), diagnostics);
    CHECK(diagnostics.all().empty());
    std::vector<std::string> result;
    for (const SearchedPlace& place : registry.places()) result.push_back(place.origin + " " + place.place.string());
    return result;
  };
  const std::string first = "LOCUS_PLUGIN_PATH " + one.path().string(), second = "default " + two.path().string();
  CHECK(origins(std::nullopt) == std::vector<std::string>{second});
  CHECK(origins("") == std::vector<std::string>{second});
  CHECK(origins(one.path().string()) == std::vector<std::string>{first});
  CHECK(origins(one.path().string() + ":") == std::vector<std::string>{first, second});
  CHECK(origins(":" + one.path().string()) == std::vector<std::string>{second, first});
}

TEST_CASE("the usual search reads the environment and looks beside the executable") {
  ::setenv("LOCUS_PLUGIN_PATH", "somewhere:", 1);
  const PluginSearch search = usual_search({"x.so"});
  ::unsetenv("LOCUS_PLUGIN_PATH");
  CHECK(search.asked == std::vector<std::string>{"x.so"});
  CHECK(search.path == "somewhere:");
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  REQUIRE(search.defaults.size() == 3);
  CHECK(search.defaults[0] == (folder.parent_path() / "lib" / "locus" / "plugins"));
  CHECK(search.defaults[1] == (folder / "lib" / "locus" / "plugins"));
  CHECK_FALSE(usual_search({}).path);
}

TEST_CASE("auto takes the highest score, and says what it asked") {
  Diagnostics diagnostics;
  const Registry registry = load({bad_file("backend_slow"), bad_file("backend_absent"), bad_file("backend_fast")}, diagnostics);
  REQUIRE(diagnostics.all().empty());
  const BackendChoice choice = registry.choose_backend("auto", false, "--backend", diagnostics);
  REQUIRE(choice.backend != nullptr);
  CHECK(choice.backend->name == "fast");
  CHECK(choice.reasons == std::vector<std::string>{"slow: score 5", "absent: cannot run here: no such device", "fast: score 50"});
  const BackendChoice exact = registry.choose_backend("auto", true, "--backend", diagnostics);
  REQUIRE(exact.backend != nullptr);
  CHECK(exact.backend->name == "slow");
  CHECK(exact.reasons[2] == "fast: cannot run here: it cannot run in float64");
  CHECK(diagnostics.all().empty());
}

TEST_CASE("a backend that was asked for is had or is an error, never another one") {
  Diagnostics diagnostics;
  const Registry registry = load({bad_file("backend_slow"), bad_file("backend_absent"), bad_file("backend_fast")}, diagnostics);
  CHECK(registry.choose_backend("slow", false, "--backend", diagnostics).backend == registry.backend("slow"));
  REQUIRE(diagnostics.all().empty());
  CHECK(registry.choose_backend("slwo", false, "--backend", diagnostics).backend == nullptr);
  CHECK(registry.choose_backend("absent", false, "--backend", diagnostics).backend == nullptr);
  CHECK(registry.choose_backend("fast", true, "--backend", diagnostics).backend == nullptr);
  REQUIRE(diagnostics.errors() == 3);
  std::ostringstream whole;
  write(whole, diagnostics, Sources());
  CHECK(whole.str() ==
        "error[E702]: no backend is named `slwo`, there are `slow`, `absent`, `fast`\n  --> --backend\n   = help: write `--backend slow`\n"
        "\nerror[E703]: the backend `absent` cannot run here: no such device\n  --> --backend\n   = help: `--backend auto` takes the best one that can\n"
        "\nerror[E703]: the backend `fast` cannot run here: it cannot run in float64\n  --> --backend\n   = help: `--backend auto` takes the best one that can\n");
}

TEST_CASE("without a backend auto says where to look") {
  Diagnostics diagnostics;
  CHECK(load({bad_file("good")}, diagnostics).choose_backend("auto", false, "--backend", diagnostics).backend == nullptr);
  CHECK(load({bad_file("backend_absent")}, diagnostics).choose_backend("auto", false, "--backend", diagnostics).backend == nullptr);
  REQUIRE(diagnostics.errors() == 2);
  std::ostringstream whole;
  write(whole, diagnostics, Sources());
  CHECK(whole.str() ==
        "error[E704]: no backend is loaded\n  --> --backend\n   = help: `locus plugins -v` shows where backends are looked for\n"
        "\nerror[E704]: none of the loaded backends can run here\n  --> --backend\n   = note: absent: cannot run here: no such device\n   = help: `locus plugins -v` shows where backends are looked for\n");
}
