// Messages: a code, a cause, a place, and one repair that works when pasted. Every message of locus goes through here.
// Knows nothing of the language, the graph or files.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>
#include "core/base/source.hpp"

namespace locus {

enum class Severity { error, warning, note };

/// One enumerator for each row of codes.def, named as there (Code::E101).
enum class Code {
#define LOCUS_CODE(name, severity, title, explanation) name,
#include "core/base/codes.def"
#undef LOCUS_CODE
};

struct CodeInfo {
  Code code;
  const char* name;         ///< "E101"
  Severity severity;
  const char* title;        ///< a few words
  const char* explanation;  ///< a paragraph for the error index
};
/// All rows of codes.def, in its order.
const std::vector<CodeInfo>& code_table();
const CodeInfo& info(Code code);

/// A second place or fact that belongs to a message.
struct Note {
  Span span;         ///< may be unset: then only the text is shown
  std::string text;  ///< lower case, no full stop
};

struct Diagnostic {
  Code code;
  Span span;               ///< may be unset (a file that cannot be opened)
  std::string message;     ///< stands alone, lower case, no full stop: what was found, what was expected
  std::string label;       ///< a few words behind the caret; may be empty
  std::vector<Note> notes;
  std::string help;        ///< one repair; what stands in `...` can be pasted
  std::string where;       ///< instead of a span: "prices.csv:17:3", "--threads"; may be empty
};

/// Collects messages in order. Does not print by itself.
class Diagnostics {
 public:
  void add(Diagnostic d);
  bool failed() const { return errors_ > 0; }
  std::size_t errors() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
};

/// Writes one message as plain text (or with colours), in this form:
///   error[E101]: nothing is named 'bandwith' here
///     --> smooth.locus:4:33
///      |
///    4 |   return mean(y) at q among x by gaussian(bandwith)
///      |                                           ^~~~~~~~ not known
///      = note: ...
///      = help: did you mean `bandwidth`?
/// Tabs before the caret are kept as tabs; wide and multi-byte characters do not shift it.
void write(std::ostream& out, const Diagnostic& d, const Sources& sources, bool colour = false);
void write(std::ostream& out, const Diagnostics& all, const Sources& sources, bool colour = false);

/// The candidate nearest to `word` by edit distance, or "" if none is near enough to be what was meant.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace locus
