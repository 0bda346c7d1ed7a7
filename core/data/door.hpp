// What is checked of an array before the engine sees it: finite, whole, boolean, of the declared shape; and rows that are left out together.
// Knows nothing of files: arrays and the names messages use for them come in.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"

namespace locus {

/// `--missing`: what happens to a row with a missing value. `drop` is carried out by the caller with complete_rows and keep_rows, because
/// a row must leave all inputs of its axis together.
enum class Missing : std::uint8_t { refuse, drop, nan };

/// An array and how messages name it and its columns.
struct Named {
  std::string name;                  ///< of the input, or of the file
  std::vector<std::string> columns;  ///< of a table; empty if they have no names
};

/// "row 2", "row 2, column 3", "row 2, column 'dose'", "entry [2, 1, 4]"; all count from 1. `k` is a row-major position.
std::string entry_text(const Array& array, std::int64_t k, const std::vector<std::string>& columns);

/// Refuses NaN and infinity (E420) unless a policy is given.
bool check_finite(const Array& array, const Named& named, Missing policy, Diagnostics& diagnostics);

/// As int64; a float that is not whole or beyond 2^53 is E421.
std::optional<Array> as_integers(const Array& array, const Named& named, Diagnostics& diagnostics);

/// As boolean; anything but 0 and 1 is E422.
std::optional<Array> as_booleans(const Array& array, const Named& named, Diagnostics& diagnostics);

/// E423 unless the shape is as declared; -1 in `declared` stands for any size.
bool check_shape(const Array& array, const Named& named, const std::vector<std::int64_t>& declared, Diagnostics& diagnostics);

/// The rows (from 0) that are finite in every one of these arrays, which must have the same number of rows.
std::vector<std::int64_t> complete_rows(std::span<const Array> together);

/// Only these rows, in this order.
Array keep_rows(const Array& array, std::span<const std::int64_t> rows);

/// The reverse of keep_rows for results: `total` rows, NaN where a row was left out. Integers and booleans become float64 then.
Array spread_rows(const Array& array, std::span<const std::int64_t> rows, std::int64_t total);

}  // namespace locus
