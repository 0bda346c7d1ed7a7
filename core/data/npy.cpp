// The .npy format. The header is the text of a Python dictionary; only the three keys and the value forms that numpy writes are known.
// Must not know what the array is for.
#include "core/data/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/data/file.hpp"

namespace locus {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_axes = 64;
constexpr const char* kinds_read = "bool, int8 to int64, uint8 to uint64, float16, float32, float64";

struct Heading {
  std::string descr;       ///< "<f8"; empty when it was a list of fields
  bool record = false;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

/// Reads the dictionary; `fault` says in words what stopped it.
class HeadingReader {
 public:
  explicit HeadingReader(std::string_view text) : rest_(text) {}

  std::optional<Heading> read() {
    if (!take('{')) return stop("it does not open with '{'");
    while (!take('}')) {
      const std::optional<std::string> key = quoted();
      if (!key) return stop("a key in quotes was expected");
      if (!take(':')) return stop("no ':' after the key '" + *key + "'");
      if (!value(*key)) return std::nullopt;
      if (!take(',') && peek() != '}') return stop("',' or '}' was expected after the value of '" + *key + "'");
    }
    skip();
    if (!rest_.empty()) return stop("something follows its closing '}'");
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (!seen_[i]) return stop("it has no key '" + std::string(keys[i]) + "'");
    return heading_;
  }
  const std::string& fault() const { return fault_; }

 private:
  static constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};

  std::nullopt_t stop(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
    return std::nullopt;
  }
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  char peek() {
    skip();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    skip();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool value(const std::string& key) {
    const auto known = std::find(keys.begin(), keys.end(), key);
    if (known == keys.end()) return stop("it has the unknown key '" + key + "'"), false;
    bool& seen = seen_[static_cast<std::size_t>(known - keys.begin())];
    if (std::exchange(seen, true)) return stop("the key '" + key + "' stands twice"), false;
    if (key == "descr") return descr();
    if (key == "fortran_order") return order();
    return shape();
  }
  bool descr() {
    if (peek() == '[') return heading_.record = true, skip_fields();
    const std::optional<std::string> text = quoted();
    if (!text) return stop("the value of 'descr' is neither a text nor a list"), false;
    heading_.descr = *text;
    return true;
  }
  /// Runs over the fields of a record: they are refused later, with the header known to be whole.
  bool skip_fields() {
    std::int64_t depth = 0;
    while (peek() != '\0') {
      if (peek() == '\'' || peek() == '"') {
        if (!quoted()) break;
        continue;
      }
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '[' || c == '(') ++depth;
      if ((c == ']' || c == ')') && --depth == 0) return true;
    }
    return stop("the list of fields in 'descr' does not end"), false;
  }
  bool order() {
    if (take(std::string_view("True"))) return heading_.fortran = true;
    if (take(std::string_view("False"))) return true;
    return stop("the value of 'fortran_order' is neither True nor False"), false;
  }
  bool shape() {
    if (!take('(')) return stop("the value of 'shape' does not open with '('"), false;
    while (!take(')')) {
      skip();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error == std::errc::result_out_of_range) return stop("a size in 'shape' exceeds 63 bits"), false;
      if (error != std::errc()) return stop("'shape' holds something that is not a whole number"), false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      take('L');  // the mark of long integers in files of Python 2
      if (size < 0) return stop("'shape' holds the negative size " + std::to_string(size)), false;
      if (heading_.shape.size() == most_axes) return stop("'shape' has more than 64 axes"), false;
      heading_.shape.push_back(size);
      if (!take(',') && peek() != ')') return stop("',' or ')' was expected in 'shape'"), false;
    }
    return true;
  }

  std::string_view rest_;
  Heading heading_;
  std::array<bool, 3> seen_{};
  std::string fault_;
};

struct Type {
  Stored kind;
  bool big_endian;
};

std::optional<Type> type_of(std::string_view descr) {
  bool big = false;
  if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
    big = descr.front() == '>';
    descr.remove_prefix(1);
  }
  static constexpr std::pair<std::string_view, Stored> kinds[] = {
      {"b1", Stored::boolean}, {"?", Stored::boolean},  {"i1", Stored::int8},    {"i2", Stored::int16},   {"i4", Stored::int32},
      {"i8", Stored::int64},   {"u1", Stored::uint8},   {"u2", Stored::uint16},  {"u4", Stored::uint32},  {"u8", Stored::uint64},
      {"f2", Stored::float16}, {"f4", Stored::float32}, {"f8", Stored::float64}};
  for (const auto& [name, kind] : kinds)
    if (name == descr) return Type{kind, big};
  return std::nullopt;
}

/// What a refused descr is called in numpy's own words.
std::string refused(const Heading& heading) {
  if (heading.record) return "records (a list of fields)";
  std::string_view descr = heading.descr;
  if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) descr.remove_prefix(1);
  const std::string shown = "'" + heading.descr + "'";
  switch (descr.empty() ? '\0' : descr.front()) {
    case 'O': return "Python objects " + shown;
    case 'S': case 'U': case 'a': return "text " + shown;
    case 'c': return "complex numbers " + shown;
    case 'M': case 'm': return "dates or times " + shown;
    case 'V': return "raw bytes " + shown;
    case 'f': return "floats of another size " + shown;
    default: return "the type " + shown;
  }
}

std::string repair_of(const Heading& heading) {
  const std::size_t at = heading.descr.find_first_not_of("<>|=");
  const char letter = at == std::string::npos ? '\0' : heading.descr[at];
  if (letter == 'c') return "save real and imaginary part as two arrays: `numpy.save('real.npy', array.real)`";
  if (heading.record) return "save one field: `numpy.save('field.npy', array['field'])`";
  return "convert before saving: `numpy.save('floats.npy', array.astype('float64'))`";
}

struct Frame {
  std::string_view heading, data;
};

/// Splits the bytes into header text and data; E403 if they are too few for what they announce.
std::optional<Frame> frame_of(std::string_view bytes, const std::string& name, Diagnostics& diagnostics) {
  const auto broken = [&](std::string message) {
    diagnostics.add({Code::E403, {}, std::move(message), {}, {}, {}, name});
    return std::nullopt;
  };
  if (!is_npy(bytes)) return broken("not a .npy file: it does not open with the bytes 93 4E 55 4D 50 59");
  if (bytes.size() < 10) return broken("the file ends after " + std::to_string(bytes.size()) + " bytes, within the header");
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  const std::uint32_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    return broken("found version " + std::to_string(major) + "." + std::to_string(minor) + " of the format, known are 1.0, 2.0 and 3.0");
  const std::size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) return broken("the file ends after " + std::to_string(bytes.size()) + " bytes, within the header");
  const std::size_t length = byte(8) | byte(9) << 8 | (major == 1 ? 0u : byte(10) << 16 | byte(11) << 24);
  if (length > bytes.size() - start)
    return broken("the header is said to be " + std::to_string(length) + " bytes long, only " + std::to_string(bytes.size() - start) + " follow");
  return Frame{bytes.substr(start, length), bytes.substr(start + length)};
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.substr(0, magic.size()) == magic; }

std::optional<NpyFrame> frame_npy(std::string_view bytes, const std::string& name, Diagnostics& diagnostics) {
  const std::optional<Frame> frame = frame_of(bytes, name, diagnostics);
  if (!frame) return std::nullopt;
  HeadingReader reader(frame->heading);
  std::optional<Heading> heading = reader.read();
  if (!heading) {
    diagnostics.add({Code::E403, {}, "the header cannot be read: " + reader.fault(), {}, {}, {}, name});
    return std::nullopt;
  }
  const std::optional<Type> type = heading->record ? std::nullopt : type_of(heading->descr);
  if (!type) {
    diagnostics.add({Code::E404, {}, "found " + refused(*heading) + ", read are " + kinds_read, {}, {}, repair_of(*heading), name});
    return std::nullopt;
  }
  const std::optional<std::int64_t> count = count_of(heading->shape);
  const std::uint64_t size = size_of(type->kind);
  if (!count || static_cast<std::uint64_t>(*count) > UINT64_MAX / size) {
    diagnostics.add({Code::E403, {}, "the shape " + shape_text(heading->shape) + " has more entries than can be counted", {}, {}, {}, name});
    return std::nullopt;
  }
  const std::uint64_t needed = static_cast<std::uint64_t>(*count) * size;
  if (frame->data.size() != needed) {
    const bool cut = frame->data.size() < needed;
    diagnostics.add({Code::E405, {}, "the shape " + shape_text(heading->shape) + " of '" + heading->descr + "' needs " + std::to_string(needed) +
                                         " bytes, found " + std::to_string(frame->data.size()),
                     {}, {}, cut ? "the file was cut: copy or write it again" : "the file holds more than one array: save each to a file of its own",
                     name});
    return std::nullopt;
  }
  return NpyFrame{std::move(heading->descr), type->kind, {type->big_endian, heading->fortran}, std::move(heading->shape), frame->data};
}

std::optional<Array> read_npy(std::string_view bytes, const std::string& name, Diagnostics& diagnostics) {
  std::optional<NpyFrame> frame = frame_npy(bytes, name, diagnostics);
  if (!frame) return std::nullopt;
  return decode(frame->data, frame->kind, frame->layout, std::move(frame->shape), name, diagnostics);
}

std::optional<Array> read_npy_file(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::string> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  return read_npy(*bytes, shown_name(path), diagnostics);
}

std::string npy_bytes(const Array& array) {
  const char* descr = array.dtype() == Dtype::boolean ? "|b1" : array.dtype() == Dtype::int64 ? "<i8" : array.dtype() == Dtype::float32 ? "<f4" : "<f8";
  std::string text = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < array.shape().size(); ++axis) text += (axis > 0 ? " " : "") + std::to_string(array.shape()[axis]) + ",";
  if (array.shape().size() > 1) text.pop_back();
  text += "), }";
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string bytes(magic);
  bytes += {'\x01', '\x00', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  bytes += text;
  if (array.bytes() > 0) bytes.append(static_cast<const char*>(array.data()), array.bytes());
  return bytes;
}

}  // namespace locus
