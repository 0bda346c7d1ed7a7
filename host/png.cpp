// See png.hpp. The only user of libpng.
#include "host/png.hpp"
#include <png.h>
#include <algorithm>
#include <cmath>
#include <vector>

namespace locus::host {
namespace {

struct Colour {
  png_byte red, green, blue;
};

Colour colour_of(double share, double high) {
  if (std::isnan(share)) return {214, 39, 180};
  constexpr Colour steps[] = {{255, 255, 255}, {199, 221, 240}, {116, 169, 214}, {38, 105, 170}, {8, 40, 92}};
  const double at = high > 0 ? std::clamp(share / high, 0.0, 1.0) * 4 : 0;
  const int low = std::min(static_cast<int>(at), 3);
  const double part = at - low;
  const auto mixed = [&](png_byte a, png_byte b) { return static_cast<png_byte>(std::lround(a + part * (b - a))); };
  return {mixed(steps[low].red, steps[low + 1].red), mixed(steps[low].green, steps[low + 1].green), mixed(steps[low].blue, steps[low + 1].blue)};
}

}  // namespace

std::string png_of(const Array& matrix, double high) {
  const std::int64_t rows = matrix.shape()[0], columns = matrix.shape()[1], dots = std::clamp<std::int64_t>(512 / std::max(rows, columns), 1, 24);
  std::vector<png_byte> pixels;
  pixels.reserve(static_cast<std::size_t>(rows * columns * dots * dots * 3));
  for (std::int64_t r = 0; r < rows * dots; ++r)
    for (std::int64_t c = 0; c < columns * dots; ++c) {
      const Colour colour = colour_of(matrix.number(r / dots * columns + c / dots), high);
      pixels.insert(pixels.end(), {colour.red, colour.green, colour.blue});
    }
  png_image image{};
  image.version = PNG_IMAGE_VERSION, image.format = PNG_FORMAT_RGB;
  image.width = static_cast<png_uint_32>(columns * dots), image.height = static_cast<png_uint_32>(rows * dots);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr)) return "";
  bytes.resize(size);
  return bytes;
}

}  // namespace locus::host
