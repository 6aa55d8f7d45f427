// Tables and the scorecard for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::display_width;
using report::Table;
using report::Verdict;

constexpr std::size_t kGap = 3;
constexpr std::size_t kLeastNames = 18;

// Writes escape sequences if asked for.
struct Pen {
  bool ansi = false;
  [[nodiscard]] std::string with(const char* code, const std::string& text) const {
    return ansi ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  [[nodiscard]] std::string bold(const std::string& text) const { return with("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return with("2", text); }
  [[nodiscard]] std::string mark(Verdict verdict) const {
    const char* const text = report::mark(verdict);
    if (verdict == Verdict::kUntested) return text;
    return with(is_better(verdict) ? "32" : is_worse(verdict) ? "31" : "2", text);
  }
};

// A column with mean, deviation and marks each aligned, so that the decimal points stand below each
// other however many digits the deviations have.
class Column {
 public:
  Column(const Table& table, std::size_t at) {
    for (const auto& section : table.sections) {
      for (const auto& row : section.rows) {
        if (!row.cells[at]) continue;
        mean_ = std::max(mean_, display_width(row.cells[at]->mean + row.cells[at]->sign));
        std_ = std::max(std_, display_width(deviation(*row.cells[at])));
        marks_ = std::max(marks_, row.cells[at]->against.size());
      }
    }
    // A title may widen the numbers up to 15 columns.
    const std::string& title = table.columns[at].title;
    const std::size_t wanted = std::min<std::size_t>(display_width(title), 15);
    mean_ += numbers() < wanted ? wanted - numbers() : 0;
    title_ = report::left(report::right(report::shorten(title, numbers()), numbers()), width());
  }

  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] std::size_t width() const { return numbers() + (marks_ > 0 ? 1 + marks_ : 0); }
  [[nodiscard]] std::string text(const std::optional<report::Cell>& cell, const Pen& pen) const {
    if (!cell) return std::string(width(), ' ');
    std::string out = std::string(mean_ - display_width(cell->mean + cell->sign), ' ') +
                      (cell->bold ? pen.bold(cell->mean) : cell->mean) + cell->sign +
                      (cell->bold && !pen.ansi ? "*" : " ");
    if (std_ > 0) out += ' ' + report::right(deviation(*cell), std_);
    if (marks_ > 0) out += ' ';
    for (const report::Against& one : cell->against) out += pen.mark(one.verdict);
    return out + std::string(marks_ - cell->against.size(), ' ');
  }

 private:
  static std::string deviation(const report::Cell& cell) {
    return cell.std.empty() ? "" : "(" + cell.std + ")";
  }
  // The mean, its "*", a space and the deviation.
  [[nodiscard]] std::size_t numbers() const { return mean_ + 1 + (std_ > 0 ? 1 + std_ : 0); }

  std::size_t mean_ = 0;
  std::size_t std_ = 0;
  std::size_t marks_ = 0;
  std::string title_;
};

// Appends the table; columns that do not fit side by side go below. Returns its width.
std::size_t append_table(std::string& out, const Table& table, const TableStyle& style) {
  const Pen pen{style.ansi};
  const auto line = [&out](std::string text) {
    while (text.ends_with(' ')) text.pop_back();
    out += text + '\n';
  };
  std::size_t wanted = kLeastNames;
  for (const auto& section : table.sections) {
    for (const auto& row : section.rows) wanted = std::max(wanted, 2 + display_width(row.name));
  }
  const std::size_t least_names = std::min<std::size_t>(wanted, 24);
  std::vector<Column> columns;
  for (std::size_t at = 0; at < table.columns.size(); ++at) columns.emplace_back(table, at);
  std::size_t widest = 0;
  for (std::size_t first = 0, end = 0; first < columns.size(); first = end) {
    std::size_t numbers = 0;
    while (end < columns.size()) {
      std::size_t next = end;
      std::size_t taken = 0;
      do taken += kGap + columns[next++].width();
      while (next < columns.size() && table.columns[next].joined);
      if (end > first && least_names + numbers + taken > style.width) break;
      numbers += taken;
      end = next;
    }
    const std::size_t names =
        std::min(wanted, style.width > numbers + kLeastNames ? style.width - numbers : kLeastNames);
    widest = std::max(widest, names + numbers);
    const std::string rule = pen.dim(fmt::format("{:─<{}}", "", names + numbers));
    const auto joined = [&](const std::string& name, auto text) {
      std::string out_line = report::left(name, names);
      for (std::size_t at = first; at < end; ++at) out_line += std::string(kGap, ' ') + text(at);
      return out_line;
    };
    line("");
    line(pen.dim(joined(report::shorten(table.title, names),
                        [&](std::size_t at) { return columns[at].title(); })));
    for (const auto& section : table.sections) {
      line(rule);
      line(pen.bold(report::shorten(section.title, names + numbers)));
      for (const auto& row : section.rows) {
        line(joined("  " + report::shorten(row.name, names - 2),
                    [&](std::size_t at) { return columns[at].text(row.cells[at], pen); }));
      }
    }
    line(rule);
  }
  return widest;
}

void append_note(std::string& out, const std::string& text, std::size_t width, const Pen& pen) {
  for (const std::string& part : report::wrapped(text, width)) out += pen.dim(part) + '\n';
}

// "1 DBGD (linear), 2 MGD": lines break between baselines only.
std::string unbroken(const std::string& list) {
  std::string out;
  for (const char letter : list) {
    out += letter == ' ' && !out.ends_with(',') ? std::string("\u00A0") : std::string(1, letter);
  }
  return out;
}

}  // namespace

std::string terminal_table(const Comparison& comparison, const TableStyle& style) {
  const report::Arrangement arrangement(comparison, style.test);
  if (arrangement.blocks.empty()) return "No runs to show.\n";
  const Pen pen{style.ansi};
  std::string out;
  if (!comparison.title.empty()) {
    out += pen.bold(report::shorten(comparison.title, style.width)) + '\n';
  }
  append_note(out, arrangement.facts.line, style.width, pen);
  std::size_t width = style.width;
  for (const Table& table : results_tables(arrangement)) {
    width = std::max(width, append_table(out, table, style));
  }
  std::string legend = "mean (standard deviation) over runs";
  if (arrangement.any_best) {
    legend += fmt::format("; {} best {}", style.ansi ? "bold:" : "*", arrangement.best_of_what());
  }
  append_note(out, legend, width, pen);
  if (!arrangement.baselines.empty()) {
    append_note(out,
                fmt::format("▲ better, ▼ worse (p < 0.01), △ ▽ (p < 0.05), · neither; {}, "
                            "two-tailed, against {}",
                            arrangement.test_name, unbroken(arrangement.baseline_list())),
                width, pen);
  }
  return style.ascii ? report::in_ascii(std::move(out)) : out;
}

std::string terminal_scorecard(const Comparison& comparison, const TableStyle& style) {
  const report::Scorecard card = report::make_scorecard(comparison);
  if (card.lines.empty()) return "";
  const Pen pen{style.ansi};
  std::string out = pen.bold("Beside the paper (CIKM 2018)") + '\n';
  append_table(out, scorecard_table(card), style);
  if (card.coarse) append_note(out, report::kCoarse, style.width, pen);
  append_note(out, agreement(card), style.width, Pen{});
  append_note(out, protocol_remark(card), style.width, pen);
  return style.ascii ? report::in_ascii(std::move(out)) : out;
}

}  // namespace plackett
