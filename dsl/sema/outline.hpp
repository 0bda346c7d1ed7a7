// The picture of a hierarchy while it is lowered: which calls stand in which, and what flows between them. Knows nothing of how a picture is drawn.
#pragma once
#include "dsl/sema/scope.hpp"

namespace locus::sema {

class Outline {
 public:
  explicit Outline(Build& build) : build_(build) {}

  /// A call begins; its inputs become tensors, so that what is made of them can be followed. `path` is "" where it has no parameters.
  void enter(const std::string& declared, const std::string& path, std::map<std::string, Value>& given, const std::vector<std::string>& order);
  void leave(Any& result);
  void sentence(Value& result, const std::string& text);
  /// A let that joins several parts is a part of its own.
  void let(const std::string& name, Value& v);
  /// A loop's state begins as this tensor.
  void carry(TensorId state, TensorId initial) { begins_[state] = initial; }
  /// A loop's body may be lowered again: what was drawn since is forgotten.
  std::size_t mark() const { return parts.size(); }
  void forget(std::size_t mark);

  std::vector<Part> parts;

 private:
  struct Frame {
    std::size_t part;
    std::map<TensorId, std::size_t> known;  ///< tensors of this call's inputs, and of what its parts left
  };
  Build& build_;
  std::vector<Frame> frames_;
  std::map<TensorId, TensorId> begins_;

  std::vector<Part::Feed> sources(const Value& v);
  std::size_t add(Part::Kind kind, const std::string& name);
  TensorId tensor(Value& v);
};

}  // namespace locus::sema
