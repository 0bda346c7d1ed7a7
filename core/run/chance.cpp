// Random arrays: counter-based (Philox 4x32-10), so that entry k of draw `stream` in turn t is the same whatever the backend and the number of threads.
// The key is the seed; the counter holds the entry, the attempt where one draw needs several, the stream and the turn.
#include <array>
#include <cmath>
#include <numbers>
#include "core/run/view.hpp"

namespace locus {
namespace {

using Block = std::array<std::uint32_t, 4>;

Block philox(Block counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0], b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9, key1 += 0xBB67AE85;
  }
  return counter;
}

struct Pair64 {
  std::uint64_t first, second;
};

class Source {
 public:
  Source(std::uint64_t seed, std::uint32_t stream, std::uint32_t turn) : seed_(seed), stream_(stream), turn_(turn) {}

  Pair64 bits(std::int64_t entry, std::uint32_t attempt = 0) const {
    const auto e = static_cast<std::uint64_t>(entry);
    const Block b = philox({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(e >> 32) ^ attempt << 16, stream_, turn_},
                           static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
    return {std::uint64_t{b[0]} << 32 | b[1], std::uint64_t{b[2]} << 32 | b[3]};
  }

 private:
  std::uint64_t seed_;
  std::uint32_t stream_, turn_;
};

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }  // [0, 1), 53 bits

double gaussian(Pair64 bits) { return std::sqrt(-2 * std::log1p(-unit(bits.first))) * std::cos(2 * std::numbers::pi * unit(bits.second)); }

// 0 ... below - 1, all alike: the few bit patterns that would favour small numbers are drawn again.
std::int64_t index(const Source& source, std::int64_t entry, std::uint64_t below) {
  const std::uint64_t excess = (0 - below) % below;  // 2^64 mod below
  for (std::uint32_t attempt = 0;; ++attempt) {
    const Pair64 bits = source.bits(entry, attempt);
    for (std::uint64_t b : {bits.first, bits.second}) {
      const unsigned __int128 product = static_cast<unsigned __int128>(b) * below;
      if (static_cast<std::uint64_t>(product) >= excess) return static_cast<std::int64_t>(product >> 64);
    }
  }
}

// The logarithm of a gamma variate of this shape (Marsaglia and Tsang); shapes below 1 by G(a) = G(a + 1) U^(1/a), safe from underflow as a logarithm.
double log_gamma_variate(const Source& source, std::int64_t entry, double shape, std::uint32_t& attempt) {
  if (shape < 1) {
    const double u = 1 - unit(source.bits(entry, attempt++).first);
    return log_gamma_variate(source, entry, shape + 1, attempt) + std::log(u) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = gaussian(source.bits(entry, attempt++));
    const double u = 1 - unit(source.bits(entry, attempt++).first);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

double beta(const Source& source, std::int64_t entry, double a, double b) {
  if (!(a > 0)) return a <= 0 ? 1 : a;  // no mixing at all
  if (!(b > 0)) return b <= 0 ? 1 : b;
  std::uint32_t attempt = 0;
  const double log_a = log_gamma_variate(source, entry, a, attempt), log_b = log_gamma_variate(source, entry, b, attempt);
  return 1 / (1 + std::exp(log_b - log_a));
}

int permutation(const Source& source, const View& out) {
  for (std::int64_t k = 0; k < out.count(); ++k) {
    const std::int64_t other = index(source, k, static_cast<std::uint64_t>(k) + 1);
    if (other != k) out.set_whole(k, out.whole(other));
    out.set_whole(other, k);
  }
  return LOCUS_OK;
}

}  // namespace

int draw(std::uint32_t function, const ArrayCallArguments& call) {
  const View out(call.out[0]);
  const auto whole = [&](std::size_t k, double low, double high) {
    return k < call.parameters.size() && call.parameters[k] >= low && call.parameters[k] <= high && call.parameters[k] == std::floor(call.parameters[k]);
  };
  if (!whole(0, 0, 0x1p53) || !whole(1, 0, 0xffffffffu)) return LOCUS_FAILED;
  const std::size_t own = function == LOCUS_ARRAY_RANDOM_BETA ? 2 : 0;
  if (call.in.size() != own && call.in.size() != own + 1) return LOCUS_FAILED;
  for (const locus_host_array& a : call.in)
    if (View(a).count() != 1) return LOCUS_FAILED;
  const std::uint32_t turn = call.in.size() > own ? static_cast<std::uint32_t>(View(call.in[0]).whole(0)) + 1 : 0;
  const Source source(static_cast<std::uint64_t>(call.parameters[0]), static_cast<std::uint32_t>(call.parameters[1]), turn);

  if (function == LOCUS_ARRAY_PERMUTATION) return out.dtype() == LOCUS_INT64 ? permutation(source, out) : int{LOCUS_FAILED};
  if (function == LOCUS_ARRAY_RANDOM_INDEX) {
    if (out.dtype() != LOCUS_INT64 || !whole(2, 0, 0x1p53) || (call.parameters[2] < 1 && out.count() != 0)) return LOCUS_FAILED;
    for (std::int64_t k = 0; k < out.count(); ++k) out.set_whole(k, index(source, k, static_cast<std::uint64_t>(call.parameters[2])));
    return LOCUS_OK;
  }
  if (!out.is_float()) return LOCUS_FAILED;
  for (std::int64_t k = 0; k < out.count(); ++k) {
    if (function == LOCUS_ARRAY_NORMAL)
      out.set(k, gaussian(source.bits(k)));
    else if (function == LOCUS_ARRAY_UNIFORM)
      out.set(k, out.dtype() == LOCUS_FLOAT32 ? std::floor(unit(source.bits(k).first) * 0x1p24) * 0x1p-24 : unit(source.bits(k).first));
    else
      out.set(k, beta(source, k, View(call.in[call.in.size() - 2]).number(0), View(call.in[call.in.size() - 1]).number(0)));
  }
  return LOCUS_OK;
}

}  // namespace locus
