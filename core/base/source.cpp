// Source texts: storage, and the way from a byte offset to line, column and the line's text.
// Knows nothing of the language or of how a message looks.
#include "core/base/source.hpp"
#include <algorithm>
#include <limits>
#include <stdexcept>

namespace locus {

Span cover(Span a, Span b) {
  if (!a.set()) return b;
  if (!b.set() || a.source != b.source) return a;
  return {a.source, std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::uint32_t Sources::add(std::string name, std::string text) {
  // A byte order mark is no part of the text: with it, every column of the first line would be one too high.
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);
  if (text.size() >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("a source text of 4 GiB or more");
  texts_.push_back(std::make_unique<Source>(Source{std::move(name), std::move(text)}));
  return static_cast<std::uint32_t>(texts_.size());
}

std::string_view Sources::text(Span span) const {
  if (!span.set()) return {};
  const std::string& all = at(span.source).text;
  const std::size_t low = std::min<std::size_t>(span.low, all.size());
  const std::size_t high = std::clamp<std::size_t>(span.high, low, all.size());
  return std::string_view(all).substr(low, high - low);
}

Place Sources::place(std::uint32_t source, std::uint32_t offset) const {
  const std::string& all = at(source).text;
  const std::size_t end = std::min<std::size_t>(offset, all.size());
  Place place;
  for (std::size_t k = 0; k < end; ++k) {
    const auto byte = static_cast<unsigned char>(all[k]);
    if (byte == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((byte & 0xC0) != 0x80) {  // continuation bytes belong to the character before
      ++place.column;
    }
  }
  return place;
}

std::string_view Sources::line(std::uint32_t source, std::uint32_t offset) const {
  const std::string_view all = at(source).text;
  const std::size_t point = std::min<std::size_t>(offset, all.size());
  const std::size_t before = point == 0 ? std::string_view::npos : all.rfind('\n', point - 1);
  const std::size_t low = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t high = std::min(all.find('\n', point), all.size());
  std::string_view found = all.substr(low, high - low);
  if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
  return found;
}

}  // namespace locus
