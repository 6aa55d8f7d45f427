// Text from outside (names of methods, datasets, titles) made safe for where it is shown. Every
// function here takes any bytes at all: what is not valid UTF-8, and every control character,
// comes out as U+FFFD, and tabs and line breaks as a space, so that a name can neither break a
// document nor send an escape sequence to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plackett::report {

// Valid UTF-8 on one line without control characters, for a terminal.
std::string printable(std::string_view text);

// For XML and HTML, both as content and inside a quoted attribute.
std::string markup(std::string_view text);

// For a cell of a Markdown table.
std::string markdown_cell(std::string_view text);

// For LaTeX's running text. What plain pdflatex has no letter for comes out as "?".
std::string latex_text(std::string_view text);

// A string of a PDF in WinAnsiEncoding, with its parentheses; "?" for what that doesn't have.
std::string pdf_string(std::string_view text);

// A field of a CSV line (RFC 4180), quoted where it must be.
std::string csv_field(std::string_view text);

// A JSON string with its quotes that can also stand inside a <script> element.
std::string json_string(std::string_view text);

// How many columns of a terminal the text takes: 2 for wide East Asian characters and emoji, 0
// for combining marks.
std::size_t display_width(std::string_view text);

// The text cut to at most `columns` columns, with "…" as the last where something was cut.
std::string shorten(std::string_view text, std::size_t columns);

// With our own marks, rules and dashes as one ASCII character each, for a terminal without UTF-8;
// letters of names stay as they are.
std::string in_ascii(std::string text);

// Printable lines of at most `columns` columns, broken at spaces (not at U+00A0, which becomes a
// space); a word that is too long is cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace plackett::report
