#include "terminal_text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "report/text.h"

namespace plackett::command {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastName = 11;

// Whether the locale says UTF-8, or says nothing.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return true;
}

// The width of each column that is shown; empty if not even the first fits.
std::vector<std::size_t> fit_columns(const std::vector<std::vector<TableCell>>& rows,
                                     const TableFit& fit) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t at = 0; at < widths.size(); ++at) {
      widths[at] = std::max(widths[at], report::display_width(report::printable(row[at].text)));
    }
  }
  const auto taken = [&widths] {
    std::size_t sum = 0;
    for (const std::size_t width : widths) sum += kGap + width;
    return sum - std::min(sum, kGap);
  };
  for (std::size_t at = 0; at < fit.names && taken() > fit.size.columns; ++at) {
    const std::size_t excess = taken() - fit.size.columns;
    widths[at] -= std::min(excess, widths[at] - std::min(widths[at], kLeastName));
  }
  while (!widths.empty() && taken() > fit.size.columns) widths.pop_back();
  return widths;
}

}  // namespace

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  TerminalSize result;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return result;
  if (size.ws_col > 0) result.columns = size.ws_col;
  if (size.ws_row > 0) result.rows = size.ws_row;
  return result;
}

OutputStyle standard_output() {
  if (::isatty(STDOUT_FILENO) != 1) return {};
  return {.terminal = true,
          .columns = terminal_size(STDOUT_FILENO).columns,
          .ascii = !locale_is_utf8()};
}

std::vector<std::string> table_lines(const std::vector<std::vector<TableCell>>& rows,
                                     const TableFit& fit) {
  if (rows.size() < 2 || fit.size.rows < 2) return {};
  const std::vector<std::size_t> widths = fit_columns(rows, fit);
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < std::min(rows.size(), fit.size.rows); ++row) {
    std::string line;
    for (std::size_t at = 0; at < widths.size(); ++at) {
      const TableCell& cell = rows[row][at];
      const std::string text = report::shorten(report::printable(cell.text), widths[at]);
      const std::string space(widths[at] - report::display_width(text), ' ');
      if (at > 0) line += std::string(kGap, ' ');
      if (at >= fit.names) line += space;
      line += cell.bold ? "\x1b[1m" + text + "\x1b[0m" : text;
      if (at < fit.names) line += space;
    }
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

void print_table(const std::vector<std::vector<TableCell>>& rows, std::size_t columns) {
  const bool ascii = standard_output().ascii;
  for (const std::string& line : table_lines(rows, {{columns, rows.size()}, 2})) {
    fmt::print("{}\n", ascii ? report::in_ascii(line) : line);
  }
}

}  // namespace plackett::command
