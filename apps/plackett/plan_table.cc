#include "plan_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/numbers.h"
#include "report/text.h"

namespace plackett::command {
namespace {

constexpr std::string_view kMethod = "method";
constexpr std::string_view kClickModel = "click model";
// "  LABEL CLICK-MODEL   runs impressions/s       a run": all but the names and the space that
// follows each.
constexpr std::size_t kIndent = 2;
constexpr std::size_t kRuns = 7;
constexpr std::size_t kRate = 13;
constexpr std::size_t kDuration = 11;  // "59 min 59 s"
constexpr std::size_t kNumbers = kRuns + 1 + kRate + 1 + kDuration;
// What is left of names where they must be cut: together they fit a terminal of 60 columns.
constexpr std::size_t kLeastLabels = 12;
constexpr std::size_t kLeastClickModels = 11;

std::string left(std::string_view text, std::size_t columns) {
  const std::string shown = report::shorten(text, columns);
  return shown + std::string(columns - report::display_width(shown), ' ');
}

std::string right(std::string_view text, std::size_t columns) {
  return std::string(columns - std::min(columns, report::display_width(text)), ' ') +
         std::string(text);
}

std::string numbers(std::string_view runs, std::string_view rate, std::string_view duration) {
  return right(runs, kRuns) + ' ' + right(rate, kRate) + ' ' + right(duration, kDuration);
}

}  // namespace

PlanTable::PlanTable(const std::vector<PlannedCell>& cells, std::size_t columns)
    : labels_(report::display_width(kMethod)), click_models_(report::display_width(kClickModel)) {
  for (const PlannedCell& cell : cells) {
    labels_ = std::max(labels_, report::display_width(cell.label));
    click_models_ = std::max(click_models_, report::display_width(cell.click_model));
  }
  // Labels give way first, then click models.
  const std::size_t taken = kIndent + 1 + 1 + kNumbers;
  const std::size_t room = columns > taken ? columns - taken : 0;
  const auto fit = [room](std::size_t wanted, std::size_t other, std::size_t least) {
    return std::min(wanted, std::max(least, room > other ? room - other : 0));
  };
  labels_ = fit(labels_, click_models_, kLeastLabels);
  click_models_ = fit(click_models_, labels_, kLeastClickModels);
}

std::string PlanTable::head() const {
  return fmt::format("{:{}}{} {} {}", "", kIndent, left(kMethod, labels_),
                     left(kClickModel, click_models_), numbers("runs", "impressions/s", "a run"));
}

std::string PlanTable::line(const PlannedCell& cell, double impressions, double run_seconds) const {
  return fmt::format("{:{}}{} {} {}", "", kIndent, left(cell.label, labels_),
                     left(cell.click_model, click_models_),
                     numbers(report::grouped(cell.runs), report::rate(impressions / run_seconds),
                             report::duration(run_seconds)));
}

}  // namespace plackett::command
