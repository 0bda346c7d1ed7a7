// Text to tree: scans, reads declaration after declaration, and goes on behind a mistake.
// Knows nothing of Spirit.
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/declaration.hpp"
#include "dsl/syntax/explain.hpp"
#include "dsl/syntax/scene.hpp"

namespace locus {

namespace {

using syntax::Token;

/// The next declaration that opens a line, or the end.
const Token* recover(const Token* token) {
  while (token->kind != syntax::TokenKind::end && !(token->opens_line && syntax::begins_declaration(*token))) ++token;
  return token;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t low = line.find_first_not_of(" \t");
  if (low == std::string_view::npos) return {};
  line.remove_prefix(low);
  if (line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// The comment lines directly above an offset, without '#' and one blank. No string reaches over a line end, so such a line is always a comment.
std::string comment_above(std::string_view text, std::size_t offset) {
  const auto start_of = [&](std::size_t point) { return point == 0 ? 0 : text.rfind('\n', point - 1) + 1; };  // npos + 1 is 0
  const std::size_t end = start_of(offset);
  if (!trimmed(text.substr(end, offset - end)).empty()) return "";  // it shares its line with the declaration before
  std::size_t low = end;
  for (std::size_t above = low; low > 0; low = above) {
    above = start_of(low - 1);
    const std::string_view line = trimmed(text.substr(above, low - 1 - above));
    if (line.empty() || line[0] != '#') break;
  }
  std::string comment;
  while (low < end) {
    const std::size_t next = text.find('\n', low) + 1;
    std::string_view line = trimmed(text.substr(low, next - 1 - low));
    line.remove_prefix(line.substr(0, 2) == "# " ? 2 : 1);
    comment += line;
    if (next < end) comment += '\n';
    low = next;
  }
  return comment;
}

}  // namespace

ast::File parse(const Sources& sources, std::uint32_t source, Diagnostics& diagnostics) {
  const syntax::Tokens tokens = syntax::scan(sources, source);
  const Token* begin = tokens.data();
  const Token* last = begin + tokens.size();
  ast::File file;
  file.source = source;
  for (const Token* here = begin; here->kind != syntax::TokenKind::end;) {
    const Token* start = here;
    ast::Declaration declaration;
    if (const auto stop = syntax::read_declaration(here, last, declaration)) {
      diagnostics.add(syntax::explain(begin, start, stop->at, stop->wanted));
      here = recover(stop->at == start ? start + 1 : stop->at);
      continue;
    }
    declaration.comment = comment_above(sources.at(source).text, declaration.span.low);
    file.declarations.push_back(std::move(declaration));
  }
  return file;
}

}  // namespace locus
