// Tables for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/numbers.h"
#include "report/table.h"
#include "report/table_notes.h"
#include "report/table_plan.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Arrangement;
using report::Row;
using report::Significance;
using report::TablePlan;
using report::Verdict;

constexpr std::size_t kGap = 3;
constexpr std::size_t kLeastNames = 18;

std::string spaces(std::size_t columns) { return std::string(columns, ' '); }

std::string left(std::string_view text, std::size_t columns) {
  const std::size_t width = report::display_width(text);
  return std::string(text) + spaces(columns > width ? columns - width : 0);
}

std::string right(std::string_view text, std::size_t columns) {
  const std::size_t width = report::display_width(text);
  return spaces(columns > width ? columns - width : 0) + std::string(text);
}

struct Pen {
  bool ansi = false;
  [[nodiscard]] std::string with(const char* code, const std::string& text) const {
    return ansi ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  [[nodiscard]] std::string bold(const std::string& text) const { return with("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return with("2", text); }
};

// A mean, its deviation and its marks, each aligned in a column of its own, so that the decimal
// points stand under each other however many digits the deviations have.
class Column {
 public:
  Column(const TablePlan& plan, std::size_t at, const Significance& significance)
      : significance_(&significance), measure_(plan.columns[at].measure) {
    bool any_marks = false;
    for (const auto& section : plan.sections) {
      for (const auto& line : section.lines) {
        const Row* const row = line.cells[at];
        if (row == nullptr) continue;
        mean_width_ = std::max(mean_width_, report::display_width(mean(*row)));
        std_width_ = std::max(std_width_, report::display_width(deviation(*row)));
        any_marks = any_marks || !row->cell->baseline;
      }
    }
    if (any_marks) marks_width_ = significance.baselines().size();
    // The longest a title may be without widening the table, and what most of them need.
    const std::size_t wanted =
        std::min<std::size_t>(report::display_width(plan.columns[at].title), 15);
    if (numbers_width() < wanted) mean_width_ += wanted - numbers_width();
    title_ = report::shorten(plan.columns[at].title, numbers_width());
  }

  // Mean, its mark, a space, deviation; then a space and a mark a baseline.
  [[nodiscard]] std::size_t width() const {
    return numbers_width() + (marks_width_ > 0 ? 1 + marks_width_ : 0);
  }
  [[nodiscard]] std::string title() const { return left(right(title_, numbers_width()), width()); }
  [[nodiscard]] std::string cell(const Row* row, const Pen& pen) const {
    if (row == nullptr) return spaces(width());
    const bool best = row->best(*measure_);
    const std::string number = mean(*row);
    std::string out = spaces(mean_width_ - report::display_width(number)) +
                      (best ? pen.bold(number) : number) + (best && !pen.ansi ? '*' : ' ') + ' ' +
                      right(deviation(*row), std_width_);
    if (marks_width_ == 0) return out;
    out += ' ';
    const auto against = significance_->of(*row->cell, *measure_);
    for (const report::Against& one : against) out += painted(one.verdict, pen);
    return out + spaces(marks_width_ - against.size());
  }

 private:
  [[nodiscard]] std::size_t numbers_width() const { return mean_width_ + 1 + 1 + std_width_; }
  [[nodiscard]] std::string mean(const Row& row) const {
    return report::fixed((row.cell->*measure_->final).mean, measure_->digits);
  }
  [[nodiscard]] std::string deviation(const Row& row) const {
    const Moments value = report::shown(*row.cell, *measure_);
    if (!std::isfinite(value.mean)) return "";
    return fmt::format("({})", report::fixed(value.std, measure_->digits));
  }
  static std::string painted(Verdict verdict, const Pen& pen) {
    std::string text = report::mark(verdict);
    switch (verdict) {
      case Verdict::kBetter:
      case Verdict::kMuchBetter:
        return pen.with("32", text);
      case Verdict::kWorse:
      case Verdict::kMuchWorse:
        return pen.with("31", text);
      case Verdict::kNoDifference:
        return pen.dim(text);
      default:
        return text;
    }
  }

  const Significance* significance_;
  const report::Measure* measure_;
  std::size_t mean_width_ = 0;
  std::size_t std_width_ = 0;
  std::size_t marks_width_ = 0;
  std::string title_;
};

std::size_t longest_name(const Arrangement& arrangement, const TablePlan& plan) {
  std::size_t names = kLeastNames;
  for (const auto& section : plan.sections) {
    for (const auto& line : section.lines) {
      names = std::max(names, 2 + report::display_width(arrangement.series[line.series].label));
    }
  }
  return names;
}

// Columns `first` up to `last` of a plan.
struct Slice {
  std::size_t first = 0;
  std::size_t last = 0;
};

// As many columns beside each other as fit, but at least one.
std::vector<Slice> slices(const std::vector<Column>& columns, std::size_t room) {
  std::vector<Slice> out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const std::size_t taken = kGap + columns[at].width();
    if (out.empty() || used + taken > room) {
      out.push_back({at, at});
      used = 0;
    }
    out.back().last = at + 1;
    used += taken;
  }
  return out;
}

// Returns the table's width.
std::size_t append_plan(std::string& out, const Arrangement& arrangement, const TablePlan& plan,
                        const Significance& significance, const TableStyle& style) {
  const Pen pen{style.ansi};
  std::vector<Column> columns;
  for (std::size_t at = 0; at < plan.columns.size(); ++at) {
    columns.emplace_back(plan, at, significance);
  }
  const auto line = [&out](std::string text) {
    while (text.ends_with(' ')) text.pop_back();
    out += text + '\n';
  };
  const std::size_t wanted = longest_name(arrangement, plan);
  const std::size_t most_names = std::min<std::size_t>(wanted, 24);
  std::size_t widest = 0;
  for (const Slice& slice :
       slices(columns, style.width > most_names ? style.width - most_names : 0)) {
    std::size_t numbers = 0;
    for (std::size_t at = slice.first; at < slice.last; ++at) {
      numbers += kGap + columns[at].width();
    }
    const std::size_t names =
        std::min(wanted, style.width > numbers + kLeastNames ? style.width - numbers : kLeastNames);
    const std::size_t width = names + numbers;
    widest = std::max(widest, width);
    std::string rule;
    for (std::size_t column = 0; column < width; ++column) rule += "─";

    line("");
    std::string head = left(report::shorten(plan.title, names), names);
    for (std::size_t at = slice.first; at < slice.last; ++at) {
      head += spaces(kGap) + columns[at].title();
    }
    line(pen.dim(head));
    for (const auto& section : plan.sections) {
      line(pen.dim(rule));
      line(pen.bold(report::shorten(section.title, width)));
      for (const auto& row : section.lines) {
        const std::string& label = arrangement.series[row.series].label;
        std::string text = left("  " + report::shorten(label, names - 2), names);
        for (std::size_t at = slice.first; at < slice.last; ++at) {
          text += spaces(kGap) + columns[at].cell(row.cells[at], pen);
        }
        line(text);
      }
    }
    line(pen.dim(rule));
  }
  return widest;
}

// "1 DBGD (linear), 2 MGD": lines break between baselines only.
std::string unbroken(std::string list) {
  for (std::size_t at = 0; (at = list.find(' ', at)) != std::string::npos;) {
    if (at > 0 && list[at - 1] == ',') {
      ++at;
    } else {
      list.replace(at, 1, "\u00A0");
    }
  }
  return list;
}

}  // namespace

std::string terminal_table(const Comparison& comparison, const TableStyle& style) {
  const Arrangement arrangement = report::arrange(comparison);
  if (arrangement.blocks.empty()) return "No runs to show.\n";
  const Significance significance(comparison, style.test);
  const Pen pen{style.ansi};
  std::string out;
  const auto line = [&out](const std::string& text) { out += text + '\n'; };
  if (!comparison.title.empty()) {
    line(pen.bold(report::shorten(comparison.title, style.width)));
  }
  for (const std::string& part : report::wrapped(report::facts_line(comparison), style.width)) {
    line(pen.dim(part));
  }

  std::size_t width = 0;
  for (const TablePlan& plan : report::plan_tables(arrangement)) {
    width = std::max(width, append_plan(out, arrangement, plan, significance, style));
  }
  bool any_best = false;
  for (const auto& block : arrangement.blocks) {
    for (const Row& row : block.rows) any_best = any_best || row.best_offline || row.best_online;
  }
  const auto note = [&](const std::string& text) {
    for (const std::string& part : report::wrapped(text, std::max(width, style.width))) {
      line(pen.dim(part));
    }
  };
  note(any_best ? fmt::format("mean (standard deviation) over runs; {} best {}",
                              style.ansi ? "bold:" : "*", report::best_of_what(arrangement))
                : "mean (standard deviation) over runs");
  if (!significance.baselines().empty()) {
    note(
        fmt::format("▲ better, ▼ worse (p < 0.01), △ ▽ (p < 0.05), · neither; {}, two-tailed, "
                    "against {}",
                    significance.test_name(), unbroken(report::baseline_list(significance))));
  }
  return style.ascii ? report::in_ascii(std::move(out)) : out;
}

}  // namespace plackett
