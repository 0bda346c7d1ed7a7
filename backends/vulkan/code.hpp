// Expressions of a program as GLSL statements. Knows nothing of nodes.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>
#include "backends/vulkan/device.hpp"
#include "plugins/abi/locus_plugin.hpp"

namespace locus::vulkan {

using plugin::Program;
using Id = std::uint32_t;

/// Most iterations of all loops together that one invocation runs in one dispatch.
constexpr std::int64_t iteration_limit = 16384;

const char* type_text(const Program& p, std::uint32_t dtype);
/// "load_float" …, "store_int" … for a tensor.
std::string load_text(const Program& p, Id tensor);
std::string store_text(const Program& p, Id tensor);

class Code {
 public:
  explicit Code(const Program& p) : program_(p) { scopes_.emplace_back(); }

  /// Coordinate c is the int variable of this name from here on.
  void bind(Id c, const std::string& name) { names_[c] = name; }
  /// Appends statements that compute e and gives the name of its value.
  std::string value(Id e);
  /// The same, converted to the type of a tensor's entries.
  std::string value_for(Id e, Id tensor);
  /// offset + strides at the bound coordinates, as an int64_t.
  std::string place(std::int64_t offset, std::span<const locus_stride> strides) const;
  std::string tensor(Id t);
  void line(const std::string& text) { text_ += text + '\n'; }
  void open(const std::string& head);
  void close();
  /// Declares c<k> for each coordinate from a flat index of this name (row-major), and binds them.
  void decode(const std::string& flat, std::span<const Id> coordinates);

  std::string take() { return std::move(text_); }
  /// Declarations of the tensors' addresses, for the head of main.
  std::string addresses() const;
  const std::string& functions() const { return functions_; }  ///< of native kernels, for before main
  /// How many iterations evaluating e takes, about.
  std::int64_t iterations(Id e) const;
  std::string real() const { return program_.real == LOCUS_FLOAT64 ? "double" : "float"; }
  std::string literal(double v, std::uint32_t type) const;

 private:
  std::string define(Id e, const std::string& text);
  std::string compute(Id e);
  std::string as(Id e, std::uint32_t type);
  std::string binder(Id e);
  void hoist(Id e, Id bound);
  bool available(Id e) const;
  std::string operation(const locus_expr& e);
  std::string call(const locus_expr& e);

  const Program& program_;
  std::string text_, functions_;
  std::map<Id, std::string> names_;
  std::vector<std::map<Id, std::string>> scopes_;
  std::set<Id> tensors_;
  std::set<Id> kernels_;
  int fresh_ = 0;
};

/// A whole shader of `size` invocations a workgroup.
std::string shader(const Program& p, int size, const std::string& before_main, const std::string& body);

}  // namespace locus::vulkan
