#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace plackett::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Takes one code point off the front. An ill-formed byte is taken alone, as U+FFFD.
char32_t take_code_point(std::string_view& rest) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(rest[at]); };
  const std::uint8_t lead = byte(0);
  std::size_t length = 1;
  char32_t point = lead;
  char32_t smallest = 0;
  if (lead >= 0x80) {
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2, point = lead & 0x1FU, smallest = 0x80;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3, point = lead & 0x0FU, smallest = 0x800;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4, point = lead & 0x07U, smallest = 0x10000;
    } else {
      rest.remove_prefix(1);
      return kReplacement;
    }
  }
  bool valid = rest.size() >= length;
  for (std::size_t at = 1; valid && at < length; ++at) {
    valid = (byte(at) & 0xC0U) == 0x80U;
    point = point << 6U | (byte(at) & 0x3FU);
  }
  valid = valid && point >= smallest && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
  rest.remove_prefix(valid ? length : 1);
  return valid ? point : kReplacement;
}

// As above, with what must not reach any document already replaced.
char32_t take_printable(std::string_view& rest) {
  const char32_t point = take_code_point(rest);
  if (point == '\t' || point == '\n' || point == '\r') return ' ';
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool line_break = point == 0x2028 || point == 0x2029;
  const bool noncharacter = (point & 0xFFFEU) == 0xFFFEU;
  return control || line_break || noncharacter ? kReplacement : point;
}

void append_utf8(std::string& out, char32_t point) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6), put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12), put(0x80 | (point >> 6 & 0x3F)), put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18), put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F)), put(0x80 | (point & 0x3F));
  }
}

// The printable text, with `escape(point)` in place of each code point for which it is not empty.
template <typename Escape>
std::string escaped(std::string_view text, Escape escape) {
  std::string out;
  out.reserve(text.size() + 8);
  while (!text.empty()) {
    const char32_t point = take_printable(text);
    const std::string_view instead = escape(point);
    if (instead.empty()) {
      append_utf8(out, point);
    } else {
      out += instead;
    }
  }
  return out;
}

std::string_view markup_escape(char32_t point) {
  switch (point) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

struct Range {
  char32_t first, last;
};
constexpr std::array<Range, 7> kNoWidth{{{0x300, 0x36F},
                                         {0x483, 0x489},
                                         {0x1AB0, 0x1AFF},
                                         {0x200B, 0x200F},
                                         {0x20D0, 0x20FF},
                                         {0xFE00, 0xFE0F},
                                         {0xFE20, 0xFE2F}}};
constexpr std::array<Range, 8> kWide{{{0x1100, 0x115F},
                                      {0x2E80, 0xA4CF},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};

std::size_t width_of(char32_t point) {
  const auto holds = [point](const Range& range) {
    return point >= range.first && point <= range.last;
  };
  if (std::any_of(kNoWidth.begin(), kNoWidth.end(), holds)) return 0;
  return std::any_of(kWide.begin(), kWide.end(), holds) ? 2 : 1;
}

// What Markdown may read as markup, and the same with a backslash before each.
constexpr std::string_view kSpecial = "\\|*_`[]#~$";
constexpr std::string_view kEscaped = "\\\\\\|\\*\\_\\`\\[\\]\\#\\~\\$";

struct Replacement {
  std::string_view from, to;
};
constexpr std::array<Replacement, 12> kAscii{{{"▲", "A"},
                                              {"△", "^"},
                                              {"▼", "V"},
                                              {"▽", "v"},
                                              {"·", "."},
                                              {"─", "-"},
                                              {"×", "x"},
                                              {"–", "-"},
                                              {"…", "~"},
                                              {"≥", ">"},
                                              {"†", "!"},
                                              {"\uFFFD", "?"}}};

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, [](char32_t) { return std::string_view(); });
}

std::string markup(std::string_view text) { return escaped(text, markup_escape); }

std::string markdown_cell(std::string_view text) {
  // Characters that Markdown may read as markup get a backslash; those of HTML, an entity.
  return escaped(text, [](char32_t point) -> std::string_view {
    const std::size_t at =
        point < 0x80 ? kSpecial.find(static_cast<char>(point)) : std::string_view::npos;
    if (at != std::string_view::npos) return kEscaped.substr(2 * at, 2);
    return point == '\'' || point == '"' ? std::string_view() : markup_escape(point);
  });
}

std::string latex_text(std::string_view text) {
  return escaped(text, [](char32_t point) -> std::string_view {
    switch (point) {
      case '\\':
        return "$\\backslash$";
      case '{':
        return "\\{";
      case '}':
        return "\\}";
      case '$':
        return "$\\$$";  // in mathematics, where no further font is needed
      case '&':
        return "\\&";
      case '#':
        return "\\#";
      case '%':
        return "\\%";
      case '_':
        return "\\_";
      case '^':
        return "\\^{}";
      case '~':
        return "\\~{}";
      case '<':
        return "$<$";
      case '>':
        return "$>$";
      case '|':
        return "$|$";
      case '"':
        return "''";
      case '-':
        return "-{}";  // no ligatures: "--" stays two
      case 0xA0:
        return "~";
      case 0xB7:
        return "$\\cdot$";
      case 0xD7:
        return "$\\times$";
      case 0x2013:
        return "--";
      default:
        break;
    }
    const bool plain_letter = point < 0x80;
    // Accented letters that the oldest of LaTeX's encodings can build.
    const bool accented = point >= 0xC0 && point <= 0xFF && point != 0xD0 && point != 0xDE &&
                          point != 0xF0 && point != 0xF7 && point != 0xFE;
    return plain_letter || accented ? std::string_view() : "?";
  });
}

std::string pdf_string(std::string_view text) {
  std::string out = "(";
  while (!text.empty()) {
    const char32_t point = take_printable(text);
    if (point == '(' || point == ')' || point == '\\') out += '\\';
    if (point < 0x80) {
      out += static_cast<char>(point);
    } else if (point >= 0xA0 && point <= 0xFF) {  // as in Latin-1
      out += fmt::format("\\{:03o}", static_cast<unsigned>(point));
    } else if (point == 0x2013) {
      out += "\\226";
    } else if (point == 0x2026) {
      out += "\\205";
    } else {
      out += '?';
    }
  }
  return out + ")";
}

std::string csv_field(std::string_view text) {
  std::string clean = printable(text);
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  return '"' +
         escaped(clean,
                 [](char32_t point) { return std::string_view(point == '"' ? "\"\"" : ""); }) +
         '"';
}

std::string json_string(std::string_view text) {
  // No "<" is ever written, so nothing in the text can end the script element or open a comment.
  return '"' +
         escaped(text,
                 [](char32_t point) -> std::string_view {
                   switch (point) {
                     case '"':
                       return "\\\"";
                     case '\\':
                       return "\\\\";
                     case '<':
                       return "\\u003c";
                     case '>':
                       return "\\u003e";
                     case '&':
                       return "\\u0026";
                     default:
                       return {};
                   }
                 }) +
         '"';
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

std::string in_ascii(std::string text) {
  for (const Replacement& one : kAscii) {
    for (std::size_t at = 0; (at = text.find(one.from, at)) != std::string::npos;) {
      text.replace(at, one.from.size(), one.to);
    }
  }
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
    lines.back() +=
        escaped(word, [](char32_t point) { return std::string_view(point == 0xA0 ? " " : ""); });
    start = end + 1;
  }
  return lines;
}

}  // namespace plackett::report
