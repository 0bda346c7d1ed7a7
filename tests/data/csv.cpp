// Tables: what is found (delimiter, header, decimals), what is said about it, and what columns give.
#include <cmath>
#include <locale>
#include "core/data/csv.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {

Table table_of(const std::string& text, TableOptions options = {}) {
  Diagnostics diagnostics;
  auto table = read_csv(text, "t.csv", options, diagnostics);
  INFO(text << "\n" << rendered(diagnostics));
  REQUIRE(table);
  return *table;
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> found;
  for (const Column& column : table.columns) found.push_back(column.name);
  return found;
}

std::vector<double> column(const Table& table, const std::string& name) {
  Diagnostics diagnostics;
  const auto array = select(table, {name}, Missing::refuse, diagnostics);
  INFO(rendered(diagnostics));
  REQUIRE(array);
  CHECK(array->shape() == std::vector<std::int64_t>{table.rows()});
  return numbers(*array);
}

using Names = std::vector<std::string>;
using Values = std::vector<double>;

}  // namespace

TEST_CASE("a header of words gives names and is no row") {
  const Table table = table_of("a,b\n1,2\n3,4\n");
  CHECK(table.header);
  CHECK(names(table) == Names{"a", "b"});
  CHECK(column(table, "a") == Values{1, 3});
  CHECK(column(table, "b") == Values{2, 4});
  CHECK(table.lines == std::vector<std::uint32_t>{2, 3});
  CHECK(table.notes == Names{"2 columns, 2 rows", "delimiter comma", "header in the first line"});
}

TEST_CASE("a first line of numbers is data, and the option changes it") {
  const std::string text = "2019,2020\n1,2\n";
  const Table data = table_of(text);
  CHECK_FALSE(data.header);
  CHECK(column(data, "1") == Values{2019, 1});
  const Table headed = table_of(text, {Header::yes, {}});
  CHECK(names(headed) == Names{"2019", "2020"});
  CHECK(column(headed, "2020") == Values{2});
  Diagnostics diagnostics;
  CHECK(read_csv(text, "t.csv", {Header::no, {}}, diagnostics));
  CHECK(diagnostics.all().empty());
}

TEST_CASE("each delimiter is found and named") {
  const auto [text, name] = GENERATE(table<const char*, const char*>({{"a,b\n1,2\n", "comma"}, {"a;b\n1;2\n", "semicolon"}, {"a\tb\n1\t2\n", "tab"},
                                                                      {"a|b\n1|2\n", "bar"}, {"a b\n1 2\n", "space"}, {"  a   b  \n  1   2\n", "space"},
                                                                      {"a;b\n0,5;1,5\n", "semicolon"}, {"a,b\nx;y,2\nz;w,3\n", "comma"}}));
  const Table found = table_of(text);
  INFO(text);
  CHECK(found.columns.size() == 2);
  CHECK(delimiter_name(found.delimiter) == name);
  CHECK(found.notes[1] == std::string("delimiter ") + name);
}

TEST_CASE("a delimiter that is named is used, whatever else could part the cells") {
  const Table table = table_of("a:b\n1,5:2\n3:4\n", {Header::automatic, ':'});
  CHECK(names(table) == Names{"a", "b"});
  CHECK(column(table, "a") == Values{1.5, 3});
  CHECK(table.notes[1] == "delimiter ':'");
  CHECK(names(table_of("a;b,c\n1;2,3\n", {Header::yes, ','})) == Names{"a;b", "c"});
}

TEST_CASE("a delimiter is a word or a sign that no number and no quote is made of") {
  CHECK(delimiter_in("tab") == '\t');
  CHECK(delimiter_in("\t") == '\t');
  CHECK(delimiter_in("semicolon") == ';');
  CHECK(delimiter_in(" ") == ' ');
  CHECK(delimiter_in("'") == '\'');
  for (const char* refused : {"", "0", "e", "Z", ".", "-", "+", "\"", "\n", "\r", "::", "comma ", "\x7f", "\xc3"}) {
    CAPTURE(refused);
    CHECK_FALSE(delimiter_in(refused));
  }
  CHECK_FALSE(delimiter_in(std::string_view("\0", 1)));
}

TEST_CASE("words parted by spaces are one column") {
  const Table table = table_of("name\nred fox\nold bear\n");
  CHECK(table.columns.size() == 1);
  CHECK(table.columns[0].labels == Names{"red fox", "old bear"});
}

TEST_CASE("quotes hold commas, line ends and doubled quotes") {
  const Table table = table_of("name,n\n\"x, y\",2\n\"two\nlines\",3\n\"say \"\"so\"\"\", 4 \n");
  CHECK(table.columns[0].labels == Names{"x, y", "two\nlines", "say \"so\""});
  CHECK(column(table, "n") == Values{2, 3, 4});
  CHECK(table.lines == std::vector<std::uint32_t>{2, 3, 5});
}

TEST_CASE("quoted numbers are numbers") { CHECK(column(table_of("\"a\",\"b\"\n\"1\",\"2\"\n"), "b") == Values{2}); }

TEST_CASE("line ends, byte order mark and blank lines do not matter") {
  for (const char* text : {"a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\n3,4", "\xEF\xBB\xBF" "a,b\n1,2\n3,4\n", "a,b\r1,2\r3,4\r", "a,b\n\n1,2\n3,4\n\n\n"}) {
    const Table table = table_of(text);
    CHECK(names(table) == Names{"a", "b"});
    CHECK(column(table, "b") == Values{2, 4});
  }
}

TEST_CASE("a blank line within one column is a missing cell, at the end it is nothing") {
  const Table table = table_of("a\n1\n\n3\n\n");
  CHECK(table.rows() == 3);
  CHECK(table.columns[0].missing == std::vector<std::int64_t>{1});
}

TEST_CASE("numbers are read exactly, whatever the locale") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
  };
  const std::string text = "a\n0.5\n+1e-3\n-.25\n1e23\n4.9e-324\n1e-400\ninf\n";
  const Values plain = column(table_of(text), "a");
  CHECK(plain == Values{0.5, 0.001, -0.25, 1e23, 4.9e-324, 0, std::numeric_limits<double>::infinity()});
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const Values other = column(table_of(text), "a");
  std::locale::global(before);
  CHECK(other == plain);
}

TEST_CASE("decimal commas are read where the delimiter is another, and said") {
  Diagnostics diagnostics;
  const auto table = read_csv("a;b\n0,5;1\n-1,25;2\n", "t.csv", {}, diagnostics);
  REQUIRE(table);
  CHECK(column(*table, "a") == Values{0.5, -1.25});
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].code == Code::W402);
}

TEST_CASE("1,234 alone may be thousands and is refused") {
  Diagnostics diagnostics;
  const auto table = read_csv("a;b\n1,234;1\n5,678;2\n", "t.csv", {}, diagnostics);
  REQUIRE(table);
  CHECK_FALSE(select(*table, {"a"}, Missing::refuse, diagnostics));
  REQUIRE(diagnostics.errors() == 1);
  CHECK(diagnostics.all().back().help == "write decimals with a point and thousands without a mark: `1234.5`");
}

TEST_CASE("missing cells are refused or become NaN; every spelling counts") {
  const Table table = table_of("a,b\n1,1\n,2\nNA,3\nN/A,4\nnan,5\nNaN,6\nnull,7\n.,8\nNone,9\n\"\",10\n");
  CHECK(table.columns[0].missing == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  Diagnostics diagnostics;
  CHECK_FALSE(select(table, {"a"}, Missing::refuse, diagnostics));
  CHECK(diagnostics.errors() == 1);
  const auto both = select(table, {"b", "a"}, Missing::nan, diagnostics);
  REQUIRE(both);
  CHECK(both->shape() == std::vector<std::int64_t>{10, 2});
  CHECK(both->number(0) == 1);
  CHECK(both->number(2) == 2);
  CHECK(std::isnan(both->number(3)));
}

TEST_CASE("an empty cell does not change the type of its column") {
  const Table table = table_of("1,,3\n4,5,6\n");
  CHECK(table.columns[1].missing == std::vector<std::int64_t>{0});
  CHECK_FALSE(table.columns[1].text());
}

TEST_CASE("a column of text is left out of all columns, kept as labels") {
  const Table table = table_of("date,kind,v\n2020-01-01,b,1\n2020-01-02,a,2\n2020-01-03,b,3\n");
  Diagnostics diagnostics;
  CHECK(number_columns(table, diagnostics) == Names{"v"});
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].message == "the columns of text 'date', 'kind' are left out");
  const auto labels = select_labels(table, "kind", Missing::refuse, diagnostics);
  REQUIRE(labels);
  CHECK(labels->names == Names{"a", "b"});
  CHECK(numbers(labels->codes) == Values{1, 0, 1});
}

TEST_CASE("one wrong cell among numbers is an error, not a column left out") {
  const Table table = table_of("a,b\n1,1\n2,2\n3x,3\n4,4\n");
  Diagnostics diagnostics;
  CHECK(number_columns(table, diagnostics) == Names{"a", "b"});
  CHECK_FALSE(select(table, {"a", "b"}, Missing::refuse, diagnostics));
  CHECK(diagnostics.all().back().where == "t.csv:4");
}

TEST_CASE("a header alone is a table without rows") {
  const Table table = table_of("a,b\n");
  CHECK(table.header);
  CHECK(table.rows() == 0);
  CHECK(column(table, "a").empty());
}

TEST_CASE("labels: missing is NaN under a policy, numbers serve as labels") {
  const Table table = table_of("k,n\na,1\n,2\nb,10\n");
  Diagnostics diagnostics;
  const auto labels = select_labels(table, "k", Missing::drop, diagnostics);
  REQUIRE(labels);
  CHECK(labels->names == Names{"a", "b"});
  CHECK(labels->codes.number(0) == 0);
  CHECK(std::isnan(labels->codes.number(1)));
  CHECK(labels->codes.number(2) == 1);
  const auto counted = select_labels(table, "n", Missing::refuse, diagnostics);
  REQUIRE(counted);
  CHECK(counted->names == Names{"1", "10", "2"});
}

TEST_CASE("two columns of text tell their header by what comes again") {
  CHECK(table_of("name,town\nann,york\nbob,bath\n").header);
  CHECK_FALSE(table_of("ann,york\nbob,bath\nann,york\n").header);
}
