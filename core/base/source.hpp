// Source texts and spans. A span is a pair of byte offsets in one text; line and column are computed only when a message is written.
// Knows nothing of the language.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

/// Bytes [low, high) of the text `source`. `source` is 0 for "nowhere": real texts are numbered from 1.
struct Span {
  std::uint32_t source = 0, low = 0, high = 0;
  bool set() const { return source != 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// The smallest span that covers both; either may be unset.
Span cover(Span a, Span b);

struct Source {
  std::string name;  ///< as the user wrote it: a path, "<std>/kernels.locus" or "-"
  std::string text;
};

/// Line and column count from 1; the column counts characters (UTF-8 code points), not bytes.
struct Place {
  std::uint32_t line = 1, column = 1;
};

/// Owns all texts of one run. Ids stay valid for its lifetime.
class Sources {
 public:
  std::uint32_t add(std::string name, std::string text);
  const Source& at(std::uint32_t id) const { return *texts_.at(id - 1); }
  std::size_t count() const { return texts_.size(); }
  std::string_view text(Span span) const;
  Place place(std::uint32_t source, std::uint32_t offset) const;
  /// The whole line that holds the offset, without its line end.
  std::string_view line(std::uint32_t source, std::uint32_t offset) const;

 private:
  std::vector<std::unique_ptr<Source>> texts_;
};

}  // namespace locus
