// Text from outside (names of methods, datasets, titles) made safe for where it is shown. Every
// function takes any bytes: ill-formed UTF-8 and control characters become U+FFFD, tabs and line
// breaks a space, so that a name can neither break a document nor send an escape sequence to a
// terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plackett::report {

// Valid UTF-8 on one line without control characters, for a terminal.
std::string printable(std::string_view text);

// For XML and HTML, as content and inside a quoted attribute.
std::string markup(std::string_view text);

// For a cell of a Markdown table.
std::string markdown_cell(std::string_view text);

// For LaTeX's running text, the marks of tables included. A character that plain pdflatex does not
// know becomes "?".
std::string latex_text(std::string_view text);

// A field of a CSV line (RFC 4180), quoted if necessary.
std::string csv_field(std::string_view text);

// How many terminal columns the text takes: 2 for wide East Asian characters and emoji, 0 for
// combining marks.
std::size_t display_width(std::string_view text);

// The text cut to at most `columns` columns; "…" is the last one if something was cut.
std::string shorten(std::string_view text, std::size_t columns);

// With every `from` replaced by `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to);

// With a capital as its first letter, if that is an ASCII letter.
std::string capitalised(std::string text);

// Replaces our own marks, rules and dashes by one ASCII character each, for terminals without
// UTF-8; letters of names stay as they are.
std::string in_ascii(std::string text);

// Printable lines of at most `columns` columns, broken at spaces (not at U+00A0, which becomes a
// space); a word that is too long is cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace plackett::report
