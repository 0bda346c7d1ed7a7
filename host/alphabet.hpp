// Text as numbers and back: each character is its place in an alphabet, or each byte is its value.
// Must not know where texts come from and go to.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"

namespace locus::host {

class Alphabet {
 public:
  /// "bytes", or a file in UTF-8 that holds each character once (E401, E425).
  static std::optional<Alphabet> read(const std::string& path, Diagnostics& diagnostics);

  /// int64 [length]; nothing after a message (E424). `name`: of the input that the text is given to.
  std::optional<Array> numbers(const std::string& text, const std::string& name, Diagnostics& diagnostics) const;
  /// The characters of an array of integers; a number without one is shown as <number>.
  std::string text(const Array& numbers) const;

 private:
  std::vector<std::string> letters_;
  std::map<std::string, std::int64_t> places_;
  std::string path_;
};

}  // namespace locus::host
