// Compiles expressions to steps, and runs the steps.
#include "backends/cpu/strip.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace locus::cpu {

// -- compile ------------------------------------------------------------------------------------------------------------
Strip::Strip(const Program& program, std::span<const Id> roots, std::span<const Id> lane_coordinates, bool wide)
    : program_(program), wide_(wide || program.real == LOCUS_FLOAT64), lane_(lane_coordinates.begin(), lane_coordinates.end()) {
  for (Id root : roots) roots_.push_back(emit(root));
  memo_.clear();
}

Kind Strip::kind_of(Id expr) const {
  const std::uint32_t type = program_.exprs[expr].type;
  return type <= LOCUS_TYPE_INTEGER ? Kind::whole : type == LOCUS_TYPE_EXACT ? Kind::exact : Kind::real;
}

bool Strip::is_uniform(Id expr) const {
  return std::none_of(lane_.begin(), lane_.end(), [&](Id c) { return program_.depends(expr, c); });
}

Id Strip::add(std::uint16_t op, Kind kind, bool uniform, std::initializer_list<Id> args, Id expr) {
  Step step{op, static_cast<Id>(registers_.size()), {}, expr, 0, 0};
  std::copy(args.begin(), args.end(), step.args);
  registers_.push_back({kind, uniform});
  steps_.push_back(step);
  return step.out;
}

Id Strip::convert(Id reg, Kind kind) {
  const Register& r = registers_[reg];
  if (r.kind == kind) return reg;
  return add(LOCUS_real, kind, r.uniform, {reg}, LOCUS_NONE);
}

Id Strip::emit(Id expr) {
  if (const auto known = memo_.find(expr); known != memo_.end()) return known->second;
  const locus_expr& e = program_.exprs[expr];
  const Kind kind = kind_of(expr);
  const bool uniform = is_uniform(expr);
  Id out;
  if (e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MAXDIST) {
    if (e.index != LOCUS_NONE) {
      out = emit_loop(expr);
    } else {
      const Id a = convert(emit(e.args[0]), kind), b = convert(emit(e.args[1]), kind);
      out = emit_contraction(expr, a, b, kind, uniform);
    }
  } else if (e.op == LOCUS_real) {
    out = convert(emit(e.args[0]), kind);
  } else if (e.op <= LOCUS_COORDINATE) {
    out = add(e.op, kind, uniform, {}, expr);
  } else {
    Id args[3] = {};
    Kind common = Kind::whole;  // of what is compared or computed with
    const std::uint32_t first = e.op == LOCUS_select ? 1 : 0;
    for (std::uint32_t k = 0; k < e.arity; ++k) {
      args[k] = emit(e.args[k]);
      if (k >= first) common = std::max(common, registers_[args[k]].kind);
    }
    if (e.op == LOCUS_CALL) common = kind;
    for (std::uint32_t k = first; k < e.arity; ++k) args[k] = convert(args[k], common);
    out = add(e.op, kind, uniform, {args[0], args[1], args[2]}, expr);
  }
  memo_[expr] = out;
  return out;
}

// One term of a contraction from its two numbers.
Id Strip::emit_contraction(Id expr, Id a, Id b, Kind kind, bool uniform) {
  const std::uint16_t op = program_.exprs[expr].op;
  if (op == LOCUS_DOT) return add(LOCUS_mul, kind, uniform, {a, b}, expr);
  const Id difference = add(LOCUS_sub, kind, uniform, {a, b}, expr);
  if (op == LOCUS_SQDIST) return add(LOCUS_mul, kind, uniform, {difference, difference}, expr);
  return add(LOCUS_abs, kind, uniform, {difference}, expr);
}

// What does not depend on the loop's coordinate is computed before the loop.
void Strip::hoist(Id expr, Id coordinate) {
  if (!program_.depends(expr, coordinate)) {
    emit(expr);
    return;
  }
  const locus_expr& e = program_.exprs[expr];
  for (std::uint32_t k = 0; k < e.arity; ++k) {
    // Below an inner binding only what is free of its coordinate too may leave.
    const Id bound = plugin::bound_by(e);
    if (bound == LOCUS_NONE || !program_.depends(e.args[k], bound)) hoist(e.args[k], coordinate);
  }
}

Id Strip::emit_loop(Id expr) {
  const locus_expr& e = program_.exprs[expr];
  if (program_.extent(e.index) > 0)
    for (std::uint32_t k = 0; k < e.arity; ++k) hoist(e.args[k], e.index);
  const Kind kind = kind_of(expr);
  const bool uniform = is_uniform(expr);
  const Id out = add(e.op, kind, uniform, {}, expr);
  const std::size_t loop = steps_.size() - 1;
  const std::map<Id, Id> outside = memo_;
  std::erase_if(memo_, [&](const auto& known) { return program_.depends(known.first, e.index); });  // theirs is another binding
  Id inner = convert(emit(e.args[0]), kind);
  if (e.arity == 2) inner = emit_contraction(expr, inner, convert(emit(e.args[1]), kind), kind, uniform);
  memo_ = outside;
  steps_[loop].end = static_cast<std::uint32_t>(steps_.size());
  steps_[loop].inner = inner;
  return out;
}

// -- run ------------------------------------------------------------------------------------------------------------------
namespace {

std::int64_t wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }  // ints wrap round

std::int64_t whole_power(std::int64_t a, std::int64_t b) {
  std::uint64_t product = 1, square = static_cast<std::uint64_t>(a);
  for (; b > 0; b >>= 1, square *= square)
    if (b & 1) product *= square;
  return wrap(product);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {  // b is not 0; the least int by -1 wraps round
  if (b == -1) return wrap(-static_cast<std::uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

template <class T> struct Argument {
  const T* data;
  bool uniform;
  T operator[](std::int64_t t) const { return data[uniform ? 0 : t]; }
};

template <class A, class R, class F> void each2(Argument<A> a, Argument<A> b, R* out, std::int64_t n, F f) {
  if (a.uniform && !b.uniform) {
    const A x = *a.data;
    for (std::int64_t t = 0; t < n; ++t) out[t] = f(x, b.data[t]);
  } else if (b.uniform && !a.uniform) {
    const A y = *b.data;
    for (std::int64_t t = 0; t < n; ++t) out[t] = f(a.data[t], y);
  } else if (a.uniform) {
    const R value = f(*a.data, *b.data);
    for (std::int64_t t = 0; t < n; ++t) out[t] = value;
  } else {
    for (std::int64_t t = 0; t < n; ++t) out[t] = f(a.data[t], b.data[t]);
  }
}

template <class A> void compare(std::uint16_t op, Argument<A> a, Argument<A> b, std::int64_t* out, std::int64_t n) {
  if (op == LOCUS_lt) each2(a, b, out, n, [](A x, A y) -> std::int64_t { return x < y; });
  else if (op == LOCUS_le) each2(a, b, out, n, [](A x, A y) -> std::int64_t { return x <= y; });
  else if (op == LOCUS_eq) each2(a, b, out, n, [](A x, A y) -> std::int64_t { return x == y; });
  else each2(a, b, out, n, [](A x, A y) -> std::int64_t { return x != y; });
}

template <class T> void choose(Argument<std::int64_t> condition, Argument<T> a, Argument<T> b, T* out, std::int64_t n) {
  for (std::int64_t t = 0; t < n; ++t) out[t] = condition[t] ? a[t] : b[t];
}

template <class A, class R> void cast(Argument<A> a, R* out, std::int64_t n) {
  for (std::int64_t t = 0; t < n; ++t) out[t] = static_cast<R>(a[t]);
}

template <class T> T larger(T a, T b) { return a > b || a != a ? a : b; }
template <class T> T smaller(T a, T b) { return a < b || a != a ? a : b; }

}  // namespace

struct Machine {
  const Strip& strip;
  Place& place;
  const std::int64_t count;
  std::byte* const registers;

  template <class T> T* at(Id reg) const { return reinterpret_cast<T*>(registers + reg * strip_width * sizeof(double)); }
  template <class T> Argument<T> argument(Id reg) const { return {at<T>(reg), strip.registers_[reg].uniform}; }
  bool single(Kind kind) const { return kind == Kind::real && !strip.wide_; }

  void range(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t s = begin; s < end;) {
      const Strip::Step& step = strip.steps_[s];
      if (step.op >= LOCUS_SUM_OVER && step.op <= LOCUS_MAXDIST) {
        loop(step, s);
        s = step.end;
      } else {
        one(step);
        ++s;
      }
    }
  }

  void one(const Strip::Step& step) {
    const Strip::Register out = strip.registers_[step.out];
    const std::int64_t n = out.uniform ? 1 : count;
    switch (step.op) {
      case LOCUS_CONSTANT: return constant(step, out);
      case LOCUS_READ: return read(step, n);
      case LOCUS_COORDINATE: return coordinate(step, n);
      case LOCUS_CALL: return single(out.kind) ? call<float>(step, n) : call<double>(step, n);
      case LOCUS_real: return convert(step, out, n);
      case LOCUS_select:
        if (out.kind == Kind::whole) return select<std::int64_t>(step, n);
        return single(out.kind) ? select<float>(step, n) : select<double>(step, n);
      default: break;
    }
    const Kind kind = strip.registers_[step.args[0]].kind;
    if (kind == Kind::whole) return whole(step, n);
    if (step.op >= LOCUS_lt && step.op <= LOCUS_ne) {
      if (single(kind)) compare(step.op, argument<float>(step.args[0]), argument<float>(step.args[1]), at<std::int64_t>(step.out), n);
      else compare(step.op, argument<double>(step.args[0]), argument<double>(step.args[1]), at<std::int64_t>(step.out), n);
      return;
    }
    single(kind) ? element<float>(step, n) : element<double>(step, n);
  }

  template <class T> void element(const Strip::Step& step, std::int64_t n) {
    Operand<T> operands[3];
    for (int k = 0; k < 3; ++k) operands[k] = {at<T>(step.args[k]), 0, strip.registers_[step.args[k]].uniform ? 0 : 1};
    functions<T>().elementwise[step.op](operands, at<T>(step.out), strip_width, 1, n);
  }

  template <class T> void select(const Strip::Step& step, std::int64_t n) {
    choose(argument<std::int64_t>(step.args[0]), argument<T>(step.args[1]), argument<T>(step.args[2]), at<T>(step.out), n);
  }

  void constant(const Strip::Step& step, Strip::Register out) {
    const double value = strip.program_.exprs[step.expr].value;
    if (out.kind == Kind::whole) *at<std::int64_t>(step.out) = static_cast<std::int64_t>(value);
    else if (single(out.kind)) *at<float>(step.out) = static_cast<float>(value);
    else *at<double>(step.out) = value;
  }

  void coordinate(const Strip::Step& step, std::int64_t n) {
    const Id c = strip.program_.exprs[step.expr].index;
    if (place.lanes[c]) std::copy(place.lanes[c], place.lanes[c] + n, at<std::int64_t>(step.out));
    else *at<std::int64_t>(step.out) = place.fixed[c];
  }

  void convert(const Strip::Step& step, Strip::Register out, std::int64_t n) {
    const Id from = step.args[0];
    const Kind kind = strip.registers_[from].kind;
    if (kind == Kind::whole) single(out.kind) ? cast(argument<std::int64_t>(from), at<float>(step.out), n) : cast(argument<std::int64_t>(from), at<double>(step.out), n);
    else if (single(kind)) single(out.kind) ? cast(argument<float>(from), at<float>(step.out), n) : cast(argument<float>(from), at<double>(step.out), n);
    else single(out.kind) ? cast(argument<double>(from), at<float>(step.out), n) : cast(argument<double>(from), at<double>(step.out), n);
  }

  // -- reads
  void read(const Strip::Step& step, std::int64_t n) {
    const locus_expr& e = strip.program_.exprs[step.expr];
    const Program& program = strip.program_;
    std::int64_t base = e.offset, stride = 0;
    int varying = 0;
    bool regular = true;
    for (const locus_stride& s : program.read_strides(e)) {
      const std::int64_t* lanes = place.lanes[s.coordinate];
      if (!lanes) {
        base += s.stride * place.fixed[s.coordinate];
      } else {
        ++varying;
        regular = regular && place.consecutive[s.coordinate];
        if (varying == 1) stride = s.stride;
      }
    }
    const void* data = place.tensors->at(e.index);
    if (varying == 0) return load(step, data, e, [&](std::int64_t) { return base; }, 1);
    if (varying == 1 && regular) {
      for (const locus_stride& s : program.read_strides(e))
        if (place.lanes[s.coordinate]) base += s.stride * place.lanes[s.coordinate][0];
      if (stride == 1 && program.tensors[e.index].dtype == LOCUS_FLOAT32 && single(strip.registers_[step.out].kind)) {
        std::copy_n(static_cast<const float*>(data) + base, n, at<float>(step.out));
        return;
      }
      if (stride == 1) return load(step, data, e, [base](std::int64_t t) { return base + t; }, n);
      return load(step, data, e, [base, stride](std::int64_t t) { return base + stride * t; }, n);
    }
    std::int64_t offset[strip_width];
    std::fill(offset, offset + n, base);
    for (const locus_stride& s : program.read_strides(e))
      if (const std::int64_t* lanes = place.lanes[s.coordinate])
        for (std::int64_t t = 0; t < n; ++t) offset[t] += s.stride * lanes[t];
    load(step, data, e, [&offset](std::int64_t t) { return offset[t]; }, n);
  }

  template <class Where> void load(const Strip::Step& step, const void* data, const locus_expr& e, Where where, std::int64_t n) {
    const Kind kind = strip.registers_[step.out].kind;
    switch (strip.program_.tensors[e.index].dtype) {
      case LOCUS_BOOL: return copy(static_cast<const std::uint8_t*>(data), at<std::int64_t>(step.out), where, n);
      case LOCUS_INT64: return copy(static_cast<const std::int64_t*>(data), at<std::int64_t>(step.out), where, n);
      case LOCUS_FLOAT32:
        if (single(kind)) copy(static_cast<const float*>(data), at<float>(step.out), where, n);
        else copy(static_cast<const float*>(data), at<double>(step.out), where, n);
        return;
      default: return copy(static_cast<const double*>(data), at<double>(step.out), where, n);
    }
  }
  template <class A, class R, class Where> static void copy(const A* from, R* to, Where where, std::int64_t n) {
    for (std::int64_t t = 0; t < n; ++t) to[t] = static_cast<R>(from[where(t)]);
  }

  // -- ints and bools
  void whole(const Strip::Step& step, std::int64_t n) {
    const Argument<std::int64_t> a = argument<std::int64_t>(step.args[0]), b = argument<std::int64_t>(step.args[1]);
    std::int64_t* out = at<std::int64_t>(step.out);
    using I = std::int64_t;
    const auto u = [](I v) { return static_cast<std::uint64_t>(v); };
    const auto unary = [&](auto f) {
      for (I t = 0; t < n; ++t) out[t] = f(a[t]);
    };
    switch (step.op) {
      case LOCUS_neg: return unary([&](I x) { return wrap(-u(x)); });
      case LOCUS_abs: return unary([&](I x) { return x < 0 ? wrap(-u(x)) : x; });
      case LOCUS_sign: return unary([](I x) -> I { return (x > 0) - (x < 0); });
      case LOCUS_not: return unary([](I x) -> I { return x == 0; });
      case LOCUS_add: return each2(a, b, out, n, [&](I x, I y) { return wrap(u(x) + u(y)); });
      case LOCUS_sub: return each2(a, b, out, n, [&](I x, I y) { return wrap(u(x) - u(y)); });
      case LOCUS_mul: return each2(a, b, out, n, [&](I x, I y) { return wrap(u(x) * u(y)); });
      case LOCUS_pow: return each2(a, b, out, n, [](I x, I y) { return whole_power(x, y); });
      case LOCUS_maximum: return each2(a, b, out, n, [](I x, I y) { return x > y ? x : y; });
      case LOCUS_minimum: return each2(a, b, out, n, [](I x, I y) { return x < y ? x : y; });
      case LOCUS_and: return each2(a, b, out, n, [](I x, I y) -> I { return x != 0 && y != 0; });
      case LOCUS_or: return each2(a, b, out, n, [](I x, I y) -> I { return x != 0 || y != 0; });
      case LOCUS_idiv:
      case LOCUS_mod: return divide(step.op, a, b, out, n);
      default: return compare(step.op, a, b, out, n);
    }
  }

  void divide(std::uint16_t op, Argument<std::int64_t> a, Argument<std::int64_t> b, std::int64_t* out, std::int64_t n) {
    for (std::int64_t t = 0; t < n; ++t) {
      if (b[t] == 0) {
        if (place.fault.kind == LOCUS_FAULT_NONE) place.fault.kind = LOCUS_FAULT_DIVISION, place.fault.value = a[t], place.fault.row = t;
        out[t] = 0;
      } else {
        const std::int64_t quotient = floor_divide(a[t], b[t]);
        out[t] = op == LOCUS_idiv ? quotient : wrap(static_cast<std::uint64_t>(a[t]) - static_cast<std::uint64_t>(b[t]) * static_cast<std::uint64_t>(quotient));
      }
    }
  }

  // -- kernels of plugins
  template <class T> void call(const Strip::Step& step, std::int64_t n) {
    const locus_program_kernel& use = strip.program_.kernels[strip.program_.exprs[step.expr].index];
    const Argument<T> x = argument<T>(step.args[0]);
    T* out = at<T>(step.out);
    call_scalar(use, n, x.data, out);
    for (std::int64_t t = 0; t < n; ++t)
      if (std::isnan(out[t]) && std::isfinite(x[t]) && place.fault.kind == LOCUS_FAULT_NONE) place.fault.kind = LOCUS_FAULT_PLUGIN_NAN, place.fault.row = t;
  }
  template <class T> static void call_scalar(const locus_program_kernel& use, std::int64_t n, const T* x, T* out) {
    if constexpr (sizeof(T) == 4) {
      if (use.kernel->scalar_f32) return use.kernel->scalar_f32(use.settings, n, x, out);
      for (std::int64_t t = 0; t < n; ++t) {
        const double wide = x[t];
        double value = 0;
        use.kernel->scalar_f64(use.settings, 1, &wide, &value);
        out[t] = static_cast<float>(value);
      }
    } else {
      if (use.kernel->scalar_f64) return use.kernel->scalar_f64(use.settings, n, x, out);
      for (std::int64_t t = 0; t < n; ++t) {
        const float narrow = static_cast<float>(x[t]);
        float value = 0;
        use.kernel->scalar_f32(use.settings, 1, &narrow, &value);
        out[t] = value;
      }
    }
  }

  // -- sums, extremes and contractions over a coordinate
  void loop(const Strip::Step& step, std::uint32_t s) {
    const Strip::Register out = strip.registers_[step.out];
    const std::int64_t n = out.uniform ? 1 : count;
    if (out.kind == Kind::whole) over<std::int64_t>(step, s, n);
    else single(out.kind) ? over<float>(step, s, n) : over<double>(step, s, n);
  }

  template <class T> void over(const Strip::Step& step, std::uint32_t s, std::int64_t n) {
    using Sum = std::conditional_t<std::numeric_limits<T>::is_integer, std::int64_t, double>;  // a long float32 sum would lose digits
    const Id c = strip.program_.exprs[step.expr].index;
    Sum all[strip_width];
    std::fill(all, all + n, start<Sum>(step.op));
    const std::int64_t outside = place.fixed[c], extent = strip.program_.extent(c);
    for (std::int64_t k = 0; k < extent; ++k) {
      place.fixed[c] = k;
      range(s + 1, step.end);
      const Argument<T> one = argument<T>(step.inner);
      if (step.op == LOCUS_MAX_OVER || step.op == LOCUS_MAXDIST) {
        for (std::int64_t t = 0; t < n; ++t) all[t] = larger(all[t], static_cast<Sum>(one[t]));
      } else if (step.op == LOCUS_MIN_OVER) {
        for (std::int64_t t = 0; t < n; ++t) all[t] = smaller(all[t], static_cast<Sum>(one[t]));
      } else {
        for (std::int64_t t = 0; t < n; ++t) all[t] = sum(all[t], static_cast<Sum>(one[t]));
      }
    }
    place.fixed[c] = outside;
    for (std::int64_t t = 0; t < n; ++t) at<T>(step.out)[t] = static_cast<T>(all[t]);
  }
  template <class T> static T sum(T a, T b) {
    if constexpr (sizeof(T) == 8 && std::numeric_limits<T>::is_integer) return wrap(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else return a + b;
  }
  template <class T> static T start(std::uint16_t op) {
    using limits = std::numeric_limits<T>;
    if (op == LOCUS_MAX_OVER) return limits::is_integer ? limits::min() : -limits::infinity();
    if (op == LOCUS_MIN_OVER) return limits::is_integer ? limits::max() : limits::infinity();
    return 0;
  }
};

void Strip::run(Place& place, std::int64_t count, std::byte* registers) const {
  Machine{*this, place, count, registers}.range(0, static_cast<std::uint32_t>(steps_.size()));
}

Lanes Strip::root(std::size_t k, const std::byte* registers) const {
  const Register& r = registers_[roots_[k]];
  return {registers + roots_[k] * strip_width * sizeof(double), r.kind, r.uniform, wide_};
}

}  // namespace locus::cpu
