// An array in host memory: dtype, shape, row-major bytes. What files are read into, what the engine takes and gives back.
// Knows nothing of axes' names, files or backends.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace locus {

enum class Dtype : std::uint8_t { boolean, int64, float32, float64 };  // one byte a boolean

std::size_t size_of(Dtype d);
const char* name_of(Dtype d);  // "bool", "int64", "float32", "float64"

class Array {
 public:
  Array() = default;
  /// Zero-filled, contiguous, row-major, 64-byte aligned.
  Array(Dtype dtype, std::vector<std::int64_t> shape);

  Dtype dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t count() const;  ///< number of entries; 1 for shape ()
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * size_of(dtype_); }

  void* data() { return data_.get(); }
  const void* data() const { return data_.get(); }
  template <class T> T* as() { return static_cast<T*>(data()); }
  template <class T> const T* as() const { return static_cast<const T*>(data()); }

  /// Entry k (row-major) as a double, whatever the dtype.
  double number(std::int64_t k) const;
  /// A copy with another dtype; float to int64 truncates (callers check first).
  Array cast(Dtype to) const;
  /// The same data under another shape of as many entries. Shares memory.
  Array reshaped(std::vector<std::int64_t> shape) const;

 private:
  Dtype dtype_ = Dtype::float64;
  std::vector<std::int64_t> shape_{0};
  std::shared_ptr<std::byte[]> data_;
};

/// Gives an array when it is needed, and nothing after adding a message: for arrays that are many and large, such as trained parameters.
class Diagnostics;
using ReadArray = std::function<std::optional<Array>(Diagnostics&)>;

/// "[3, 4]"; "[]" for a number.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace locus
