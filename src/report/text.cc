#include "report/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <span>
#include <utility>

namespace plackett::report {
namespace {

struct Letter {
  utf8proc_int32_t point = 0;
  std::string_view bytes;
};

// Takes one code point off the front, with what must not reach any document already replaced. An
// ill-formed byte is taken alone.
Letter take_printable(std::string_view& rest) {
  utf8proc_int32_t point = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                       static_cast<utf8proc_ssize_t>(rest.size()), &point);
  const std::string_view bytes = rest.substr(0, length > 0 ? static_cast<std::size_t>(length) : 1);
  rest.remove_prefix(bytes.size());
  if (point == '\t' || point == '\n' || point == '\r') return {' ', " "};
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool line_break = point == 0x2028 || point == 0x2029;
  const bool noncharacter = (point & 0xFFFE) == 0xFFFE;
  if (length <= 0 || control || line_break || noncharacter) return {0xFFFD, "\uFFFD"};
  return {point, bytes};
}

std::size_t width_of(const Letter& letter) {
  return static_cast<std::size_t>(utf8proc_charwidth(letter.point));
}

// A character and what stands for it.
struct Pair {
  std::string_view from, to;
};
// clang-format off
constexpr Pair kMarkup[]{
    {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}};
constexpr Pair kMarkdown[]{
    {"\\", "\\\\"}, {"|", "\\|"}, {"*", "\\*"}, {"_", "\\_"}, {"`", "\\`"}, {"[", "\\["}, {"]", "\\]"},
    {"#", "\\#"}, {"~", "\\~"}, {"$", "\\$"}, {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}};
// "$" is set in mathematics, where no further font is needed; "-{}" forms no ligatures. The marks
// of tables are commands (documents.cc).
constexpr Pair kLatex[]{
    {"\\", "$\\backslash$"}, {"{", "\\{"}, {"}", "\\}"}, {"$", "$\\$$"}, {"&", "\\&"}, {"#", "\\#"},
    {"%", "\\%"}, {"_", "\\_"}, {"^", "\\^{}"}, {"~", "\\~{}"}, {"<", "$<$"}, {">", "$>$"}, {"|", "$|$"},
    {"\"", "''"}, {"-", "-{}"}, {"\u00A0", "~"}, {"·", "$\\cdot$"}, {"×", "$\\times$"},
    {"±", "$\\pm$"}, {"–", "--"},
    {"▲", "\\plackettmuchbetter{}"}, {"△", "\\plackettbetter{}"},
    {"▼", "\\plackettmuchworse{}"}, {"▽", "\\plackettworse{}"}};
// Our own characters without UTF-8.
constexpr Pair kAscii[]{
    {"▲", "A"}, {"△", "^"}, {"▼", "V"}, {"▽", "v"}, {"·", "."}, {"─", "-"}, {"×", "x"}, {"–", "-"},
    {"…", "~"}, {"≥", ">"}, {"†", "!"}, {"\uFFFD", "?"}};
// clang-format on

// Whether the oldest of LaTeX's encodings has or can build the letter.
bool in_latex(utf8proc_int32_t point) {
  return point < 0x80 || (point >= 0xC0 && point <= 0xFF && point != 0xD0 && point != 0xDE &&
                          point != 0xF0 && point != 0xF7 && point != 0xFE);
}

// The printable text with what the pairs say.
std::string escaped(std::string_view text, std::span<const Pair> pairs, bool for_latex = false) {
  std::string out;
  while (!text.empty()) {
    const Letter letter = take_printable(text);
    const auto found = std::find_if(pairs.begin(), pairs.end(),
                                    [&](const Pair& pair) { return pair.from == letter.bytes; });
    const bool known = !for_latex || in_latex(letter.point);
    out += found != pairs.end() ? found->to : known ? letter.bytes : "?";
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, {}); }
std::string markup(std::string_view text) { return escaped(text, kMarkup); }
std::string markdown_cell(std::string_view text) { return escaped(text, kMarkdown); }
std::string latex_text(std::string_view text) { return escaped(text, kLatex, true); }

std::string csv_field(std::string_view text) {
  std::string field = printable(text);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  return '"' + replaced(field, "\"", "\"\"") + '"';
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += width_of(take_printable(text));
  return columns;
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return printable(text);
  std::string out;
  if (columns == 0) return out;
  std::size_t used = 1;  // the ellipsis
  while (!text.empty()) {
    const Letter letter = take_printable(text);
    used += width_of(letter);
    if (used > columns) break;
    out += letter.bytes;
  }
  return out + "…";
}

std::string in_ascii(std::string text) {
  for (const auto& [from, to] : kAscii) text = replaced(std::move(text), from, to);
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = shorten(text.substr(start, end - start), columns);
    const std::size_t taken = display_width(lines.back());
    if (taken > 0 && taken + 1 + display_width(word) > columns) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += replaced(word, "\u00A0", " ");
    start = end + 1;
  }
  return lines;
}

}  // namespace plackett::report
