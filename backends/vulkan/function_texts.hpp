// The texts behind functions.hpp. Double: relative errors of a few 1e-16 unless a function says otherwise. Float: at most 4 units in the last place.
// Functions have no early return: neighbouring invocations run in step, and a choice of values is cheaper than a choice of ways.
#pragma once

namespace locus::vulkan {

struct FunctionText {
  const char* name;
  const char* text;
};

inline constexpr FunctionText basic_functions[] = {
    {"inf_f", "#define inf_f uintBitsToFloat(0x7f800000u)"},
    {"nan_f", "#define nan_f uintBitsToFloat(0x7fc00000u)"},
    {"inf_d", "#define inf_d packDouble2x32(uvec2(0u, 0x7ff00000u))"},
    {"nan_d", "#define nan_d packDouble2x32(uvec2(0u, 0x7ff80000u))"},
    // By their bits, since a compiler may take it that no number is NaN.
    {"is_nan_f", "bool is_nan_f(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }"},
    {"is_nan_d", "bool is_nan_d(double x) { uvec2 u = unpackDouble2x32(x); uint h = u.y & 0x7fffffffu; return h > 0x7ff00000u || (h == 0x7ff00000u && u.x != 0u); }"},
    {"is_inf_f", "bool is_inf_f(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }"},
    {"is_inf_d", "bool is_inf_d(double x) { uvec2 u = unpackDouble2x32(x); return (u.y & 0x7fffffffu) == 0x7ff00000u && u.x == 0u; }"},
    {"is_finite_f", "bool is_finite_f(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }"},
    {"is_finite_d", "bool is_finite_d(double x) { return (unpackDouble2x32(x).y & 0x7ff00000u) != 0x7ff00000u; }"},
    {"larger_f", "float larger_f(float a, float b) { return is_nan_f(a) || a > b ? a : b; }"},
    {"larger_d", "double larger_d(double a, double b) { return is_nan_d(a) || a > b ? a : b; }"},
    {"smaller_f", "float smaller_f(float a, float b) { return is_nan_f(a) || a < b ? a : b; }"},
    {"smaller_d", "double smaller_d(double a, double b) { return is_nan_d(a) || a < b ? a : b; }"},
    {"abs_f", "float abs_f(float a) { return uintBitsToFloat(floatBitsToUint(a) & 0x7fffffffu); }"},
    {"abs_d", "double abs_d(double a) { uvec2 u = unpackDouble2x32(a); return packDouble2x32(uvec2(u.x, u.y & 0x7fffffffu)); }"},
    {"with_sign_f", "float with_sign_f(float a, float s) { return uintBitsToFloat((floatBitsToUint(a) & 0x7fffffffu) | (floatBitsToUint(s) & 0x80000000u)); }"},
    {"with_sign_d", "double with_sign_d(double a, double s) { uvec2 u = unpackDouble2x32(a); return packDouble2x32(uvec2(u.x, (u.y & 0x7fffffffu) | (unpackDouble2x32(s).y & 0x80000000u))); }"},
    // By bits: one software driver makes 0 of a number that is chosen between 1 and 0.
    {"from_bool_f", "float from_bool_f(bool b) { return uintBitsToFloat(b ? 0x3f800000u : 0u); }"},
    {"from_bool_d", "double from_bool_d(bool b) { return packDouble2x32(uvec2(0u, b ? 0x3ff00000u : 0u)); }"},
    {"sign_f", "float sign_f(float a) { return is_nan_f(a) ? a : from_bool_f(a > 0.0) - from_bool_f(a < 0.0); }"},
    {"sign_d", "double sign_d(double a) { return is_nan_d(a) ? a : from_bool_d(a > 0.0lf) - from_bool_d(a < 0.0lf); }"},
    // By bits: the same driver gets a widened int against a constant wrong.
    {"less_i", "bool less_i(int64_t a, int64_t b) { uint64_t x = uint64_t(a), y = uint64_t(b); return uint(((x & ~y) | (~(x ^ y) & (x - y))) >> 63) != 0u; }"},
    {"maximum_i", "int64_t maximum_i(int64_t a, int64_t b) { return less_i(a, b) ? b : a; }"},
    {"minimum_i", "int64_t minimum_i(int64_t a, int64_t b) { return less_i(b, a) ? b : a; }"},
    {"abs_i", "int64_t abs_i(int64_t a) { return less_i(a, 0l) ? -a : a; }"},
    {"sign_i", "int64_t sign_i(int64_t a) { return a == 0l ? 0l : less_i(a, 0l) ? -1l : 1l; }"},
    {"pow_i", "int64_t pow_i(int64_t a, int64_t b) {\n"
              "  int64_t product = 1l;\n"
              "  for (; b > 0l; b >>= 1) { if ((b & 1l) != 0l) product *= a; a *= a; }\n"
              "  return product;\n"
              "}"},
    // `trouble` is declared by every shader: the kind of the first fault of this invocation, and its value.
    {"idiv_i", "int64_t idiv_i(int64_t a, int64_t b) {\n"
               "  if (b == 0l && trouble == 0u) { trouble = 5u; trouble_value = a; }\n"
               "  int64_t c = b == 0l || b == -1l ? 1l : b, q = a / c;\n"
               "  q -= q * c != a && less_i(a, 0l) != less_i(c, 0l) ? 1l : 0l;\n"
               "  return b == 0l ? 0l : b == -1l ? -a : q;\n"
               "}"},
    {"mod_i", "int64_t mod_i(int64_t a, int64_t b) { int64_t q = idiv_i(a, b); return b == 0l ? 0l : a - b * q; }"},
};

inline constexpr FunctionText double_functions[] = {
    {"two_to_d", "double two_to_d(int n) { return packDouble2x32(uvec2(0u, uint(n + 1023) << 20)); }"},
    // e^(x + low) for a low of little size. ln 2 in two pieces: the product of the first with n has no rounding.
    {"exp_sum_d", R"(double exp_sum_d(double x, double low) {
  precise double n = roundEven(min(max(x, -746.0lf), 710.0lf) * 1.44269504088896340736lf);
  precise double r = min(max(x, -746.0lf), 710.0lf) - n * 0.693147180369123816490lf;
  r = r - (n * 1.90821492927058770002e-10lf - low);
  double p = 1.60590438368216145994e-10lf;
  p = p * r + 2.08767569878680989792e-9lf;
  p = p * r + 2.50521083854417187751e-8lf;
  p = p * r + 2.75573192239858906526e-7lf;
  p = p * r + 2.75573192239858906526e-6lf;
  p = p * r + 2.48015873015873015873e-5lf;
  p = p * r + 1.98412698412698412698e-4lf;
  p = p * r + 1.38888888888888888889e-3lf;
  p = p * r + 8.33333333333333333333e-3lf;
  p = p * r + 4.16666666666666666667e-2lf;
  p = p * r + 1.66666666666666666667e-1lf;
  p = p * r + 0.5lf;
  p = r + r * r * p;
  int k = int(n), h = k / 2;
  double v = (1.0lf + p) * two_to_d(h) * two_to_d(k - h);
  return is_nan_d(x) ? x : v;
})"},
    {"exp_d", "double exp_d(double x) { return exp_sum_d(x, 0.0lf); }"},
    {"log_d", R"(double log_d(double x) {
  bool tiny = x < 2.2250738585072014e-308lf;
  uvec2 u = unpackDouble2x32(tiny ? x * 18014398509481984.0lf : x);
  int e = int((u.y >> 20) & 0x7ffu) - (tiny ? 1077 : 1023);
  double m = packDouble2x32(uvec2(u.x, (u.y & 0xfffffu) | 0x3ff00000u));
  bool upper = m > 1.41421356237309514547lf;
  double f = (upper ? m * 0.5lf : m) - 1.0lf, k = double(upper ? e + 1 : e);
  double s = f / (2.0lf + f), z = s * s, w = z * z;
  double even = w * (3.999999999940941908e-01lf + w * (2.222219843214978396e-01lf + w * 1.531383769920937332e-01lf));
  double odd = z * (6.666666666666735130e-01lf + w * (2.857142874366239149e-01lf + w * (1.818357216161805012e-01lf + w * 1.479819860511658591e-01lf)));
  double h = 0.5lf * f * f;
  precise double v = k * 6.93147180369123816490e-01lf - ((h - (s * (h + even + odd) + k * 1.90821492927058770002e-10lf)) - f);
  return is_nan_d(x) ? x : x < 0.0lf ? nan_d : x == 0.0lf ? -inf_d : is_inf_d(x) ? x : v;
})"},
    {"log2_d", R"(double log2_d(double x) {
  bool usual = x >= 2.2250738585072014e-308lf && x < 1.7e308lf;
  uvec2 u = unpackDouble2x32(usual ? x : 1.0lf);
  int e = int(u.y >> 20) - 1023;
  double m = packDouble2x32(uvec2(u.x, (u.y & 0xfffffu) | 0x3ff00000u));
  bool upper = m > 1.41421356237309514547lf;
  double l = log_d(usual ? (upper ? 0.5lf * m : m) : x) * 1.44269504088896340736lf;
  return usual ? double(upper ? e + 1 : e) + l : l;
})"},
    {"log1p_d", R"(double log1p_d(double x) {
  precise double u = 1.0lf + x;
  precise double d = u - 1.0lf;
  double v = log_d(u) * (x / d);
  return d == 0.0lf ? x : is_inf_d(u) || u <= 0.0lf ? log_d(u) : v;
})"},
    {"expm1_d", R"(double expm1_d(double x) {
  double p = 7.64716373181981647590e-13lf;
  p = p * x + 1.14707455977297247139e-11lf;
  p = p * x + 1.60590438368216145994e-10lf;
  p = p * x + 2.08767569878680989792e-9lf;
  p = p * x + 2.50521083854417187751e-8lf;
  p = p * x + 2.75573192239858906526e-7lf;
  p = p * x + 2.75573192239858906526e-6lf;
  p = p * x + 2.48015873015873015873e-5lf;
  p = p * x + 1.98412698412698412698e-4lf;
  p = p * x + 1.38888888888888888889e-3lf;
  p = p * x + 8.33333333333333333333e-3lf;
  p = p * x + 4.16666666666666666667e-2lf;
  p = p * x + 1.66666666666666666667e-1lf;
  p = p * x + 0.5lf;
  return abs_d(x) < 0.35lf ? x + x * x * p : exp_d(x) - 1.0lf;
})"},
    // x / (pi / 2) modulo 4 for x beyond 2^20: the bits of 2 / pi that matter times the 53 bits of x. A fraction of 96 bits is left.
    {"far_quarter_turns_d", R"(const uint two_over_pi[] = uint[](0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du, 0xa9e39161u, 0x5ee61b08u);
double far_quarter_turns_d(double x, out int quadrant) {
  uvec2 u = unpackDouble2x32(x);
  uint m0 = u.x, m1 = (u.y & 0xfffffu) | 0x100000u;
  int e = int((u.y >> 20) & 0x7ffu) - 1075, from = max(e - 2, 0) / 32;
  uint p[9];
  for (int k = 0; k < 9; ++k) p[k] = 0u;
  for (int k = 6; k >= 0; --k) {
    uint w = two_over_pi[from + k], high, low, carry;
    umulExtended(w, m0, high, low);
    p[k + 2] = uaddCarry(p[k + 2], low, carry);
    uint more;
    p[k + 1] = uaddCarry(p[k + 1], carry, more);
    uint next = more;
    p[k + 1] = uaddCarry(p[k + 1], high, more);
    next += more;
    umulExtended(w, m1, high, low);
    p[k + 1] = uaddCarry(p[k + 1], low, more);
    next += more;
    p[k] += high + next;
  }
  // p is a number of 9 words with 32 (from + 7) - e bits behind the point.
  int bits = 32 * (from + 7) - e, word = 8 - bits / 32, shift = bits % 32;
  uint whole = shift == 0 ? p[word] : (word > 0 ? (p[word - 1] << (32 - shift)) : 0u) | (p[word] >> shift);
  uint a = shift == 0 ? p[word + 1] : (p[word] << (32 - shift)) | (p[word + 1] >> shift), b = shift == 0 ? p[word + 2] : (p[word + 1] << (32 - shift)) | (p[word + 2] >> shift), c = shift == 0 ? p[word + 3] : (p[word + 2] << (32 - shift)) | (p[word + 3] >> shift);
  bool up = (a & 0x80000000u) != 0u;
  if (up) { a = ~a; b = ~b; c = ~c; }
  double t = (double(a) + (double(b) + double(c) * 2.3283064365386962890625e-10lf) * 2.3283064365386962890625e-10lf) * 2.3283064365386962890625e-10lf;
  quadrant = int(whole & 3u) + int(up);
  return (up ? -t : t) * 1.57079632679489661923lf;
})"},
    // pi / 2 in pieces of 33 bits: n up to 2^20 leaves no rounding in the products.
    {"quarter_turns_d", R"(double quarter_turns_d(double x, out int quadrant) {
  if (abs_d(x) > 1048576.0lf) {
    double far = far_quarter_turns_d(abs_d(x), quadrant);
    quadrant = x < 0.0lf ? 4 - quadrant : quadrant;
    return x < 0.0lf ? -far : far;
  }
  precise double n = roundEven(x * 6.36619772367581382433e-01lf);
  precise double r = x - n * 1.57079632673412561417e+00lf;
  r = r - n * 6.07710050630396597660e-11lf;
  r = r - n * 2.02226624879595063154e-21lf;
  quadrant = int(n - 4.0lf * floor(n * 0.25lf));
  return r;
})"},
    {"sine_d", R"(double sine_d(double r, int quadrant) {
  double z = r * r;
  double s = r + r * z * (-1.66666666666666324348e-01lf + z * (8.33333333332248946124e-03lf + z * (-1.98412698298579493134e-04lf + z * (2.75573137070700676789e-06lf + z * (-2.50507602534068634195e-08lf + z * 1.58969099521155010221e-10lf)))));
  double c = 1.0lf - 0.5lf * z + z * z * (4.16666666666666019037e-02lf + z * (-1.38888888888741095749e-03lf + z * (2.48015872894767294178e-05lf + z * (-2.75573143513906633035e-07lf + z * (2.08757232129817482790e-09lf + z * -1.13596475577881948265e-11lf)))));
  double v = (quadrant & 1) == 0 ? s : c;
  return (quadrant & 2) == 0 ? v : -v;
})"},
    {"sin_d", "double sin_d(double x) { int q; double r = quarter_turns_d(is_finite_d(x) ? x : 0.0lf, q); double v = sine_d(r, q); return is_finite_d(x) ? (x == 0.0lf ? x : v) : nan_d; }"},
    {"cos_d", "double cos_d(double x) { int q; double r = quarter_turns_d(is_finite_d(x) ? x : 0.0lf, q); double v = sine_d(r, q + 1); return is_finite_d(x) ? v : nan_d; }"},
    {"tanh_d", R"(double tanh_d(double x) {
  double t = expm1_d(-2.0lf * min(abs_d(x), 40.0lf));
  return is_nan_d(x) ? x : with_sign_d(t / (t + 2.0lf), x);
})"},
    {"atan_d", R"(double atan_d(double x) {
  double a = abs_d(x);
  int part = int(a >= 0.4375lf) + int(a >= 0.6875lf) + int(a >= 1.1875lf) + int(a >= 2.4375lf);
  double over = part == 0 ? a : part == 1 ? 2.0lf * a - 1.0lf : part == 2 ? a - 1.0lf : part == 3 ? a - 1.5lf : -1.0lf;
  double under = part == 0 ? 1.0lf : part == 1 ? 2.0lf + a : part == 2 ? a + 1.0lf : part == 3 ? 1.0lf + 1.5lf * a : a;
  double t = over / under, z = t * t, w = z * z;
  double odd = z * (3.33333333333329318027e-01lf + w * (1.42857142725034663711e-01lf + w * (9.09088713343650656196e-02lf + w * (6.66107313738753120669e-02lf + w * (4.97687799461593236017e-02lf + w * 1.62858201153657823623e-02lf)))));
  double even = w * (-1.99999999998764832476e-01lf + w * (-1.11111104054623557880e-01lf + w * (-7.69187620504482999495e-02lf + w * (-5.83357013379057348645e-02lf + w * -3.65315727442169155270e-02lf))));
  double high = part == 0 ? 0.0lf : part == 1 ? 4.63647609000806093515e-01lf : part == 2 ? 7.85398163397448278999e-01lf : part == 3 ? 9.82793723247329054082e-01lf : 1.57079632679489655800lf;
  double low = part == 0 ? 0.0lf : part == 1 ? 2.26987774529616870924e-17lf : part == 2 ? 3.06161699786838301793e-17lf : part == 3 ? 1.39033110312309984516e-17lf : 6.12323399573676603587e-17lf;
  precise double v = high - ((t * (odd + even) - low) - t);
  return is_nan_d(x) ? x : with_sign_d(v, x);
})"},
    {"asin_d", "double asin_d(double x) { double a = abs_d(x), v = a < 1.0lf ? atan_d(a / sqrt((1.0lf - a) * (1.0lf + a))) : 1.57079632679489661923lf; return a <= 1.0lf ? with_sign_d(v, x) : nan_d; }"},
    {"acos_d", "double acos_d(double x) { double v = x > -1.0lf ? 2.0lf * atan_d(sqrt((1.0lf - x) / (1.0lf + x))) : 3.14159265358979323846lf; return abs_d(x) <= 1.0lf ? v : nan_d; }"},
    {"erf_d", R"(double erf_d(double x) {
  double a = min(abs_d(x), 7.0lf), z = a * a, s = a - 1.0lf, q = 1.0lf / max(z, 1.0lf);
  double near = a + a * ((1.28379167095512558561e-01lf + z * (-3.25042107247001499370e-01lf + z * (-2.84817495755985104766e-02lf + z * (-5.77027029648944159157e-03lf + z * -2.37630166566501626084e-05lf)))) /
                         (1.0lf + z * (3.97917223959155352819e-01lf + z * (6.50222499887672944485e-02lf + z * (5.08130628187576562776e-03lf + z * (1.32494738004321644526e-04lf + z * -3.96022827877536812320e-06lf))))));
  double at_one = 8.45062911510467529297e-01lf +
                  (-2.36211856075265944077e-03lf + s * (4.14856118683748331666e-01lf + s * (-3.72207876035701323847e-01lf + s * (3.18346619901161753674e-01lf + s * (-1.10894694282396677476e-01lf + s * (3.54783043256182359371e-02lf + s * -2.16637559486879084300e-03lf)))))) /
                  (1.0lf + s * (1.06420880400844228286e-01lf + s * (5.40397917702171048937e-01lf + s * (7.18286544141962662868e-02lf + s * (1.26171219808761642112e-01lf + s * (1.36370839120290507362e-02lf + s * 1.19844998467991074170e-02lf))))));
  double middle = (-9.86494403484714822705e-03lf + q * (-6.93858572707181764372e-01lf + q * (-1.05586262253232909814e+01lf + q * (-6.23753324503260060396e+01lf + q * (-1.62396669462573470355e+02lf + q * (-1.84605092906711035994e+02lf + q * (-8.12874355063065934246e+01lf + q * -9.81432934416914548592e+00lf))))))) /
                  (1.0lf + q * (1.96512716674392571292e+01lf + q * (1.37657754143519042600e+02lf + q * (4.34565877475229228821e+02lf + q * (6.45387271733267880336e+02lf + q * (4.29008140027567833386e+02lf + q * (1.08635005541779435134e+02lf + q * (6.57024977031928170135e+00lf + q * -6.04244152148580987438e-02lf))))))));
  double outer = (-9.86494292470009928597e-03lf + q * (-7.99283237680523006574e-01lf + q * (-1.77579549177547519889e+01lf + q * (-1.60636384855821916062e+02lf + q * (-6.37566443368389627722e+02lf + q * (-1.02509513161107724954e+03lf + q * -4.83519191608651397019e+02lf)))))) /
                 (1.0lf + q * (3.03380607434824582924e+01lf + q * (3.25792512996573918826e+02lf + q * (1.53672958608443695994e+03lf + q * (3.19985821950859553908e+03lf + q * (2.55305040643316442583e+03lf + q * (4.74528541206955367215e+02lf + q * -2.24409524465858183362e+01lf)))))));
  double far = 1.0lf - exp_d(-z - 0.5625lf + (a < 2.857142857142857lf ? middle : outer)) / max(a, 1.0lf);
  double v = a < 0.84375lf ? near : a < 1.25lf ? at_one : far;
  return is_nan_d(x) ? x : with_sign_d(v, x);
})"},
    // By its polynomial on [2, 3), recurrence below 8 and Stirling's series above; below 1/2 by reflection. Errors of a few 1e-16 of the larger of the result and 1.
    {"lgamma_d", R"(double lgamma_d(double x) {
  bool left = x < 0.5lf;
  double v = left ? 1.0lf - x : x;
  int i = int(min(v, 9.0lf));
  double y = v - double(i), z = 1.0lf;
  [[unroll]] for (int k = 2; k < 7; ++k) z = i > k ? z * (y + double(k)) : z;
  double below = i == 0 ? v * (v + 1.0lf) : v;
  double p = y * (-7.72156649015328655494e-02lf + y * (2.14982415960608852501e-01lf + y * (3.25778796408930981787e-01lf + y * (1.46350472652464452805e-01lf + y * (2.66422703033638609560e-02lf + y * (1.84028451407337715652e-03lf + y * 3.19475326584100867617e-05lf))))));
  double q = 1.0lf + y * (1.39200533467621045958e+00lf + y * (7.21935547567138069525e-01lf + y * (1.71933865632803078993e-01lf + y * (1.86459191715652901344e-02lf + y * (7.77942496381893596434e-04lf + y * 7.32668430744625636189e-06lf)))));
  double l = log_d(i < 2 ? below : i < 8 ? z : v), near = 0.5lf * y + p / q + (i < 2 ? -l : l);
  double u = 1.0lf / v, w = u * u;
  double far = (v - 0.5lf) * (l - 1.0lf) + 4.18938533204672725052e-01lf + u * (8.33333333333329678849e-02lf + w * (-2.77777777728775536470e-03lf + w * (7.93650558643019558500e-04lf + w * (-5.95187557450339963135e-04lf + w * (8.36339918996282139126e-04lf + w * -1.63092934096575273989e-03lf)))));
  double g = i < 8 ? near : far;
  double turn = abs_d(x - roundEven(x)), wave = turn > 0.25lf ? sine_d(3.14159265358979323846lf * (0.5lf - turn), 1) : sine_d(3.14159265358979323846lf * turn, 0), mirrored = log_d(3.14159265358979323846lf / wave) - g;
  return is_nan_d(x) ? x : is_inf_d(x) || (left && turn == 0.0lf) ? inf_d : left ? mirrored : g;
})"},
    {"split_d", "double split_d(double a) { precise double c = 134217729.0lf * a; precise double d = c - a; precise double h = c - d; return h; }"},
    {"product_error_d", "double product_error_d(double a, double b, double p) { double ah = split_d(a), bh = split_d(b); precise double al = a - ah; precise double bl = b - bh; precise double e = ((ah * bh - p) + ah * bl + al * bh) + al * bl; return e; }"},
    // Whole powers up to 64 in size by repeated squaring. Else e^(b log a), with the logarithm and its product with b in two pieces each.
    {"pow_d", R"(double pow_d(double a, double b) {
  bool whole = b == floor(b), small = whole && abs_d(b) <= 64.0lf;
  double product = 1.0lf, square = a;
  uint n = uint(small ? abs_d(b) : 0.0lf);
  [[unroll]] for (int k = 0; k < 7; ++k) { product = (n & 1u) != 0u ? product * square : product; square *= square; n >>= 1; }
  double x = abs_d(a);
  bool usual = x >= 2.2250738585072014e-308lf && x < 1.7e308lf;
  uvec2 u = unpackDouble2x32(usual ? x : 1.0lf);
  double m = packDouble2x32(uvec2(u.x, (u.y & 0xfffffu) | 0x3ff00000u));
  bool upper = m > 1.41421356237309514547lf;
  double k = double(int(u.y >> 20) - (upper ? 1022 : 1023));
  precise double f = (upper ? 0.5lf * m : m) - 1.0lf;
  precise double d = 2.0lf + f;
  precise double s = f / d;
  double sd = s * d;
  precise double rest = ((f - sd) - product_error_d(s, d, sd) - s * ((2.0lf - d) + f)) / d;
  double z = s * s;
  double series = z * s * (6.666666666666666667e-01lf + z * (4.0e-01lf + z * (2.857142857142857143e-01lf + z * (2.222222222222222222e-01lf + z * (1.818181818181818182e-01lf + z * (1.538461538461538462e-01lf + z * (1.333333333333333333e-01lf + z * (1.176470588235294118e-01lf + z * (1.052631578947368421e-01lf + z * 9.523809523809523810e-02lf)))))))));
  precise double high = k * 6.93147180369123816490e-01lf;
  precise double l = high + 2.0lf * s;
  precise double back = l - high;
  precise double low = ((high - (l - back)) + (2.0lf * s - back)) + (k * 1.90821492927058770002e-10lf + (2.0lf * rest + series));
  l = usual ? l : log_d(x);
  double p = b * l;
  double e = usual && abs_d(p) < 1000.0lf && abs_d(b) < 1e100lf ? product_error_d(b, l, p) + b * low : 0.0lf;
  double v = exp_sum_d(p, e);
  v = a < 0.0lf && whole && floor(b * 0.5lf) * 2.0lf != b ? -v : v;
  v = a < 0.0lf && !whole && !is_inf_d(a) ? nan_d : v;
  return small ? (b < 0.0lf ? 1.0lf / product : product) : a == 1.0lf ? 1.0lf : is_nan_d(a) ? a : is_nan_d(b) ? b : v;
})"},
    {"sigmoid_d", "double sigmoid_d(double x) { return 1.0lf / (1.0lf + exp_d(-x)); }"},
    {"softplus_d", "double softplus_d(double x) { return larger_d(x, 0.0lf) + log1p_d(exp_d(-abs_d(x))); }"},
    {"elu_d", "double elu_d(double x) { return x > 0.0lf ? x : expm1_d(x); }"},
    {"gelu_d", "double gelu_d(double x) { return x * 0.5lf * (1.0lf + erf_d(x * 0.70710678118654752440lf)); }"},
    {"silu_d", "double silu_d(double x) { return x / (1.0lf + exp_d(-x)); }"},
};

inline constexpr FunctionText float_functions[] = {
    {"two_to_f", "float two_to_f(int n) { return uintBitsToFloat(uint(n + 127) << 23); }"},
    {"exp_f", R"(float exp_f(float x) {
  precise float c = min(max(x, -104.0), 89.0);
  precise float n = roundEven(c * 1.44269504);
  precise float r = c - n * 0.693359375;
  r = r + n * 2.12194440e-4;
  float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  p = r + r * r * p;
  int k = int(n), h = k / 2;
  float v = (1.0 + p) * two_to_f(h) * two_to_f(k - h);
  return is_nan_f(x) ? x : v;
})"},
    {"log_f", R"(float log_f(float x) {
  uint u = floatBitsToUint(x) + 0x004afb0du;
  float k = float(int(u >> 23) - 127);
  float f = uintBitsToFloat((u & 0x007fffffu) + 0x3f3504f3u) - 1.0;
  float s = f / (2.0 + f), z = s * s, w = z * z;
  float tail = w * (0.40000972152 + w * 0.24279078841) + z * (0.66666662693 + w * 0.28498786688), h = 0.5 * f * f;
  precise float v = s * (h + tail) + k * 9.0580006145e-06;
  v = v - h;
  v = v + f;
  v = v + k * 6.9313812256e-01;
  return is_nan_f(x) ? x : x < 0.0 ? nan_f : x == 0.0 ? -inf_f : is_inf_f(x) ? x : v;
})"},
    {"log2_f", R"(float log2_f(float x) {
  uint u = floatBitsToUint(x) + 0x004afb0du;
  bool usual = x > 0.0 && !is_inf_f(x) && !is_nan_f(x);
  float l = log_f(usual ? uintBitsToFloat((u & 0x007fffffu) + 0x3f3504f3u) : x) * 1.44269504;
  return usual ? float(int(u >> 23) - 127) + l : l;
})"},
    {"log1p_f", R"(float log1p_f(float x) {
  precise float u = 1.0 + x;
  precise float d = u - 1.0;
  float v = log_f(u) * (x / d);
  return d == 0.0 ? x : is_inf_f(u) || u <= 0.0 ? log_f(u) : v;
})"},
    {"expm1_f", R"(float expm1_f(float x) {
  float p = 2.75573192e-6;
  p = p * x + 2.48015873e-5;
  p = p * x + 1.98412698e-4;
  p = p * x + 1.38888889e-3;
  p = p * x + 8.33333333e-3;
  p = p * x + 4.16666667e-2;
  p = p * x + 1.66666667e-1;
  p = p * x + 0.5;
  return abs_f(x) < 0.5 ? x + x * x * p : exp_f(x) - 1.0;
})"},
    {"sine_f", R"(float sine_f(float r, int quadrant) {
  float z = r * r;
  float s = r + r * z * (-1.6666654611e-1 + z * (8.3321608736e-3 + z * -1.9515295891e-4));
  float c = 1.0 - 0.5 * z + z * z * (4.166664568298827e-2 + z * (-1.388731625493765e-3 + z * 2.443315711809948e-5));
  float v = (quadrant & 1) == 0 ? s : c;
  return (quadrant & 2) == 0 ? v : -v;
})"},
    // The angle is reduced in double, so that angles far from 0 keep their digits.
    {"sin_f", "float sin_f(float x) { int q; float r = float(quarter_turns_d(is_finite_f(x) ? double(x) : 0.0lf, q)); float v = sine_f(r, q); return is_finite_f(x) ? (x == 0.0 ? x : v) : nan_f; }"},
    {"cos_f", "float cos_f(float x) { int q; float r = float(quarter_turns_d(is_finite_f(x) ? double(x) : 0.0lf, q)); float v = sine_f(r, q + 1); return is_finite_f(x) ? v : nan_f; }"},
    {"tanh_f", R"(float tanh_f(float x) {
  float t = expm1_f(-2.0 * min(abs_f(x), 20.0));
  return is_nan_f(x) ? x : with_sign_f(t / (t + 2.0), x);
})"},
    {"atan_f", R"(float atan_f(float x) {
  float a = abs_f(x);
  bool far = a > 2.414213562373095, middle = !far && a > 0.4142135623730950;
  float t = far ? -1.0 / a : middle ? (a - 1.0) / (a + 1.0) : a, z = t * t;
  float v = (far ? 1.5707963267948966 : middle ? 0.7853981633974483 : 0.0) + (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1) * z * t + t;
  return is_nan_f(x) ? x : with_sign_f(v, x);
})"},
    {"arc_sine_f", "float arc_sine_f(float t, float z) { return ((((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z + 1.6666752422e-1) * z * t + t; }"},
    {"asin_f", R"(float asin_f(float x) {
  float a = abs_f(x), z = a > 0.5 ? 0.5 * (1.0 - a) : a * a, p = arc_sine_f(a > 0.5 ? sqrt(max(z, 0.0)) : a, z);
  return a <= 1.0 ? with_sign_f(a > 0.5 ? 1.5707963267948966 - 2.0 * p : p, x) : nan_f;
})"},
    {"acos_f", R"(float acos_f(float x) {
  float a = abs_f(x), z = a > 0.5 ? 0.5 * (1.0 - a) : a * a, p = arc_sine_f(a > 0.5 ? sqrt(max(z, 0.0)) : x, z);
  float v = a > 0.5 ? (x > 0.0 ? 2.0 * p : 3.1415926535897932 - 2.0 * p) : 1.5707963267948966 - p;
  return a <= 1.0 ? v : nan_f;
})"},
    {"erf_f", R"(float erf_f(float x) {
  float t = min(abs_f(x), 10.0), s = t * t;
  float far = fma(-1.72853470e-5, t, 3.83197126e-4);
  far = fma(far, s, fma(-3.88396438e-3, t, 2.42546219e-2));
  far = fma(far, t, -1.06777877e-1);
  far = fma(far, t, -6.34846687e-1);
  far = fma(far, t, -1.28717512e-1);
  far = fma(far, t, -t);
  float near = -5.96761703e-4;
  near = fma(near, s, 4.99119423e-3);
  near = fma(near, s, -2.67681349e-2);
  near = fma(near, s, 1.12819925e-1);
  near = fma(near, s, -3.76125336e-1);
  near = fma(near, s, 1.28379166e-1);
  float v = t > 0.927734375 ? 1.0 - exp_f(far) : fma(near, t, t);
  return is_nan_f(x) ? x : with_sign_f(v, x);
})"},
    {"lgamma_f", "float lgamma_f(float x) { return float(lgamma_d(double(x))); }"},
    {"pow_f", "float pow_f(float a, float b) { return float(pow_d(double(a), double(b))); }"},
    {"sigmoid_f", "float sigmoid_f(float x) { return 1.0 / (1.0 + exp_f(-x)); }"},
    {"softplus_f", "float softplus_f(float x) { return larger_f(x, 0.0) + log1p_f(exp_f(-abs_f(x))); }"},
    {"elu_f", "float elu_f(float x) { return x > 0.0 ? x : expm1_f(x); }"},
    {"gelu_f", "float gelu_f(float x) { return x * 0.5 * (1.0 + erf_f(x * 0.70710678)); }"},
    {"silu_f", "float silu_f(float x) { return x / (1.0 + exp_f(-x)); }"},
};

}  // namespace locus::vulkan
