// Tables and the scorecard for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/drift.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett::report {
namespace {

constexpr std::size_t kGap = 3;
constexpr std::size_t kLeastNames = 18;

// What fills the text up to `columns` columns.
std::string spaces(std::string_view text, std::size_t columns) {
  return std::string(columns - std::min(columns, display_width(text)), ' ');
}

// Writes escape sequences if asked for.
struct Pen {
  bool ansi = false;
  [[nodiscard]] std::string with(const char* code, const std::string& text) const {
    return ansi ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  [[nodiscard]] std::string bold(const std::string& text) const { return with("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return with("2", text); }
  [[nodiscard]] std::string mark(const std::string& mark) const {
    if (mark == " ") return mark;
    return with(mark == "·" ? "2" : mark == "▲" || mark == "△" ? "32" : "31", mark);
  }
};

// A column as text, every cell as wide as the title. Mean, deviation and marks are each aligned, so
// that the decimal points stand below each other however many digits the deviations have.
struct Column {
  Column(const Table& table, std::size_t at, const Pen& pen) {
    std::size_t mean = 0, std = 0, marks = 0;
    for (const TableRow* row : table.rows()) {
      const Cell& cell = row->cells[at];
      mean = std::max(mean, display_width(cell.mean + cell.sign));
      std = std::max(std, display_width(cell.deviation()));
      marks = std::max(marks, cell.tests.size());
    }
    // The mean, its "*", a space and the deviation; the title may widen them up to 15 columns.
    const std::string& name = table.columns[at];
    const std::size_t fixed = 1 + (std > 0 ? 1 + std : 0);
    const std::size_t numbers =
        std::max(mean + fixed, std::min<std::size_t>(display_width(name), 15));
    mean = numbers - fixed;
    width = numbers + (marks > 0 ? 1 + marks : 0);
    title = shorten(name, numbers);
    title = spaces(title, numbers) + title + std::string(width - numbers, ' ');
    for (const TableRow* row : table.rows()) {
      const Cell& cell = row->cells[at];
      std::string& out = cells.emplace_back(spaces(cell.mean + cell.sign, mean));
      out += (cell.bold ? pen.bold(cell.mean) : cell.mean) + cell.sign;
      out += cell.bold && !pen.ansi ? '*' : ' ';
      if (std > 0) out += ' ' + spaces(cell.deviation(), std) + cell.deviation();
      if (marks > 0) out += ' ';
      for (const TTest& test : cell.tests) out += pen.mark(mark(test));
      out += std::string(marks - cell.tests.size(), ' ');
    }
  }

  std::string title;
  std::vector<std::string> cells;  // one per row of all sections
  std::size_t width = 0;
};

// The settings of each row as one text, all as wide as the titles in front of them.
struct SettingColumns {
  explicit SettingColumns(const Table& table) : rows(table.rows().size()) {
    for (std::size_t at = 0; at < table.settings.size(); ++at) {
      std::size_t wide = display_width(table.settings[at]);
      for (const TableRow* row : table.rows())
        wide = std::max(wide, display_width(row->settings[at]));
      const auto add = [wide](const std::string& text, std::string& to) {
        to += std::string(kGap, ' ') + spaces(text, wide) + printable(text);
      };
      add(table.settings[at], title);
      for (std::size_t row = 0; row < rows.size(); ++row)
        add(table.rows()[row]->settings[at], rows[row]);
      width += kGap + wide;
    }
  }

  std::string title;
  std::vector<std::string> rows;  // of all sections
  std::size_t width = 0;
};

// Appends the table; columns that do not fit side by side go below. Settings are shown if they fit
// beside all of them, or, if the table needs them, beside each.
void append_table(std::string& out, const Table& table, const TableStyle& style,
                  bool needs_settings = false) {
  const Pen pen{style.ansi};
  const auto line = [&out](std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  std::size_t wanted = kLeastNames;
  for (const TableRow* row : table.rows()) wanted = std::max(wanted, 2 + display_width(row->title));
  const std::size_t least_names = std::min<std::size_t>(wanted, 24);
  std::vector<Column> columns;
  std::size_t all_columns = 0, widest = 0;
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    const std::size_t taken = kGap + columns.emplace_back(table, at, pen).width;
    all_columns += taken;
    widest = std::max(widest, taken);
  }
  const SettingColumns settings(table);
  const bool with_settings = needs_settings ? kLeastNames + settings.width + widest <= style.width
                                            : wanted + settings.width + all_columns <= style.width;
  const std::size_t beside = with_settings ? settings.width : 0;  // each name
  for (std::size_t first = 0, end = 0; first < columns.size(); first = end) {
    std::size_t numbers = beside;
    while (end < columns.size()) {
      std::size_t next = end;
      std::size_t taken = 0;
      do taken += kGap + columns[next++].width;
      while (next < columns.size() && (next - 1) % table.group != 0);
      if (end > first && least_names + numbers + taken > style.width) break;
      numbers += taken;
      end = next;
    }
    const std::size_t names =
        std::min(wanted, style.width > numbers + kLeastNames ? style.width - numbers : kLeastNames);
    const std::string rule = pen.dim(fmt::format("{:─<{}}", "", names + numbers));
    const auto joined = [&](const std::string& name, const std::string& values, auto text) {
      std::string out_line = name + spaces(name, names);
      if (with_settings) out_line += values;
      for (std::size_t at = first; at < end; ++at) {
        out_line += std::string(kGap, ' ') + text(columns[at]);
      }
      return out_line;
    };
    line("");
    line(pen.dim(joined(shorten(table.title, names), settings.title,
                        [](const Column& column) { return column.title; })));
    std::size_t place = 0;
    for (const TableSection& section : table.sections) {
      line(rule);
      line(pen.bold(shorten(section.title, names + numbers)));
      for (const TableRow& row : section.rows) {
        line(joined("  " + shorten(row.title, names - 2), settings.rows[place],
                    [&](const Column& column) { return column.cells[place]; }));
        ++place;
      }
    }
    line(rule);
  }
}

void append_note(std::string& out, const std::string& text, std::size_t width, const Pen& pen) {
  for (const std::string& part : wrapped(text, width)) out += pen.dim(part) + '\n';
}

}  // namespace

std::string terminal_table(const Comparison& comparison, const TableStyle& style) {
  const Arrangement arrangement(comparison);
  if (arrangement.blocks.empty()) return "No runs to show.\n";
  const Pen pen{style.ansi};
  std::string out;
  if (!comparison.title.empty()) out += pen.bold(shorten(comparison.title, style.width)) + '\n';
  append_note(out, arrangement.facts.line, style.width, pen);
  for (const Table& table : results_tables(arrangement)) {
    append_table(out, table, style, !arrangement.selection.empty());
  }
  std::string legend = "mean (standard deviation) over runs";
  if (arrangement.any_best) {
    legend += fmt::format("; {} best {}", style.ansi ? "bold:" : "*", arrangement.best_of_what);
  }
  append_note(out, legend, style.width, pen);
  if (!arrangement.selection.empty()) append_note(out, arrangement.selection, style.width, pen);
  if (!arrangement.baselines.empty()) append_note(out, arrangement.key(), style.width, pen);
  for (const Table& table : drift_tables(arrangement)) {
    append_table(out, table, style);
    append_note(out, table.about, style.width, pen);
  }
  return style.ascii ? in_ascii(std::move(out)) : out;
}

std::string terminal_scorecard(const Comparison& comparison, const TableStyle& style) {
  const Scorecard card = make_scorecard(comparison);
  if (card.scores.empty()) return "";
  const Pen pen{style.ansi};
  std::string out = pen.bold("Beside the paper (CIKM 2018)") + '\n';
  append_table(out, scorecard_table(card), style);
  if (!card.note.empty()) append_note(out, card.note, style.width, pen);
  append_note(out, card.agreement, style.width, Pen{});
  append_note(out, card.remark, style.width, pen);
  return style.ascii ? in_ascii(std::move(out)) : out;
}

}  // namespace plackett::report
