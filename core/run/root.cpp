// Searches for roots, one for each entry, a turn at a time: widens from a first point until the sign changes, then narrows by bisection and secants.
#include <cmath>
#include <limits>
#include <vector>
#include "core/run/view.hpp"

namespace locus {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What a search carries for one entry; `x` is where the equation is asked next.
struct Search {
  static constexpr double begins = 0, widens_down = 1, widens_up = 2, narrows = 3, ends = 4;  // phases
  double* at;
  double& x() const { return at[0]; }
  double& phase() const { return at[1]; }
  double& low() const { return at[2]; }
  double& f_low() const { return at[3]; }
  double& high() const { return at[4]; }
  double& f_high() const { return at[5]; }
  double& widened() const { return at[6]; }
  double& first() const { return at[7]; }
  double& missed() const { return at[8]; }  // 1: no sign change, an end was taken
  double& turns() const { return at[9]; }
  double& last_side() const { return at[10]; }
};
constexpr int width = 11;

struct Interval {
  double low, high, epsilon;
  // Steps towards an open end grow, those towards a closed one shrink.
  double down(double first, double k) const { return std::isinf(low) ? first - std::exp2(k) : low + (first - low) * std::exp2(-k); }
  double up(double first, double k) const { return !std::isinf(high) ? high - (high - first) * std::exp2(-k) : first > 0 ? first * std::exp2(k) : first + std::exp2(k); }
};

void end(const Search& s, double x) { s.x() = x, s.phase() = Search::ends; }

// Both sides of a sign change are known: the next point between them.
void narrow(const Search& s, double epsilon) {
  const double a = s.low(), b = s.high(), middle = a + (b - a) / 2;
  if (std::abs(b - a) <= epsilon * std::max(std::abs(a), std::abs(b)) || middle == a || middle == b) return end(s, std::abs(s.f_low()) <= std::abs(s.f_high()) ? a : b);
  s.phase() = Search::narrows;
  double x = middle;
  if (std::isfinite(s.f_low()) && std::isfinite(s.f_high()) && static_cast<std::int64_t>(s.turns()) % 3 != 0) {
    const double secant = a - s.f_low() * (b - a) / (s.f_high() - s.f_low());
    const double least = std::max(0.25 * epsilon * std::max(std::abs(a), std::abs(b)), 0.0);
    if (secant > a && secant < b) x = std::min(std::max(secant, a + least), b - least);
    if (!(x > a && x < b)) x = middle;
  }
  s.x() = x;
}

bool opposite(double a, double b) { return (a < 0 && b > 0) || (a > 0 && b < 0); }

void widen(const Search& s, double y, const Interval& in) {
  const bool down = s.phase() == Search::widens_down;
  double& end_x = down ? s.low() : s.high();
  double& end_f = down ? s.f_low() : s.f_high();
  if (opposite(y, end_f)) {  // the root lies between this point and the one before it
    (down ? s.high() : s.low()) = end_x, (down ? s.f_high() : s.f_low()) = end_f;
    end_x = s.x(), end_f = y;
    return narrow(s, in.epsilon);
  }
  end_x = s.x();
  if (std::isfinite(y)) end_f = y;
  if (!down) s.widened() += 1;
  if (s.widened() >= 80) {  // no sign change: the nearer end
    s.missed() = 1;
    return end(s, std::abs(s.f_low()) <= std::abs(s.f_high()) ? in.low : in.high);
  }
  s.phase() = down ? Search::widens_up : Search::widens_down;
  s.x() = down ? in.up(s.first(), s.widened()) : in.down(s.first(), s.widened());
}

void turn(const Search& s, double y, const Interval& in) {
  s.turns() += 1;
  if (y == 0) return end(s, s.x());
  if (s.phase() == Search::begins) {
    if (std::isnan(y)) return end(s, nan);
    s.first() = s.low() = s.high() = s.x(), s.f_low() = s.f_high() = y, s.widened() = 1;
    s.phase() = Search::widens_down, s.x() = in.down(s.first(), 1);
    return;
  }
  if (s.phase() != Search::narrows) return widen(s, y, in);
  if (std::isnan(y)) return end(s, nan);
  // Illinois: an end that stays twice counts half, so that secants do not creep.
  const bool low = !opposite(y, s.f_low());
  (low ? s.low() : s.high()) = s.x(), (low ? s.f_low() : s.f_high()) = y;
  const double side = low ? -1 : 1;
  if (s.last_side() == side) (low ? s.f_high() : s.f_low()) /= 2;
  s.last_side() = side;
  narrow(s, in.epsilon);
}

}  // namespace

// One turn of the search for each entry. (state [entries, 11], gap [entries], low, high) at the state's x -> (next state, whether all have ended).
// Parameter: entries. The first x of each entry comes in the state, all else of it 0.
int root(const ArrayCallArguments& call) {
  if (call.in.size() != 4 || call.out.size() != 2 || call.parameters.size() != 1) return LOCUS_FAILED;
  const auto entries = static_cast<std::int64_t>(call.parameters[0]);
  const View state(call.in[0]), gap(call.in[1]), low(call.in[2]), high(call.in[3]), next(call.out[0]), stop(call.out[1]);
  if (state.count() != entries * width || next.count() != entries * width || gap.count() != entries || low.count() != 1 || high.count() != 1 || stop.count() != 1) return LOCUS_FAILED;
  const Interval in{low.number(0), high.number(0), gap.dtype() == LOCUS_FLOAT32 ? 1e-7 : 4e-16};
  bool all = true;
  std::vector<double> own(width);
  for (std::int64_t k = 0; k < entries; ++k) {
    for (int c = 0; c < width; ++c) own[c] = state.number(k * width + c);
    const Search s{own.data()};
    if (s.phase() != Search::ends) turn(s, gap.number(k), in);
    all &= s.phase() == Search::ends;
    for (int c = 0; c < width; ++c) next.set(k * width + c, own[c]);
  }
  stop.set(0, all);
  return LOCUS_OK;
}

}  // namespace locus
