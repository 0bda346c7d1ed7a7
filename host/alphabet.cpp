// Alphabets; see alphabet.hpp.
#include "host/alphabet.hpp"
#include "core/base/glyph.hpp"
#include "core/data/file.hpp"
#include "host/options.hpp"

namespace locus::host {
namespace {

/// The characters of a text; empty where it is no UTF-8.
std::vector<std::string> characters(const std::string& text, std::size_t* broken) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
    bool whole = length > 0 && at + length <= text.size();
    for (std::size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(text[at + k]) & 0xC0) == 0x80;
    if (!whole) return *broken = at, std::vector<std::string>{};
    all.push_back(text.substr(at, length));
    at += length;
  }
  *broken = text.size();
  return all;
}

std::string shown(const std::string& letter) {
  return letter == "\n" ? "a line end" : letter == "\t" ? "a tab" : letter == " " ? "a space" : std::string(1, '\'').append(letter).append(1, '\'');
}

}  // namespace

std::optional<Alphabet> Alphabet::read(const std::string& path, Diagnostics& diagnostics) {
  Alphabet a;
  a.path_ = path;
  if (path == "bytes") {
    for (int k = 0; k < 256; ++k) a.letters_.emplace_back(1, static_cast<char>(k)), a.places_[a.letters_.back()] = k;
    return a;
  }
  auto text = read_file(path, diagnostics);
  if (!text) return {};
  const auto refuse = [&](const std::string& message, const std::string& help) {
    diagnostics.add({Code::E425, {}, path + " " + message, "", {}, help, path});
    return std::nullopt;
  };
  std::size_t broken = 0;
  a.letters_ = characters(*text, &broken);
  if (broken != text->size()) return refuse("is not in UTF-8: byte " + std::to_string(broken) + " begins no character", "`--alphabet bytes` takes each byte for its value");
  if (a.letters_.size() > 1 && a.letters_.back() == "\n") a.letters_.pop_back();  // the end of the last line
  if (a.letters_.empty()) return refuse("holds no characters", "write the characters one after another, the one with number 0 first");
  for (std::size_t k = 0; k < a.letters_.size(); ++k)
    if (const auto [at, fresh] = a.places_.emplace(a.letters_[k], static_cast<std::int64_t>(k)); !fresh)
      return refuse("holds " + shown(a.letters_[k]) + " twice: as number " + std::to_string(at->second) + " and as number " + std::to_string(k), "each character stands for one number");
  return a;
}

std::optional<Array> Alphabet::numbers(const std::string& text, const std::string& name, Diagnostics& diagnostics) const {
  std::vector<std::string> letters;
  std::size_t broken = text.size();
  if (path_ == "bytes")
    for (char c : text) letters.emplace_back(1, c);
  else
    letters = characters(text, &broken);
  if (broken != text.size() || letters.empty()) {
    diagnostics.add({Code::E424, {}, "the text for '" + name + "' " + (text.empty() ? "is empty" : "is not in UTF-8"), "", {}, "write some text behind the colon: `--" + name + " 'text:Once'`", "--" + name});
    return {};
  }
  Array all(Dtype::int64, {static_cast<std::int64_t>(letters.size())});
  for (std::size_t k = 0; k < letters.size(); ++k) {
    const auto at = places_.find(letters[k]);
    if (at == places_.end()) {
      diagnostics.add({Code::E424, {}, "the text for '" + name + "' holds " + shown(letters[k]) + " as character " + std::to_string(k) + ", which is not among the " + std::to_string(letters_.size()) + " of " + path_, "", {},
                       "leave it out, or name the alphabet that the model was trained with", "--" + name});
      return {};
    }
    all.as<std::int64_t>()[k] = at->second;
  }
  return all;
}

std::string Alphabet::text(const Array& numbers) const {
  std::string all;
  for (std::int64_t k = 0; k < numbers.count(); ++k) {
    const double v = numbers.number(k);
    if (v >= 0 && v < static_cast<double>(letters_.size())) all += letters_[static_cast<std::size_t>(v)];
    else all.append(1, '<').append(std::to_string(static_cast<std::int64_t>(v))).append(1, '>');
  }
  return all;
}

}  // namespace locus::host
