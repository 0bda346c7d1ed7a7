// What scripts rely on: exit codes, options in any order, pipes, quiet, and one result in every locale.
// Knows the program from outside only.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include "tests/cli/execute.hpp"

namespace {

using namespace locus::test;
const std::string inputs = " --query d.csv:x --x d.csv:x --y d.csv:y";

}  // namespace

TEST_CASE("options stand in any order and in both spellings") {
  const auto folder = fresh_folder("order");
  for (const char* command : {"locus run smooth.locus --query d.csv:x --x d.csv:x --y d.csv:y -o - --quiet", "locus run --quiet -o - --y d.csv:y --x d.csv:x --query d.csv:x smooth.locus",
                              "locus --quiet run --y=d.csv:y -o- --x=d.csv:x smooth.locus smooth --query=d.csv:x", "locus --threads 1 --quiet run smooth.locus --query d.csv:x --x d.csv:x --y d.csv:y --output=-",
                              "locus run --x d.csv:x smooth.locus --y d.csv:y smooth --query d.csv:x --h 1 --output - --quiet"}) {
    CAPTURE(command);
    const Finished f = execute(command, folder);
    CHECK(f.exit == 0);
    CHECK(f.err == "");
    CHECK(f.out.compare(0, 7, "result\n") == 0);
    CHECK(f.out == execute("locus run smooth.locus" + inputs + " -o - --quiet", folder).out);
  }
}

TEST_CASE("spec and data come through pipes, the table goes through one") {
  const auto folder = fresh_folder("pipes");
  const std::string whole = execute("locus run smooth.locus" + inputs + " -o - --quiet", folder).out;
  REQUIRE(whole.size() > 20);
  CHECK(execute("cat smooth.locus | locus run -" + inputs + " -o - --quiet", folder).out == whole);
  CHECK(execute("cat d.csv | locus run smooth.locus --query -:x --x -:x --y -:y -o - --quiet", folder).out == whole);
  CHECK(execute("locus run smooth.locus" + inputs + " -o - --quiet | cat", folder).out == whole);
  CHECK(execute("locus run smooth.locus" + inputs + " -o a.csv --quiet && cat a.csv", folder).out == whole);
}

TEST_CASE("a delimiter that is not looked for can be named, also by its word") {
  const auto folder = fresh_folder("delimiter");
  std::ofstream(folder / "colons.csv") << "x:y\n1:2\n2:3\n3:5.5\n";
  std::ofstream(folder / "tabs.txt") << "x;a\ty\n1\t2\n2\t3\n3\t5.5\n";
  const std::string whole = execute("locus run smooth.locus" + inputs + " -o - --quiet", folder).out;
  REQUIRE(whole.size() > 20);
  CHECK(execute("locus run smooth.locus --query colons.csv:x --x colons.csv:x --y colons.csv:y -o - --quiet --delimiter :", folder).out == whole);
  CHECK(execute("locus run smooth.locus --query 'tabs.txt:x;a' --x 'tabs.txt:x;a' --y tabs.txt:y -o - --quiet --delimiter=tab", folder).out == whole);
}

TEST_CASE("quiet says nothing, and what is said goes to standard error") {
  const auto folder = fresh_folder("quiet");
  const Finished loud = execute("locus run smooth.locus" + inputs + " -o a.npy", folder);
  CHECK(loud.out == "");
  CHECK(loud.err.find("gaussian(a, b; h) = exp(-sqdist(a / h, b / h) / 2)") != std::string::npos);
  CHECK(loud.err.find("seed 0") != std::string::npos);
  CHECK(loud.err.find("\x1b") == std::string::npos);  // no colour and no bar: this is no terminal
  const Finished quiet = execute("locus run smooth.locus" + inputs + " -o a.npy --quiet", folder);
  CHECK(quiet.out == "");
  CHECK(quiet.err == "");
  CHECK(execute("locus run smooth.locus" + inputs + " -o a.npy --quiet --threads 0", folder).err.find("error[E804]") == 0);
}

TEST_CASE("exit codes tell what was wrong") {
  const auto folder = fresh_folder("exit");
  std::ofstream(folder / "broken.locus") << "hierarchy smooth(x: [n] -> [n] { return x }\n";
  std::ofstream(folder / "text.csv") << "x\n1\nhello\n";
  std::ofstream(folder / "no.so") << "no library";
  std::ofstream(folder / "far.locus") << "hierarchy near(x: [n]; k = 7) -> int [n, k] { return neighbours() at x among x nearest k }\n";
  const auto code = [&](const std::string& command) { return execute(command, folder).exit; };
  CHECK(code("locus run smooth.locus" + inputs) == 0);
  CHECK(code("locus check smooth.locus pair.locus") == 0);
  CHECK(code("locus check smooth.locus broken.locus") == 1);
  CHECK(code("locus run broken.locus --x d.csv:x") == 1);
  CHECK(code("locus run smooth.locus" + inputs + " --nothing 1") == 2);
  CHECK(code("locus nothing") == 2);
  CHECK(code("locus run smooth.locus --query text.csv:x --x d.csv:x --y d.csv:y") == 3);
  CHECK(code("locus run smooth.locus --query none.csv:x --x d.csv:x --y d.csv:y") == 3);
  CHECK(code("locus run smooth.locus" + inputs + " --memory 16") == 4);
  CHECK(code("locus run smooth.locus" + inputs + " --backend none") == 5);
  CHECK(code("locus run smooth.locus" + inputs + " --plugin no.so") == 5);
  CHECK(code("locus run far.locus --x d.csv:x") == 6);
  CHECK(code("locus") == 0);
  CHECK(code("locus --help") == 0);
  CHECK(code("locus run --help") == 0);
  CHECK(code("locus --version") == 0);
}

TEST_CASE("an input goes before an option of its name, which stays in reach") {
  const auto folder = fresh_folder("clash");
  const Finished f = execute("locus run pair.locus second --memory d.csv:x --out o --format csv --quiet && cat o/twice.csv o/mean.csv", folder);
  CHECK(f.err == "");
  CHECK(f.out == "twice\n2\n4\n6\nmean\n2\n");
  CHECK(execute("locus run pair.locus second --memory d.csv:x --locus-memory 8 --quiet", folder).exit == 4);
}

TEST_CASE("results are written by name, and nothing is left of a run that failed") {
  const auto folder = fresh_folder("names");
  CHECK(execute("locus run pair.locus second --memory d.csv:x -o mean=m.csv -o twice=t.csv --quiet && cat m.csv t.csv", folder).out == "mean\n2\ntwice\n2\n4\n6\n");
  CHECK(execute("locus run pair.locus second --memory none.csv --out never --quiet", folder).exit == 3);
  CHECK_FALSE(std::filesystem::exists(folder / "never"));
}

TEST_CASE("every locale gives the same bytes") {
  const auto folder = fresh_folder("locale");
  const std::string plain = execute("LC_ALL=C; export LC_ALL; locus run smooth.locus" + inputs + " --h 0.75 -o - --quiet", folder).out;
  REQUIRE(plain.find('.') != std::string::npos);
  // A locale with decimal commas is made here, so that the test does not hang on what the machine has installed.
  const std::string made = "mkdir -p l && localedef -i de_DE -f UTF-8 l/de_DE.UTF-8; LOCPATH=$PWD/l; LC_ALL=de_DE.UTF-8; export LOCPATH LC_ALL; ";
  const Finished german = execute(made + "locus run smooth.locus" + inputs + " --h 0.75 -o - --quiet", folder);
  CHECK(german.out == plain);
  const bool commas = execute(made + "locale decimal_point", folder).out == ",\n";
  if (!commas) WARN("localedef could not make de_DE.UTF-8 here: the locale was asked for and is not known to this machine");
}

TEST_CASE("the help lists every command, and each has a page with its options") {
  const auto folder = fresh_folder("help");
  const std::string list = execute("locus help", folder).out;
  for (const std::string command : {"run", "check", "explain", "weights", "kernels", "plugins", "backends", "bench", "conformance", "gallery", "why", "selftest", "demo", "errors", "version", "help"}) {
    CAPTURE(command);
    CHECK(list.find("\n  " + command + " ") != std::string::npos);
    const Finished page = execute("locus help " + command, folder);
    CHECK(page.exit == 0);
    CHECK(page.out.find("usage: locus " + command) != std::string::npos);
    CHECK(page.out == execute("locus " + command + " --help", folder).out);
  }
}

TEST_CASE("weights lists what a file holds, as it is and through a map") {
  const auto folder = fresh_folder("weights");
  REQUIRE(execute("mkdir w; locus run pair.locus first --x d.csv:x -o w/h.0.w.npy --quiet; locus run pair.locus first --x d.csv:y -o w/b.npy --quiet", folder).exit == 0);
  CHECK(execute("locus weights w", folder).out == "b      <f4  [3]  3\nh.0.w  <f4  [3]  3\n2 arrays, 6 numbers, 24 bytes\n");
  std::ofstream(folder / "w.map") << "blocks.*.last = h.*.w[1:]\nignore b\n";
  CHECK(execute("locus weights w --map w.map --json w.json", folder).out == "blocks.0.last  <f4  [2]  2  = h.0.w[1:]\n1 array, 2 numbers, 8 bytes\n");
  const auto list = nlohmann::json::parse(contents(folder / "w.json"));
  CHECK(list.at("numbers") == 2);
  CHECK(list.at("bytes") == 8);
  CHECK(list.at("arrays").at(0) == nlohmann::json{{"name", "blocks.0.last"}, {"type", "<f4"}, {"shape", {2}}, {"numbers", 2}, {"bytes", 8}, {"source", "h.0.w[1:]"}});
}

TEST_CASE("why lists the samples that carried one answer") {
  const auto folder = fresh_folder("why");
  const Finished f = execute("locus why smooth.locus --locus-query 1 --query d.csv:x --x d.csv:x --y d.csv:y --top 2 --quiet", folder);
  CHECK(f.exit == 0);
  CHECK(f.out ==
        "result (smooth.locus:2): query 1, 3 of 3 samples count, total weight 2.21306, effective sample size 2.822\n"
        "    sample       weight     share     distance\n"
        "         1            1   45.186%            0\n"
        "         0     0.606531   27.407%            1\n"
        "       …                27.407%  together: 1 more\n"
        "result[1] = 3.4111\n");
  const Finished beyond = execute("locus why smooth.locus --locus-query 3 --query d.csv:x --x d.csv:x --y d.csv:y --quiet", folder);
  CHECK(beyond.exit == 1);
  CHECK(beyond.err.find("error[E208]: there is no query 3 here: axis 'n' has 3") != std::string::npos);
}

TEST_CASE("a profile is a trace of the nodes that ran") {
  const auto folder = fresh_folder("profile");
  for (const char* backend : {"reference", "cpu"}) {
    const Finished f = execute(std::string("locus run smooth.locus --query d.csv:x --x d.csv:x --y d.csv:y --quiet -o r.npy --profile t.json --backend ") + backend, folder);
    REQUIRE(f.exit == 0);
    const auto trace = nlohmann::json::parse(contents(folder / "t.json"));
    std::size_t complete = 0;
    double end = 0;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") != "X") continue;
      ++complete;
      CHECK(event.at("ts").get<double>() >= end - 1e-9);
      end = event.at("ts").get<double>() + event.at("dur").get<double>();
      CHECK(event.at("args").at("bytes").get<double>() > 0);
    }
    CHECK(complete >= 1);
  }
}

TEST_CASE("explain draws a hierarchy without data: a box for each call, copies of a layer once") {
  const auto folder = fresh_folder("hierarchy");
  const std::string explain = "locus explain " LOCUS_TREE "/specs/gallery/transformer.locus transformer --size n=20 --size m=15 --depth 6 ";
  const auto drawn = execute(explain + "--svg t.svg --dot t.dot", folder);
  INFO(drawn.err);
  REQUIRE(drawn.exit == 0);
  CHECK(drawn.out == "hierarchy: t.svg\nhierarchy: t.dot\n");
  const std::string dot = contents(folder / "t.dot"), svg = contents(folder / "t.svg");
  const auto count = [](const std::string& text, const std::string& words) {
    std::size_t n = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++n;
    return n;
  };
  CHECK(count(dot, "subgraph cluster_") == 8);  // the model, two layers, their heads and dense maps
  CHECK(count(dot, "\"encoder: encoder_layer  × 6\"") == 1);
  CHECK(count(dot, "\"decoder: decoder_layer  × 6\"") == 1);
  CHECK(count(dot, "\"memory   20 × 8\"") == 1);
  CHECK(count(dot, "mean(v)") == 3);
  CHECK(count(dot, "\"result   15 × 10\"") == 1);
  CHECK(svg.find("</svg>") != std::string::npos);
  CHECK(count(svg, "class=\"cluster\"") == 8);
  CHECK(count(svg, "20 × 8") >= 4);
  CHECK(execute(explain + "--svg nowhere/t.svg", folder).exit == 3);
}

TEST_CASE("look paints the shares of one sentence, of the asked block alone") {
  const auto folder = fresh_folder("look");
  const std::string look = "locus look smooth.locus --query d.csv:x --x d.csv:x --y d.csv:y --quiet ";
  CHECK(execute(look + "--queries 1", folder).out == "look.png: result, queries 1:2 of 3 down, samples 0:3 of 3 across\nshares 0.274069 to 0.451863, white is 0, dark blue 0.451863\nrow sums 1 to 1\n");
  CHECK(contents(folder / "look.png").substr(1, 3) == "PNG");
  CHECK(execute(look + "--queries 1:2 --samples 2: --png part.png", folder).out ==
        "part.png: result, queries 1:2 of 3 down, samples 2:3 of 3 across\nshares 0.274069 to 0.274069, white is 0, dark blue 0.274069\nrow sums 0.274069 to 0.274069\n");
  const Finished beyond = execute(look + "--queries 2:9", folder);
  CHECK(beyond.exit == 2);
  CHECK(beyond.err.find("--queries takes a part of 0:3, not '2:9'") != std::string::npos);
  const std::string data = LOCUS_TREE "/specs/data/";
  const Finished several = execute("locus look " LOCUS_TREE "/specs/gallery/gpt_char.locus gpt --id " + data + "label_rows.npy --weights " + data + "gpt_char.safetensors", folder);
  CHECK(several.exit == 2);
  CHECK(several.err.find("--sentence blocks.1.attn.context   16 × 16") != std::string::npos);
}
