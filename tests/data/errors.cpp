// One broken input for each code of this room (E401 to E449, W401 to W449): the whole message, compared with messages/<title>.txt.
// A code without a case fails. A missing or differing file shows the message found.
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include "core/data/input.hpp"
#include "core/data/npy.hpp"
#include "core/data/weights.hpp"
#include "core/data/weights_map.hpp"
#include "core/data/write.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {

struct Case {
  Code code;
  const char* title;
  std::function<void(Diagnostics&)> run;
};

/// A .npy file with this header text and that many bytes of zeros behind it.
std::string npy(const std::string& header, std::size_t bytes, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  if (version != 1) file += std::string(2, '\0');
  return file + header + std::string(bytes, '\0');
}

std::string shaped(const std::string& shape) { return "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }"; }

std::string tensors(const std::string& header, std::size_t bytes) {
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(bytes, '\0');
}

/// The texts of maps, for the places in messages.
Sources& texts() {
  static Sources all;
  return all;
}

/// A map for a file with 'h.0.w' [2, 6], 'h.1.w' [2, 6], 'b' [3] and 't.b' [1].
auto mapped(std::string text) {
  return [=](Diagnostics& diagnostics) {
    const auto map = read_weights_map(texts().add("w.map", text), texts(), diagnostics);
    const auto file = open_safetensors(held(tensors(R"({"h.0.w":{"dtype":"F32","shape":[2,6],"data_offsets":[0,48]},"h.1.w":{"dtype":"F32","shape":[2,6],"data_offsets":[48,96]},)"
                                                    R"("b":{"dtype":"F32","shape":[3],"data_offsets":[96,108]},"t.b":{"dtype":"F32","shape":[1],"data_offsets":[108,112]}})", 112)),
                                       "w.safetensors", diagnostics);
    REQUIRE(file);
    if (map) apply(*map, *file, "w.safetensors", diagnostics);
  };
}

/// A whole table read and these columns used as numbers.
auto used(std::string text, std::vector<std::string> names, TableOptions options = {}) {
  return [=](Diagnostics& diagnostics) {
    const auto table = read_csv(text, "t.csv", options, diagnostics);
    if (table) select(*table, names.empty() ? number_columns(*table, diagnostics) : names, Missing::refuse, diagnostics);
  };
}

auto parsed(std::string bytes) {
  return [=](Diagnostics& diagnostics) { read_npy(bytes, "x.npy", diagnostics); };
}

auto fixed(const char* file) {
  return [=](Diagnostics& diagnostics) { read_npy(bytes_of(fixture(file)), file, diagnostics); };
}

auto safetensors(std::string bytes) {
  return [=](Diagnostics& diagnostics) { open_safetensors(held(bytes), "w.safetensors", diagnostics); };
}

auto table_text(std::vector<Result> results) {
  return [=](Diagnostics& diagnostics) { csv_text(results, ',', {}, "out.csv", diagnostics); };
}

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

std::vector<Case> npy_cases() {
  return {
      {Code::E401, "missing_file", [](Diagnostics& d) { read_csv_file("foo.csv", {}, d); }},
      {Code::E401, "folder_as_file", [](Diagnostics& d) { read_npy_file(".", d); }},
      {Code::E402, "archive_as_input", [](Diagnostics& d) {
         std::filesystem::copy_file(fixture("stored.npz"), scratch("stored.npz"));
         std::filesystem::current_path(std::filesystem::path(LOCUS_BUILD) / "scratch" / "data");
         Inputs({}, Missing::refuse).read("stored.npz", d);
       }},
      {Code::E402, "array_as_weights", [](Diagnostics& d) {
         std::filesystem::current_path(fixture(""));
         open_weights("scalar.npy", d);
       }},
      {Code::E403, "no_magic", parsed("1,2,3\n")},
      {Code::E403, "version_9", parsed(npy(shaped("(1,)"), 8, 9))},
      {Code::E403, "header_longer_than_file", parsed(npy(shaped("(1,)"), 0).substr(0, 30))},
      {Code::E403, "header_without_shape", parsed(npy("{'descr': '<f8', 'fortran_order': False}", 0))},
      {Code::E403, "header_key_twice", parsed(npy("{'descr': '<f8', 'descr': '<f8', 'shape': ()}", 0))},
      {Code::E403, "negative_size", parsed(npy(shaped("(-1, 3)"), 0))},
      {Code::E403, "shape_overflow", parsed(npy(shaped("(4294967296, 4294967296)"), 0))},
      {Code::E404, "object", fixed("object.npy")},
      {Code::E404, "text", fixed("text.npy")},
      {Code::E404, "complex", fixed("complex.npy")},
      {Code::E404, "record", fixed("record.npy")},
      {Code::E404, "date", fixed("date.npy")},
      {Code::E405, "truncated", parsed(npy(shaped("(2, 3)"), 40))},
      {Code::E405, "trailing", parsed(npy(shaped("(2, 3)"), 49))},
      {Code::E406, "too_large", fixed("too_large.npy")},
  };
}

std::vector<Case> table_cases() {
  return {
      {Code::E410, "utf16", used("\xFF\xFE" "a", {})},
      {Code::E410, "zero_byte", used(std::string("a,b\n1,\0\n", 8), {})},
      {Code::E411, "quote_open", used("a,b\n1,\"x\n2,3\n", {})},
      {Code::E411, "quote_tail", used("a,b\n\"x\"y,2\n", {})},
      {Code::E412, "row_short", used("a,b,c\n1,2,3\n4,5\n6,7,8\n", {})},
      {Code::E412, "row_long", used("a,b\n1,2\n3,4,5\n", {})},
      {Code::E412, "many_ragged", used("a,b\n1,2\n1\n1\n1\n1\n1\n1\n1\n3,4\n5,6\n7,8\n9,1\n2,3\n4,5\n", {}, {Header::yes, ','})},
      {Code::E412, "header_short", used("a,b\n1,2,3\n4,5,6\n", {})},
      {Code::E413, "name_twice", used("a,b,a\n1,2,3\n", {})},
      {Code::E414, "missing_one", used("x,y\n1,2\n2,NaN\n3,6\n,1\n5,10\n", {"y"})},
      {Code::E414, "missing_several", used("x,y\n1,2\n2,NaN\n3,6\n,1\n5,10\n", {"x", "y"})},
      {Code::E415, "text_column", used("date,v\n2020-01-01,1\n2020-01-02,2\n", {"date"})},
      {Code::E415, "one_bad_cell", used("a,b\n1,1\n2x,2\n3,3\n", {})},
      {Code::E415, "unknown_delimiter", used("1:2\n3:4\n", {})},
      {Code::E415, "other_delimiter", used("1:2\n3:4\n", {}, {Header::automatic, ';'})},
      {Code::E416, "column_misspelt", used("age,dose\n1,2\n", {"agee"})},
      {Code::E416, "column_of_array", [](Diagnostics& d) {
         std::filesystem::current_path(fixture(""));
         Inputs({}, Missing::refuse).read("float32.npy:a", d);
       }},
      {Code::E417, "empty", used("", {})},
      {Code::W401, "numbers_first", used("2019,2020\n1,2\n", {})},
      {Code::W402, "decimal_comma", used("a;b\n0,5;1\n", {})},
      {Code::W403, "long_integer", used("id,v\n9007199254740993,1\n", {"id"})},
      {Code::W404, "text_left_out", used("kind,v\na,1\nb,2\n", {})},
  };
}

std::vector<Case> other_cases() {
  return {
      {Code::E420, "not_finite", [](Diagnostics& d) { check_finite(array_of({0, 0, 1, absent, 2, 2}, {3, 2}), {"x", {}}, Missing::refuse, d); }},
      {Code::E420, "not_finite_named", [](Diagnostics& d) { check_finite(array_of({0, absent, 1, absent}, {2, 2}), {"x", {"age", "dose"}}, Missing::refuse, d); }},
      {Code::E420, "not_finite_cube", [](Diagnostics& d) { check_finite(array_of({0, 0, 0, absent}, {1, 2, 2}), {"x", {}}, Missing::refuse, d); }},
      {Code::E421, "not_whole", [](Diagnostics& d) { as_integers(array_of({1, 2.5}, {2}), {"k", {}}, d); }},
      {Code::E421, "missing_integer", [](Diagnostics& d) { as_integers(array_of({1, absent}, {2}), {"k", {}}, d); }},
      {Code::E421, "too_long", [](Diagnostics& d) { as_integers(array_of({0x1p60}, {1}), {"k", {}}, d); }},
      {Code::E422, "not_boolean", [](Diagnostics& d) { as_booleans(array_of({0, 2}, {2}), {"mask", {}}, d); }},
      {Code::E423, "number_for_vector", [](Diagnostics& d) { check_shape(array_of({1}, {}), {"x", {}}, {1}, d); }},
      {Code::E423, "vector_for_matrix", [](Diagnostics& d) { check_shape(array_of({1, 2}, {2}), {"x", {}}, {-1, 3}, d); }},
      {Code::E430, "no_folder", [](Diagnostics& d) { write_file("absent/out.csv", "x", d); }},
      {Code::E430, "folder_target", [](Diagnostics& d) {
         std::filesystem::current_path(fixture(""));
         write_file("folder", "x", d);
       }},
      {Code::E431, "three_axes", table_text({{"m", Array(Dtype::float64, {2, 3, 4})}})},
      {Code::E431, "rows_differ", table_text({{"m", Array(Dtype::float64, {2})}, {"k", Array(Dtype::float64, {3})}})},
      {Code::E431, "two_in_npy", [](Diagnostics& d) {
         const std::vector<Result> two(2, Result{"m", Array(Dtype::float64, {1})});
         write_results("out.npy", two, {}, d);
       }},
      {Code::E432, "unknown_end", [](Diagnostics& d) { write_results("out.xlsx", {}, {}, d); }},
      {Code::E440, "header_too_long", safetensors(std::string("\xFF\0\0\0\0\0\0\0{}", 10))},
      {Code::E440, "not_json", safetensors(tensors("{\"w\": ", 0))},
      {Code::E440, "left_over", safetensors(tensors("{}", 4))},
      {Code::E440, "cut_archive", [](Diagnostics& d) { open_npz(held(bytes_of(fixture("stored.npz")).substr(0, 300)), "w.npz", d); }},
      {Code::E441, "all_faults_at_once", safetensors(tensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]},"b":{"dtype":"F8","shape":[1],"data_offsets":[8,9]},)"
                                                             R"("c":{"dtype":"F32","shape":[2],"data_offsets":[4,99]},"d":5,"d":6})", 16))},
      {Code::E441, "overlap", safetensors(tensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12))},
  };
}

std::string one(const std::string& entry, std::size_t bytes) { return tensors("{\"a\":{" + entry + "}}", bytes); }

std::vector<Case> weights_cases() {
  return {
      {Code::E440, "no_header", safetensors("abc")},
      {Code::E440, "header_is_list", safetensors(tensors("[1, 2]", 0))},
      {Code::E441, "negative_shape", safetensors(one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])", 8))},
      {Code::E441, "huge_product", safetensors(one(R"("dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,8])", 8))},
      {Code::E441, "bytes_overflow", safetensors(one(R"("dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,8])", 8))},
      {Code::E441, "offsets_reversed", safetensors(one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])", 8))},
      {Code::E441, "offsets_beyond", safetensors(one(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])", 8))},
      {Code::E441, "wrong_dtype", safetensors(one(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])", 8))},
      {Code::E441, "field_twice", safetensors(one(R"("dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,8])", 8))},
      {Code::E441, "hole", safetensors(tensors(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})", 12))},
      {Code::E442, "weight_nan", [](Diagnostics& d) { check_weight(array_of({0, 1, 2, absent, 4, absent}, {2, 3}), "h.0.w", "w.safetensors", d); }},
      {Code::E442, "weight_infinite", [](Diagnostics& d) { check_weight(array_of({-std::numeric_limits<double>::infinity()}, {}), "b", "w.safetensors", d); }},
      {Code::E443, "map_no_name", mapped("# a comment\n  = b\n")},
      {Code::E443, "map_no_equals", mapped("a b\n")},
      {Code::E443, "map_no_theirs", mapped("a = # nothing\n")},
      {Code::E443, "map_bad_cut", mapped("a = b[x]\n")},
      {Code::E443, "map_open_cut", mapped("a = b[0:2\n")},
      {Code::E443, "map_more", mapped("a = b transpose\n")},
      {Code::E443, "map_wildcards", mapped("a.* = b\nc = h.*.w\n")},
      {Code::E443, "map_prefix_pattern", mapped("prefix *.\n")},
      {Code::E443, "map_ignore_alone", mapped("ignore\n")},
      {Code::E444, "map_unknown_name", mapped("a = bb\nignore *\nc.* = h.*.ww\nd = nothing.like.it\n")},
      {Code::E445, "map_cut_beyond", mapped("a.* = h.*.w[:, 2:9]\n")},
      {Code::E445, "map_cut_reversed", mapped("a = b[2:1]\n")},
      {Code::E445, "map_cut_axes", mapped("a = b[:, 0:1]\n")},
      {Code::E445, "map_part_uneven", mapped("a.* = h.*.w[:, 0 of 4]\n")},
      {Code::E445, "map_part_beyond", mapped("a = b[3 of 3]\n")},
      {Code::E445, "map_transposed", mapped("a = b transposed\n")},
      {Code::E446, "map_twice", mapped("a.* = h.*.w\na.0 = b\n")},
      {Code::E446, "map_prefix_meets", mapped("prefix t.\na = b\n")},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> all = npy_cases();
  for (auto& more : {table_cases(), other_cases(), weights_cases()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool of_this_room(const std::string& name) { return (name[0] == 'E' || name[0] == 'W') && name[1] == '4' && name[2] < '5'; }

}  // namespace

TEST_CASE("a broken input gives the whole message") {
  const auto back = std::filesystem::current_path();
  for (const Case& each : all_cases()) {
    Diagnostics diagnostics;
    each.run(diagnostics);
    std::filesystem::current_path(back);
    INFO(each.title);
    REQUIRE_FALSE(diagnostics.all().empty());
    CHECK(diagnostics.all().back().code == each.code);
    CHECK(rendered(diagnostics, texts()) == bytes_of(std::string(LOCUS_TREE) + "/tests/data/messages/" + each.title + ".txt"));
  }
}

TEST_CASE("every text in messages/ belongs to a case") {
  std::set<std::string> titles;
  for (const Case& each : all_cases()) titles.insert(each.title);
  for (const auto& entry : std::filesystem::directory_iterator(std::string(LOCUS_TREE) + "/tests/data/messages")) {
    INFO(entry.path().string());
    CHECK(titles.count(entry.path().stem().string()) == 1);
  }
}

TEST_CASE("every code of this room has a case") {
  std::set<Code> covered;
  for (const Case& each : all_cases()) covered.insert(each.code);
  for (const CodeInfo& row : code_table()) {
    if (!of_this_room(row.name)) continue;
    INFO(row.name);
    CHECK(covered.count(row.code) == 1);
  }
}
