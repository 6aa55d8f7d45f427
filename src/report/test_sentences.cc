#include "report/test_sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace plackett::report {
namespace {

void operator+=(TestCounts& total, const TestCounts& counts) {
  total.better += counts.better;
  total.worse += counts.worse;
  total.neither += counts.neither;
}

// "better than 1, worse than 3", "better than all 4 baselines".
std::string outcome(const TestCounts& counts, const char* relation, const char* things) {
  if (counts.all() == 1) {
    const char* const word = counts.better == 1  ? "better than"
                             : counts.worse == 1 ? "worse than"
                                                 : "not significantly different from";
    return fmt::format("{} the baseline", word);
  }
  if (counts.better == counts.all()) {
    return fmt::format("better {} all {} {}", relation, counts.all(), things);
  }
  if (counts.worse == counts.all()) {
    return fmt::format("worse {} all {} {}", relation, counts.all(), things);
  }
  std::vector<std::string> parts;
  if (counts.better > 0) parts.push_back(fmt::format("better {} {}", relation, counts.better));
  if (counts.worse > 0) parts.push_back(fmt::format("worse {} {}", relation, counts.worse));
  if (counts.neither > 0)
    parts.push_back(fmt::format("undecided {} {}",
                                std::string_view(relation) == "than" ? "against" : relation,
                                counts.neither));
  return fmt::format("{} of {} {}", fmt::join(parts, ", "), counts.all(), things);
}

// Both measures in one sentence, or in half of it where they say the same.
std::string both(const std::string& name, const std::string& offline, const std::string& online) {
  if (offline == online) return fmt::format("{} is {}, offline and online.", name, offline);
  return fmt::format("{}: offline {}; online {}.", name, offline, online);
}

}  // namespace

TestCounts count_tests(const std::vector<Against>& against) {
  TestCounts counts;
  for (const Against& one : against) {
    switch (one.verdict) {
      case Verdict::kBetter:
      case Verdict::kMuchBetter:
        ++counts.better;
        break;
      case Verdict::kWorse:
      case Verdict::kMuchWorse:
        ++counts.worse;
        break;
      case Verdict::kNoDifference:
        ++counts.neither;
        break;
      case Verdict::kUntested:
        break;
    }
  }
  return counts;
}

SeriesTests series_tests(const Arrangement& arrangement, std::size_t series,
                         const Significance& significance) {
  SeriesTests totals;
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      if (row.series != series) continue;
      totals.offline += count_tests(significance.of(*row.cell, kOffline));
      totals.online += count_tests(significance.of(*row.cell, kOnline));
    }
  }
  return totals;
}

std::string sweep_sentence(const Arrangement& arrangement, const Significance& significance) {
  const std::size_t baselines = significance.baselines().size();
  const std::size_t all = baselines * arrangement.blocks.size();
  if (all == 0) return "";
  // Those that win all tests of both measures, else of offline, else of online.
  std::array<std::vector<std::string>, 3> sweepers;
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    const SeriesTests tests = series_tests(arrangement, series, significance);
    const bool offline = tests.offline.better == all;
    const bool online = tests.online.better == all;
    if (!offline && !online) continue;
    sweepers[offline && online ? 0 : offline ? 1 : 2].push_back(arrangement.series[series].label);
  }
  constexpr std::array kInWhat{", offline and online", " offline", " online"};
  std::size_t measure = 0;
  while (measure < sweepers.size() && sweepers[measure].empty()) ++measure;
  if (measure == sweepers.size()) return "";
  std::vector<std::string>& names = sweepers[measure];
  const bool several = names.size() > 1;
  const std::string last = std::move(names.back());
  names.pop_back();
  const std::string who = several ? fmt::format("{} and {}", fmt::join(names, ", "), last) : last;
  const std::string against = baselines == 1 ? significance.baselines().front()
                                             : fmt::format("{} baselines", all_of(baselines));
  const std::size_t blocks = arrangement.blocks.size();
  const std::string settings = blocks < 6 ? all_of(blocks) : fmt::format("all {}", blocks);
  const std::string where = blocks == 1 ? "" : fmt::format(", in {} settings", settings);
  return fmt::format("{} {} {}{}{}.", who, several ? "beat" : "beats", against, kInWhat[measure],
                     where);
}

std::string baselines_sentence(const Arrangement& arrangement, const Row& row,
                               const Significance& significance) {
  const TestCounts offline = count_tests(significance.of(*row.cell, kOffline));
  const TestCounts online = count_tests(significance.of(*row.cell, kOnline));
  if (offline.all() == 0 || online.all() == 0) return "";
  return both(arrangement.series[row.series].label, outcome(offline, "than", "baselines"),
              outcome(online, "than", "baselines"));
}

std::string all_tests_sentence(const Arrangement& arrangement, std::size_t series,
                               const Significance& significance) {
  const SeriesTests totals = series_tests(arrangement, series, significance);
  if (totals.offline.all() == 0 || totals.online.all() == 0) return "";
  return both(arrangement.series[series].label, outcome(totals.offline, "in", "tests"),
              outcome(totals.online, "in", "tests"));
}

std::string all_of(std::size_t count) {
  static constexpr std::array<const char*, 6> kWords{"",          "",         "both",
                                                     "all three", "all four", "all five"};
  return count < kWords.size() ? kWords[count] : "all";
}

}  // namespace plackett::report
