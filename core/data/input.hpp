// What stands after `--x`: `points.npy`, `prices.csv`, `prices.csv:age,dose`, `-`, `-:age`. Each file is read once, however often it is named.
// Knows nothing of the inputs of a model.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "core/data/csv.hpp"

namespace locus {

struct Input {
  Array array;
  Named named;  ///< the text of the input and the names of its columns, for the checks of door.hpp
};

class Inputs {
 public:
  Inputs(TableOptions options, Missing policy) : options_(options), policy_(policy) {}

  /// Nothing after a fault; a file that failed before fails again without a second message.
  std::optional<Input> read(const std::string& text, Diagnostics& diagnostics);
  /// A column of a table as labels; exactly one column must be named or present.
  std::optional<Labels> read_labels(const std::string& text, Diagnostics& diagnostics);
  /// What was found in each table read so far, one line each: "prices.csv: 3 columns, 20 rows, delimiter comma, header found".
  std::vector<std::string> notes() const;

 private:
  struct File {
    std::optional<Array> array;
    std::optional<Table> table;
  };
  struct Choice {
    std::string path;
    std::optional<std::string> columns;
  };
  static Choice split(const std::string& text);
  const File& open(const std::string& path, Diagnostics& diagnostics);
  static std::vector<std::string> names_in(const Table& table, const std::string& columns);

  TableOptions options_;
  Missing policy_;
  std::map<std::string, File> files_;
};

}  // namespace locus
