#include "standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/text.h"

namespace plackett::command {
namespace {

constexpr std::size_t kLeastName = 12;
constexpr std::size_t kLeastColumn = 5;  // "0.708"
constexpr std::size_t kGap = 2;
constexpr const char* kNothing = "-";

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, report::display_width(text)), ' ');
}

}  // namespace

Standing::Standing(Names names)
    : names_(std::move(names)), sums_(names_.methods.size() * names_.click_models.size()) {
  names_.title = report::printable(names_.title);
  for (std::string& name : names_.methods) name = report::printable(name);
  for (std::string& name : names_.click_models) name = report::printable(name);
}

void Standing::add(std::size_t method, std::size_t click_model, double offline) {
  Sum& sum = sums_[method * names_.click_models.size() + click_model];
  sum.total += offline;
  ++sum.count;
}

std::string Standing::value(std::size_t method, std::size_t click_model) const {
  const Sum& one = sum(method, click_model);
  return one.count == 0 ? kNothing
                        : fmt::format("{:.3f}", one.total / static_cast<double>(one.count));
}

std::vector<std::string> Standing::lines(const TerminalSize& room) const {
  if (names_.methods.empty() || room.rows < 2) return {};
  std::size_t name_columns = report::display_width(names_.title);
  for (const std::string& name : names_.methods) {
    name_columns = std::max(name_columns, report::display_width(name));
  }
  std::size_t wanted = 0;
  for (const std::string& name : names_.click_models) {
    wanted += kGap + std::max(kLeastColumn, report::display_width(name));
  }
  const std::size_t left = room.columns - std::min(room.columns, wanted);
  name_columns = std::min(name_columns, std::max(kLeastName, left));
  if (name_columns > room.columns) return {};

  const std::size_t methods = std::min(names_.methods.size(), room.rows - 1);
  std::vector<std::string> lines{padded(report::shorten(names_.title, name_columns), name_columns)};
  for (std::size_t method = 0; method < methods; ++method) {
    lines.push_back(padded(report::shorten(names_.methods[method], name_columns), name_columns));
  }
  std::size_t used = name_columns;
  for (std::size_t column = 0; column < names_.click_models.size(); ++column) {
    const std::string& title = names_.click_models[column];
    const std::size_t columns = std::max(kLeastColumn, report::display_width(title));
    used += kGap + columns;
    if (used > room.columns) break;
    std::string best;
    for (std::size_t method = 0; method < names_.methods.size(); ++method) {
      if (sum(method, column).count > 0) best = std::max(best, value(method, column));
    }
    lines[0] += std::string(kGap, ' ') + padded(title, columns);
    for (std::size_t method = 0; method < methods; ++method) {
      const std::string text = value(method, column);
      const bool bold = text == best && names_.methods.size() > 1;
      lines[method + 1] += std::string(kGap, ' ') + (bold ? "\x1b[1m" : "") +
                           padded(text, columns) + (bold ? "\x1b[0m" : "");
    }
  }
  return lines;
}

}  // namespace plackett::command
