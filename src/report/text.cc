#include "report/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <span>

namespace plackett::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Takes one code point off the front, with what must not reach any document already replaced. An
// ill-formed byte is taken alone.
char32_t take_printable(std::string_view& rest) {
  utf8proc_int32_t code = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                       static_cast<utf8proc_ssize_t>(rest.size()), &code);
  rest.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
  const auto point = length > 0 ? static_cast<char32_t>(code) : kReplacement;
  if (point == '\t' || point == '\n' || point == '\r') return ' ';
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool line_break = point == 0x2028 || point == 0x2029;
  const bool noncharacter = (point & 0xFFFEU) == 0xFFFEU;
  return control || line_break || noncharacter ? kReplacement : point;
}

void append_utf8(std::string& out, char32_t point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::size_t width_of(char32_t point) {
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(point)));
}

// Pairs of a character and what stands for it.
constexpr std::array<std::string_view, 10> kMarkup{"&",    "&amp;", "<",      "&lt;", ">",
                                                   "&gt;", "\"",    "&quot;", "'",    "&#39;"};
// "$" is set in mathematics, where no further font is needed; "-{}" forms no ligatures.
constexpr std::array<std::string_view, 38> kLatex{
    "\\", "$\\backslash$", "{",  "\\{",       "}", "\\}", "$",      "$\\$$",
    "&",  "\\&",           "#",  "\\#",       "%", "\\%", "_",      "\\_",
    "^",  "\\^{}",         "~",  "\\~{}",     "<", "$<$", ">",      "$>$",
    "|",  "$|$",           "\"", "''",        "-", "-{}", "\u00A0", "~",
    "·",  "$\\cdot$",      "×",  "$\\times$", "–", "--"};

// The printable text with the first of each pair replaced by the second.
std::string escaped(std::string_view text, std::span<const std::string_view> pairs) {
  std::string out;
  while (!text.empty()) {
    std::string letter;
    append_utf8(letter, take_printable(text));
    std::size_t at = 0;
    while (at < pairs.size() && pairs[at] != letter) at += 2;
    out += at < pairs.size() ? pairs[at + 1] : letter;
  }
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// Whether the oldest of LaTeX's encodings has or can build the letter.
bool in_latex(char32_t point) {
  return point < 0x80 || (point >= 0xC0 && point <= 0xFF && point != 0xD0 && point != 0xDE &&
                          point != 0xF0 && point != 0xF7 && point != 0xFE);
}

// Our own characters, and what stands for each without UTF-8.
constexpr std::string_view kOwn = "▲△▼▽·─×–…≥†\uFFFD";
constexpr std::string_view kAscii = "A^Vv.-x-~>!?";

}  // namespace

std::string printable(std::string_view text) { return escaped(text, {}); }

std::string markup(std::string_view text) { return escaped(text, kMarkup); }

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char letter : printable(text)) {
    if (std::string_view("\\|*_`[]#~$").find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return escaped(out, std::span(kMarkup).first(6));
}

std::string latex_text(std::string_view text) {
  std::string known;
  while (!text.empty()) {
    std::string letter;
    const char32_t point = take_printable(text);
    append_utf8(letter, point);
    const bool special = std::find(kLatex.begin(), kLatex.end(), letter) != kLatex.end();
    known += special || in_latex(point) ? letter : "?";
  }
  return escaped(known, kLatex);
}

std::string csv_field(std::string_view text) {
  std::string field = printable(text);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  replace_all(field, "\"", "\"\"");
  return '"' + field + '"';
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
    const char32_t point = take_printable(text);
    used += width_of(point);
    if (used > columns) break;
    append_utf8(out, point);
  }
  return out + "…";
}

std::string left(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(text) + std::string(columns > width ? columns - width : 0, ' ');
}

std::string right(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(columns > width ? columns - width : 0, ' ') + std::string(text);
}

std::string in_ascii(std::string text) {
  std::string_view rest = kOwn;
  for (const char plain : kAscii) {
    std::string own;
    append_utf8(own, take_printable(rest));
    replace_all(text, own, std::string_view(&plain, 1));
  }
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    std::string word = shorten(text.substr(start, end - start), columns);
    const std::size_t taken = display_width(lines.back());
    if (taken > 0 && taken + 1 + display_width(word) > columns) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    replace_all(word, "\u00A0", " ");
    lines.back() += word;
    start = end + 1;
  }
  return lines;
}

}  // namespace plackett::report
