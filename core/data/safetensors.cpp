// The .safetensors format: the length of a JSON header, the header, then the bytes of all arrays without gaps or overlaps.
// Must not know of other forms of weights. Each array is checked by itself first, then all against each other and the file.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/data/stored.hpp"
#include "core/data/weights.hpp"

namespace locus {
namespace {

using Json = nlohmann::json;

struct Tensor {
  std::string name, type;
  Stored kind;
  std::vector<std::int64_t> shape;
  std::uint64_t low, high;
};

constexpr std::pair<std::string_view, Stored> kinds[] = {
    {"F64", Stored::float64}, {"F32", Stored::float32}, {"F16", Stored::float16}, {"BF16", Stored::bfloat16}, {"I64", Stored::int64},
    {"I32", Stored::int32},   {"I16", Stored::int16},   {"I8", Stored::int8},     {"U64", Stored::uint64},    {"U32", Stored::uint32},
    {"U16", Stored::uint16},  {"U8", Stored::uint8},    {"BOOL", Stored::boolean}};

class Reader {
 public:
  Reader(const FileBytes& file, const std::string& name, Diagnostics& diagnostics)
      : file_(file), bytes_(file.view), name_(name), diagnostics_(diagnostics), before_(diagnostics.errors()) {}

  std::optional<Weights> read() {
    const std::optional<Json> header = parse_header();
    if (!header) return std::nullopt;
    for (const auto& [name, entry] : header->items())
      if (name != "__metadata__") add(name, entry);
    check_places();
    if (failed()) return std::nullopt;
    Weights weights;
    for (Tensor& tensor : tensors_) {
      const std::string_view part = data_.substr(tensor.low, tensor.high - tensor.low);
      auto read = [file = file_, part, kind = tensor.kind, shape = tensor.shape, name = name_ + ":" + tensor.name](Diagnostics& diagnostics) {
        auto array = decode(part, kind, {}, shape, name, diagnostics);
        file.forget(part);
        return array;
      };
      weights.emplace(std::move(tensor.name), StoredArray{std::move(tensor.type), dtype_of(tensor.kind), std::move(tensor.shape), part.size(), std::move(read)});
    }
    return weights;
  }

 private:
  bool failed() const { return diagnostics_.errors() > before_; }
  void broken(std::string message) { diagnostics_.add({Code::E440, {}, std::move(message), {}, {}, {}, name_}); }
  void broken(const std::string& tensor, const std::string& message) {
    diagnostics_.add({Code::E441, {}, "'" + tensor + "': " + message, {}, {}, {}, name_});
  }

  std::optional<Json> parse_header() {
    constexpr std::size_t front = 8;
    std::uint64_t length = 0;
    if (bytes_.size() < front) return broken("not a .safetensors file: it has only " + std::to_string(bytes_.size()) + " bytes"), std::nullopt;
    std::memcpy(&length, bytes_.data(), front);
    if (length > bytes_.size() - front)
      return broken("not a .safetensors file, or cut: its header would be " + std::to_string(length) + " bytes long, " +
                    std::to_string(bytes_.size() - front) + " follow"),
             std::nullopt;
    const std::string_view text = bytes_.substr(front, length);
    data_ = bytes_.substr(front + length);
    // The parser keeps the last of two equal keys; only this callback sees both.
    std::set<std::string> names, fields;
    std::string name;
    std::vector<std::pair<std::string, std::string>> twice;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
      if (event != Json::parse_event_t::key || depth > 2) return true;
      const std::string key = value.get<std::string>();
      if (depth == 1) name = key, fields.clear();
      if (!(depth == 1 ? names : fields).insert(key).second) twice.emplace_back(name, depth == 1 ? "the name stands twice" : "its entry gives '" + key + "' twice");
      return true;
    };
    Json header = Json::parse(text.begin(), text.end(), watch, false);
    if (header.is_discarded() || !header.is_object()) return broken("its header is not a JSON object"), std::nullopt;
    for (const auto& [array, fault] : twice) broken(array, fault);
    return header;
  }

  static std::optional<std::vector<std::int64_t>> sizes(const Json& list) {
    if (!list.is_array()) return std::nullopt;
    std::vector<std::int64_t> values;
    for (const Json& item : list) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
      values.push_back(item.get<std::int64_t>());
    }
    return values;
  }

  void add(const std::string& name, const Json& entry) {
    const auto field = [&](const char* key) { return entry.is_object() && entry.contains(key) ? entry.at(key) : Json(); };
    const Json dtype = field("dtype");
    const auto shape = sizes(field("shape")), offsets = sizes(field("data_offsets"));
    if (!dtype.is_string() || !shape || !offsets || offsets->size() != 2)
      return broken(name, "its entry is not {\"dtype\": text, \"shape\": [sizes], \"data_offsets\": [low, high]}");
    const std::string word = dtype.get<std::string>();
    const auto kind = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& each) { return each.first == word; });
    if (kind == std::end(kinds))
      return broken(name, "found the type '" + word + "', read are F64, F32, F16, BF16, I8 to I64, U8 to U64 and BOOL");
    const auto low = static_cast<std::uint64_t>((*offsets)[0]), high = static_cast<std::uint64_t>((*offsets)[1]);
    if (low > high) return broken(name, "its bytes begin at " + std::to_string(low) + " and end before, at " + std::to_string(high));
    if (high > data_.size())
      return broken(name, "its bytes " + std::to_string(low) + " to " + std::to_string(high) + " lie outside the " + std::to_string(data_.size()) +
                              " bytes of data: the file was cut");
    const std::optional<std::int64_t> count = count_of(*shape);
    std::uint64_t needed = 0;
    if (!count || __builtin_mul_overflow(static_cast<std::uint64_t>(*count), size_of(kind->second), &needed) || needed != high - low)
      return broken(name, "the shape " + shape_text(*shape) + " of " + word + " does not fill its " + std::to_string(high - low) + " bytes");
    tensors_.push_back({name, word, kind->second, *shape, low, high});
  }

  /// Sorted by place, each array must begin where the one before ended, and the last one end with the file.
  void check_places() {
    if (failed()) return;
    std::vector<const Tensor*> order;
    for (const Tensor& tensor : tensors_) order.push_back(&tensor);
    std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) { return std::pair(a->low, a->high) < std::pair(b->low, b->high); });
    std::uint64_t end = 0;
    const Tensor* last = nullptr;
    for (const Tensor* tensor : order) {
      if (tensor->low < end) broken(tensor->name, "its bytes overlap those of '" + last->name + "'");
      if (tensor->low > end) broken(tensor->name, std::to_string(tensor->low - end) + " bytes before it belong to no array");
      if (tensor->high >= end) end = tensor->high, last = tensor;
    }
    if (!failed() && end != data_.size()) broken(std::to_string(data_.size() - end) + " bytes at the end of the file belong to no array");
  }

  const FileBytes& file_;
  std::string_view bytes_, data_;
  const std::string& name_;
  Diagnostics& diagnostics_;
  std::size_t before_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::optional<Weights> open_safetensors(const FileBytes& file, const std::string& name, Diagnostics& diagnostics) {
  return Reader(file, name, diagnostics).read();
}

}  // namespace locus
