#include "report/table_notes.h"

#include <fmt/format.h>

namespace plackett::report {

std::string facts_line(const Comparison& comparison) {
  const Facts known = facts(comparison);
  return fmt::format("{} · {} protocol · {} × {} impressions", known.datasets, known.protocols,
                     runs_text(known), known.impressions);
}

const char* best_of_what(const Arrangement& arrangement) {
  return arrangement.datasets.size() > 1 ? "of its dataset and click model" : "of its click model";
}

std::string baseline_list(const Significance& significance) {
  const std::vector<std::string>& names = significance.baselines();
  if (names.size() == 1) return names.front();
  std::string out;
  for (std::size_t at = 0; at < names.size(); ++at) {
    out += fmt::format("{}{} {}", at == 0 ? "" : ", ", at + 1, names[at]);
  }
  return out;
}

}  // namespace plackett::report
