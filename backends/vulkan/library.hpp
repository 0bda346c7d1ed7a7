// The part of every shader that does not change: access to memory, faults, and scalar functions that GLSL lacks or does not compute accurately enough.
// The mathematics is that of plugins/abi/scalar.hpp.
#pragma once

namespace locus::vulkan {

inline const char* const library = R"glsl(
layout(buffer_reference, std430, buffer_reference_align = 4) buffer AsFloat { float v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer AsDouble { double v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer AsInt { int64_t v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer AsAddress { uint64_t v; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer AsByte { uint8_t v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Fault { uint row, only, kind, empty, most_empty, reserved; int64_t value, limit; };
layout(push_constant, std430) uniform Push { uint64_t table, scratch, faults, control; int64_t first, count, a, b, c; } P;

float load_float(uint64_t t, int64_t k) { return AsFloat(t + uint64_t(k) * 4ul).v; }
double load_double(uint64_t t, int64_t k) { return AsDouble(t + uint64_t(k) * 8ul).v; }
int64_t load_int(uint64_t t, int64_t k) { return AsInt(t + uint64_t(k) * 8ul).v; }
bool load_bool(uint64_t t, int64_t k) { return AsByte(t + uint64_t(k)).v != uint8_t(0); }
void store_float(uint64_t t, int64_t k, float v) { AsFloat(t + uint64_t(k) * 4ul).v = v; }
void store_double(uint64_t t, int64_t k, double v) { AsDouble(t + uint64_t(k) * 8ul).v = v; }
void store_int(uint64_t t, int64_t k, int64_t v) { AsInt(t + uint64_t(k) * 8ul).v = v; }
void store_bool(uint64_t t, int64_t k, bool v) { AsByte(t + uint64_t(k)).v = v ? uint8_t(1) : uint8_t(0); }

bool stopped() { return P.control != 0ul && AsInt(P.control).v != 0l; }

void fault(uint kind, uint row, int64_t value, int64_t limit) {
  Fault f = Fault(P.faults);
  atomicMin(f.row, row);
  if (f.only == row) { f.kind = kind; f.value = value; f.limit = limit; }
}

bool divided_by_zero = false;
int64_t divided = 0l;

#define inf_f uintBitsToFloat(0x7f800000u)
#define nan_f uintBitsToFloat(0x7fc00000u)
double inf_d() { return packDouble2x32(uvec2(0u, 0x7ff00000u)); }
double nan_d() { return packDouble2x32(uvec2(0u, 0x7ff80000u)); }
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool is_nan(double x) { uvec2 u = unpackDouble2x32(x); uint h = u.y & 0x7fffffffu; return h > 0x7ff00000u || (h == 0x7ff00000u && u.x != 0u); }
bool is_inf(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }
bool is_inf(double x) { uvec2 u = unpackDouble2x32(x); return (u.y & 0x7fffffffu) == 0x7ff00000u && u.x == 0u; }
bool is_finite(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }
bool is_finite(double x) { return (unpackDouble2x32(x).y & 0x7ff00000u) != 0x7ff00000u; }

float larger(float a, float b) { return is_nan(a) || a > b ? a : b; }
double larger(double a, double b) { return is_nan(a) || a > b ? a : b; }
float smaller(float a, float b) { return is_nan(a) || a < b ? a : b; }
double smaller(double a, double b) { return is_nan(a) || a < b ? a : b; }
float k_abs(float a) { return uintBitsToFloat(floatBitsToUint(a) & 0x7fffffffu); }
double k_abs(double a) { uvec2 u = unpackDouble2x32(a); return packDouble2x32(uvec2(u.x, u.y & 0x7fffffffu)); }
float k_sign(float a) { return is_nan(a) ? a : float(int(a > 0.0) - int(a < 0.0)); }
double k_sign(double a) { return is_nan(a) ? a : double(int(a > 0.0lf) - int(a < 0.0lf)); }

double power_of_two(int n) { return packDouble2x32(uvec2(0u, uint(n + 1023) << 20)); }

double k_exp(double x) {
  if (is_nan(x)) return x;
  if (x > 709.782712893384lf) return inf_d();
  if (x < -745.2lf) return 0.0lf;
  double n = roundEven(x * 1.44269504088896340736lf);
  double r = fma(n, -0.693147180369123816490lf, x);
  r = fma(n, -1.90821492927058770002e-10lf, r);
  double p = 1.0lf / 87178291200.0lf;
  p = fma(p, r, 1.0lf / 6227020800.0lf);
  p = fma(p, r, 1.0lf / 479001600.0lf);
  p = fma(p, r, 1.0lf / 39916800.0lf);
  p = fma(p, r, 1.0lf / 3628800.0lf);
  p = fma(p, r, 1.0lf / 362880.0lf);
  p = fma(p, r, 1.0lf / 40320.0lf);
  p = fma(p, r, 1.0lf / 5040.0lf);
  p = fma(p, r, 1.0lf / 720.0lf);
  p = fma(p, r, 1.0lf / 120.0lf);
  p = fma(p, r, 1.0lf / 24.0lf);
  p = fma(p, r, 1.0lf / 6.0lf);
  p = fma(p, r, 0.5lf);
  p = fma(p, r, 1.0lf);
  p = fma(p, r, 1.0lf);
  int k = int(n);
  int half_k = k / 2;
  return p * power_of_two(half_k) * power_of_two(k - half_k);
}

double k_log(double x) {
  if (is_nan(x) || x < 0.0lf) return nan_d();
  if (x == 0.0lf) return -inf_d();
  if (is_inf(x)) return x;
  int e = 0;
  if (x < 2.2250738585072014e-308lf) { x *= 18014398509481984.0lf; e = -54; }
  uvec2 u = unpackDouble2x32(x);
  e += int(u.y >> 20) - 1023;
  double m = packDouble2x32(uvec2(u.x, (u.y & 0xfffffu) | 0x3ff00000u));
  if (m > 1.41421356237309514547lf) { m *= 0.5lf; e += 1; }
  double f = m - 1.0lf;
  double s = f / (2.0lf + f);
  double z = s * s;
  double p = 1.0lf / 23.0lf;
  p = fma(p, z, 1.0lf / 21.0lf);
  p = fma(p, z, 1.0lf / 19.0lf);
  p = fma(p, z, 1.0lf / 17.0lf);
  p = fma(p, z, 1.0lf / 15.0lf);
  p = fma(p, z, 1.0lf / 13.0lf);
  p = fma(p, z, 1.0lf / 11.0lf);
  p = fma(p, z, 1.0lf / 9.0lf);
  p = fma(p, z, 1.0lf / 7.0lf);
  p = fma(p, z, 1.0lf / 5.0lf);
  p = fma(p, z, 1.0lf / 3.0lf);
  double h = 0.5lf * f * f;
  // log(1 + f) = f - h + s (h + 2/3-series)
  double r = s * (h + 2.0lf * z * p * 1.0lf);
  double tail = fma(double(e), 1.90821492927058770002e-10lf, r - h);
  return fma(double(e), 0.693147180369123816490lf, f + tail);
}

double k_expm1(double x) {
  if (k_abs(x) > 0.5lf) return k_exp(x) - 1.0lf;
  double p = 1.0lf / 355687428096000.0lf;
  p = fma(p, x, 1.0lf / 20922789888000.0lf);
  p = fma(p, x, 1.0lf / 1307674368000.0lf);
  p = fma(p, x, 1.0lf / 87178291200.0lf);
  p = fma(p, x, 1.0lf / 6227020800.0lf);
  p = fma(p, x, 1.0lf / 479001600.0lf);
  p = fma(p, x, 1.0lf / 39916800.0lf);
  p = fma(p, x, 1.0lf / 3628800.0lf);
  p = fma(p, x, 1.0lf / 362880.0lf);
  p = fma(p, x, 1.0lf / 40320.0lf);
  p = fma(p, x, 1.0lf / 5040.0lf);
  p = fma(p, x, 1.0lf / 720.0lf);
  p = fma(p, x, 1.0lf / 120.0lf);
  p = fma(p, x, 1.0lf / 24.0lf);
  p = fma(p, x, 1.0lf / 6.0lf);
  p = fma(p, x, 0.5lf);
  return fma(p * x, x, x);
}

double k_log1p(double x) {
  double u = 1.0lf + x;
  if (u == 1.0lf) return x;
  if (is_inf(u)) return u;
  return k_log(u) * x / (u - 1.0lf);
}

double k_log2(double x) {
  if (!(x > 0.0lf) || is_inf(x)) return k_log(x);
  uvec2 u = unpackDouble2x32(x);
  if ((u.y & 0x7ff00000u) != 0u && u.x == 0u && (u.y & 0xfffffu) == 0u) return double(int(u.y >> 20) - 1023);
  return k_log(x) * 1.44269504088896340736lf;
}

double sine_of(double r) {
  double z = r * r;
  double p = 1.0lf / 121645100408832000.0lf;
  p = fma(p, -z, 1.0lf / 355687428096000.0lf);
  p = fma(p, -z, 1.0lf / 1307674368000.0lf);
  p = fma(p, -z, 1.0lf / 6227020800.0lf);
  p = fma(p, -z, 1.0lf / 39916800.0lf);
  p = fma(p, -z, 1.0lf / 362880.0lf);
  p = fma(p, -z, 1.0lf / 5040.0lf);
  p = fma(p, -z, 1.0lf / 120.0lf);
  p = fma(p, -z, 1.0lf / 6.0lf);
  return fma(-p * z, r, r);
}
double cosine_of(double r) {
  double z = r * r;
  double p = 1.0lf / 6402373705728000.0lf;
  p = fma(p, -z, 1.0lf / 20922789888000.0lf);
  p = fma(p, -z, 1.0lf / 87178291200.0lf);
  p = fma(p, -z, 1.0lf / 479001600.0lf);
  p = fma(p, -z, 1.0lf / 3628800.0lf);
  p = fma(p, -z, 1.0lf / 40320.0lf);
  p = fma(p, -z, 1.0lf / 720.0lf);
  p = fma(p, -z, 1.0lf / 24.0lf);
  p = fma(p, -z, 0.5lf);
  return fma(-p, z, 1.0lf);
}
double turned(double x, int shift) {
  if (!is_finite(x)) return nan_d();
  double n = roundEven(x * 0.63661977236758138lf);
  double r = fma(n, -1.57079632679489655800lf, x);
  r = fma(n, -6.12323399573676603587e-17lf, r);
  int q = (int(n - 4.0lf * floor(n / 4.0lf)) + shift) & 3;
  double v = (q & 1) == 0 ? sine_of(r) : cosine_of(r);
  return (q & 2) == 0 ? v : -v;
}
double k_sin(double x) { return x == 0.0lf ? x : turned(x, 0); }
double k_cos(double x) { return turned(x, 1); }

double k_tanh(double x) {
  double a = k_abs(x);
  if (!(a < 20.0lf)) return is_nan(x) ? x : k_sign(x);
  double t = k_expm1(-2.0lf * a);
  double v = -t / (t + 2.0lf);
  return x < 0.0lf ? -v : x == 0.0lf ? x : v;
}

double k_atan(double x) {
  if (is_nan(x)) return x;
  double a = k_abs(x);
  bool far = a > 1.0lf;
  if (far) a = 1.0lf / a;
  a = a / (1.0lf + sqrt(fma(a, a, 1.0lf)));
  a = a / (1.0lf + sqrt(fma(a, a, 1.0lf)));
  a = a / (1.0lf + sqrt(fma(a, a, 1.0lf)));
  double z = a * a;
  double p = 1.0lf / 19.0lf;
  p = fma(p, -z, 1.0lf / 17.0lf);
  p = fma(p, -z, 1.0lf / 15.0lf);
  p = fma(p, -z, 1.0lf / 13.0lf);
  p = fma(p, -z, 1.0lf / 11.0lf);
  p = fma(p, -z, 1.0lf / 9.0lf);
  p = fma(p, -z, 1.0lf / 7.0lf);
  p = fma(p, -z, 0.2lf);
  p = fma(p, -z, 1.0lf / 3.0lf);
  double v = 8.0lf * fma(-p * z, a, a);
  if (far) v = 1.57079632679489661923lf - v;
  return x < 0.0lf ? -v : v;
}
double k_asin(double x) {
  if (!(k_abs(x) <= 1.0lf)) return nan_d();
  if (k_abs(x) == 1.0lf) return x * 1.57079632679489661923lf;
  return k_atan(x / sqrt((1.0lf - x) * (1.0lf + x)));
}
double k_acos(double x) {
  if (!(k_abs(x) <= 1.0lf)) return nan_d();
  if (x == -1.0lf) return 3.14159265358979323846lf;
  return 2.0lf * k_atan(sqrt((1.0lf - x) / (1.0lf + x)));
}

// The series of positive terms below 3, a continued fraction above.
double k_erf(double x) {
  if (is_nan(x)) return x;
  double a = k_abs(x);
  double v = 1.0lf;
  if (a < 3.0lf) {
    double term = a, sum = a, z = 2.0lf * a * a;
    for (int n = 1; n < 64; ++n) { term *= z / double(2 * n + 1); sum += term; if (term < sum * 1e-18lf) break; }
    v = 1.12837916709551257390lf * sum * k_exp(-a * a);
  } else if (a < 6.0lf) {
    double f = a;
    for (int n = 60; n > 0; --n) f = a + double(n) * 0.5lf / f;
    v = 1.0lf - k_exp(-a * a) / (1.77245385090551602730lf * f);
  }
  return x < 0.0lf ? -v : v;
}

double lanczos(double x) {
  x -= 1.0lf;
  double s = 0.99999999999980993lf + 676.5203681218851lf / (x + 1.0lf) - 1259.1392167224028lf / (x + 2.0lf) + 771.32342877765313lf / (x + 3.0lf) - 176.61502916214059lf / (x + 4.0lf) +
             12.507343278686905lf / (x + 5.0lf) - 0.13857109526572012lf / (x + 6.0lf) + 9.9843695780195716e-6lf / (x + 7.0lf) + 1.5056327351493116e-7lf / (x + 8.0lf);
  double t = x + 7.5lf;
  return 0.91893853320467274178lf + (x + 0.5lf) * k_log(t) - t + k_log(s);
}
double k_lgamma(double x) {
  if (is_nan(x)) return x;
  if (is_inf(x)) return inf_d();
  if (x == 1.0lf || x == 2.0lf) return 0.0lf;
  if (x >= 0.5lf) return lanczos(x);
  if (x == floor(x)) return inf_d();
  return k_log(3.14159265358979323846lf / k_abs(k_sin(3.14159265358979323846lf * x))) - lanczos(1.0lf - x);
}

double whole_power_of(double a, double b) {
  double product = 1.0lf, square = a;
  for (uint n = uint(k_abs(b)); n != 0u; n >>= 1) { if ((n & 1u) != 0u) product *= square; square *= square; }
  return b < 0.0lf ? 1.0lf / product : product;
}
double k_pow(double a, double b) {
  if (b == floor(b) && k_abs(b) <= 64.0lf) return whole_power_of(a, b);
  if (a == 1.0lf) return 1.0lf;
  if (is_nan(a) || is_nan(b)) return nan_d();
  bool whole = b == floor(b), odd = whole && floor(b * 0.5lf) * 2.0lf != b;
  if (a < 0.0lf && !whole && !is_inf(a)) return nan_d();
  double v = a == 0.0lf ? (b > 0.0lf ? 0.0lf : inf_d()) : k_exp(b * k_log(k_abs(a)));
  return a < 0.0lf && odd ? -v : v;
}
double k_sigmoid(double x) { return 1.0lf / (1.0lf + k_exp(-x)); }
double k_softplus(double x) { return larger(x, 0.0lf) + k_log1p(k_exp(-k_abs(x))); }
double k_elu(double x) { return x > 0.0lf ? x : k_expm1(x); }
double k_gelu(double x) { return x * 0.5lf * (1.0lf + k_erf(x * 0.70710678118654752440lf)); }
double k_silu(double x) { return x / (1.0lf + k_exp(-x)); }

float k_exp(float x) {
  if (is_nan(x)) return x;
  if (x > 88.722839) return inf_f;
  if (x < -103.97) return 0.0;
  float n = roundEven(x * 1.44269504);
  float r = fma(n, -0.693359375, x);
  r = fma(n, 2.12194440e-4, r);
  float p = 1.9875691500e-4;
  p = fma(p, r, 1.3981999507e-3);
  p = fma(p, r, 8.3334519073e-3);
  p = fma(p, r, 4.1665795894e-2);
  p = fma(p, r, 1.6666665459e-1);
  p = fma(p, r, 5.0000001201e-1);
  float v = fma(p * r, r, r) + 1.0;
  int k = int(n), half_k = k / 2;
  return v * uintBitsToFloat(uint(half_k + 127) << 23) * uintBitsToFloat(uint(k - half_k + 127) << 23);
}
float k_log(float x) { return float(k_log(double(x))); }
float k_log2(float x) { return float(k_log2(double(x))); }
float k_sin(float x) { return float(k_sin(double(x))); }
float k_cos(float x) { return float(k_cos(double(x))); }
float k_tanh(float x) { return float(k_tanh(double(x))); }
float k_asin(float x) { return float(k_asin(double(x))); }
float k_acos(float x) { return float(k_acos(double(x))); }
float k_atan(float x) { return float(k_atan(double(x))); }
float k_erf(float x) { return float(k_erf(double(x))); }
float k_lgamma(float x) { return float(k_lgamma(double(x))); }
float k_pow(float a, float b) { return float(k_pow(double(a), double(b))); }
float k_sigmoid(float x) { return 1.0 / (1.0 + k_exp(-x)); }
float k_softplus(float x) { return float(k_softplus(double(x))); }
float k_elu(float x) { return float(k_elu(double(x))); }
float k_gelu(float x) { return float(k_gelu(double(x))); }
float k_silu(float x) { return x / (1.0 + k_exp(-x)); }
float k_log1p(float x) { return float(k_log1p(double(x))); }
float k_expm1(float x) { return float(k_expm1(double(x))); }

int64_t i_abs(int64_t a) { return a < 0l ? -a : a; }
int64_t i_sign(int64_t a) { return int64_t(int(a > 0l) - int(a < 0l)); }
int64_t i_pow(int64_t a, int64_t b) {
  int64_t product = 1l;
  for (; b > 0l; b >>= 1) { if ((b & 1l) != 0l) product *= a; a *= a; }
  return product;
}
int64_t i_div(int64_t a, int64_t b) {
  if (b == 0l) { divided_by_zero = true; divided = a; return 0l; }
  if (b == -1l) return -a;
  int64_t q = a / b;
  return q * b != a && (a < 0l) != (b < 0l) ? q - 1l : q;
}
int64_t i_mod(int64_t a, int64_t b) {
  if (b == 0l) { divided_by_zero = true; divided = a; return 0l; }
  return a - b * i_div(a, b);
}
)glsl";

}  // namespace locus::vulkan
