#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "report/axes.h"
#include "report/numbers.h"
#include "report/scorecard.h"
#include "report/test_sentences.h"
#include "report/winners.h"

namespace plackett::report {
namespace {

// The row with the largest finite value over all blocks.
template <typename Value>
const Row* top_row(const Arrangement& arrangement, Value value) {
  const Row* top = nullptr;
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      if (!std::isfinite(value(row))) continue;
      if (top == nullptr || value(row) > value(*top)) top = &row;
    }
  }
  return top;
}

TestCounts all_tests(const Comparison& comparison, const Significance& significance) {
  std::vector<Against> all;
  for (const CellSummary& cell : comparison.cells) {
    for (const Measure* measure : kMeasures) {
      const auto some = significance.of(cell, *measure);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return count_tests(all);
}

std::vector<Card> cards(const Comparison& comparison, const Arrangement& arrangement,
                        const Significance& significance) {
  std::vector<Card> out;
  const auto who = [&](const Row& row) {
    return fmt::format("{}{}, {} clicks", arrangement.series[row.series].label,
                       arrangement.datasets.size() > 1 ? " on " + row.cell->dataset : "",
                       click_model_words(*row.cell));
  };
  const auto best = [&](const char* label, const Measure& measure) {
    const Row* const row =
        top_row(arrangement, [&](const Row& r) { return (r.cell->*measure.final).mean; });
    if (row != nullptr) {
      out.push_back({label, fixed((row->cell->*measure.final).mean, measure.digits), who(*row)});
    }
  };
  best("Best offline NDCG@10", kOffline);
  best("Best online NDCG@10", kOnline);
  if (const TestCounts tests = all_tests(comparison, significance); tests.all() > 0) {
    out.push_back({"Better than a baseline", fmt::format("{} of {}", tests.better, tests.all()),
                   fmt::format("{} worse, {} undecided", tests.worse, tests.neither)});
  }
  if (const Scorecard card = make_scorecard(comparison); card.numbers > 0) {
    out.push_back({"As the paper has it", fmt::format("{} of {}", card.within_two, card.numbers),
                   "within 2 standard errors"});
  }
  double impressions = 0;
  std::uint64_t runs = 0;
  for (const CellSummary& cell : comparison.cells) {
    impressions += static_cast<double>(cell.impressions) * cell.runs;
    runs += cell.runs;
  }
  if (runs > 0) {
    out.push_back({"Impressions learned from", compact(impressions),
                   fmt::format("in {} run{}", grouped(runs), runs == 1 ? "" : "s")});
  }
  return out;
}

// A sentence with the amount it is about.
struct Measured {
  double amount = 0;
  std::string sentence;  // empty: nothing to say
};

// The sentences of a few, or of the least and the largest of many.
std::vector<std::string> extremes(std::vector<Measured> all) {
  std::erase_if(all, [](const Measured& one) { return one.sentence.empty(); });
  std::vector<std::string> out;
  if (all.size() > 3) {
    const auto [least, most] = std::minmax_element(
        all.begin(), all.end(),
        [](const Measured& one, const Measured& other) { return one.amount < other.amount; });
    return {least->sentence, most->sentence};
  }
  out.reserve(all.size());
  for (Measured& one : all) out.push_back(std::move(one.sentence));
  return out;
}

// The click models from the least noise to the most.
constexpr std::array<std::string_view, 5> kByNoise{"perfect", "navigational", "informational",
                                                   "almost-random", "random"};

// Its place among them; their number for one of another kind.
std::size_t noise(const CellSummary& cell) {
  return static_cast<std::size_t>(std::find(kByNoise.begin(), kByNoise.end(), cell.click_model) -
                                  kByNoise.begin());
}

// What a series loses from its click model with the least noise to the one with the most. Nothing
// is said without spread to judge by, and nothing over several datasets or protocols.
Measured noise_cost(const Arrangement& arrangement, std::size_t series) {
  const CellSummary* first = nullptr;
  const CellSummary* quiet = nullptr;
  const CellSummary* noisy = nullptr;
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      const CellSummary& cell = *row.cell;
      if (row.series != series || noise(cell) == kByNoise.size()) continue;
      if (!std::isfinite(cell.offline.mean)) continue;
      if (first == nullptr) first = &cell;
      if (cell.dataset != first->dataset || cell.protocol != first->protocol) return {};
      if (quiet == nullptr || noise(cell) < noise(*quiet)) quiet = &cell;
      if (noisy == nullptr || noise(cell) > noise(*noisy)) noisy = &cell;
    }
  }
  if (quiet == noisy) return {};
  const double errors = standard_errors(*quiet, *noisy, kOffline);
  if (!std::isfinite(errors)) return {};
  const std::string& label = arrangement.series[series].label;
  const std::string before = fmt::format(
      "{} under {} clicks", fixed(quiet->offline.mean, kOfflineDigits), click_model_words(*quiet));
  const std::string after = fmt::format(
      "{} under {} ones", fixed(noisy->offline.mean, kOfflineDigits), click_model_words(*noisy));
  const double cost = quiet->offline.mean - noisy->offline.mean;
  if (errors >= kClearErrors) {
    return {cost, fmt::format("{} goes from {} to {}.", label, before, after)};
  }
  return {cost, fmt::format("Noise costs {} nothing{}: {}, {}.", label,
                            errors > -kClearErrors ? " measurable" : "", before, after)};
}

// When a curve first had nine tenths of what it gained from its first point to its last.
Measured learning_time(const Arrangement& arrangement, const Row& row) {
  const CurveSummary* first = nullptr;
  const CurveSummary* last = nullptr;
  for (const CurveSummary& point : row.cell->curve) {
    if (!drawable(point, Metric::kOffline)) continue;
    if (first == nullptr) first = &point;
    last = &point;
  }
  if (first == last || last->offline.mean <= first->offline.mean) return {};
  const double goal = first->offline.mean + 0.9 * (last->offline.mean - first->offline.mean);
  for (const CurveSummary& point : row.cell->curve) {
    if (!drawable(point, Metric::kOffline) || point.offline.mean < goal) continue;
    return {static_cast<double>(point.impression),
            fmt::format("{} had 90% of its gain after {} of {} impressions.",
                        arrangement.series[row.series].label, grouped(point.impression),
                        grouped(last->impression))};
  }
  return {};
}

void add(std::vector<Finding>& findings, std::string lead, std::vector<std::string> sentences) {
  std::erase(sentences, "");
  if (!sentences.empty()) findings.push_back({std::move(lead), std::move(sentences)});
}

// One dataset: what each of its click models shows.
void add_blocks(std::vector<Finding>& findings, const Arrangement& arrangement,
                const Significance& significance) {
  for (const Block& block : arrangement.blocks) {
    std::vector<std::string> sentences{lead_sentence(arrangement, block, significance, kOffline),
                                       lead_sentence(arrangement, block, significance, kOnline)};
    for (const Row& row : block.rows) {
      sentences.push_back(baselines_sentence(arrangement, row, significance));
    }
    add(findings, block.title, std::move(sentences));
  }
}

// Several: who leads on each, and all the tests in sum.
void add_datasets(std::vector<Finding>& findings, const Arrangement& arrangement,
                  const Significance& significance) {
  for (std::size_t dataset = 0; dataset < arrangement.datasets.size(); ++dataset) {
    add(findings, arrangement.datasets[dataset],
        {leads_sentence(arrangement, dataset, kOffline),
         leads_sentence(arrangement, dataset, kOnline)});
  }
  std::vector<std::string> sentences;
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    sentences.push_back(all_tests_sentence(arrangement, series, significance));
  }
  add(findings, "Against the baselines", std::move(sentences));
}

}  // namespace

Findings find(const Comparison& comparison, const Arrangement& arrangement,
              const Significance& significance) {
  Findings out;
  out.headline = headline(arrangement, significance);
  out.cards = cards(comparison, arrangement, significance);
  if (arrangement.datasets.size() > 1) {
    add_datasets(out.findings, arrangement, significance);
  } else {
    add_blocks(out.findings, arrangement, significance);
  }
  std::vector<Measured> noise;
  std::vector<Measured> speed;
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    noise.push_back(noise_cost(arrangement, series));
  }
  if (!arrangement.blocks.empty()) {
    for (const Row& row : arrangement.blocks.front().rows) {
      speed.push_back(learning_time(arrangement, row));
    }
    add(out.findings, "What noise costs", extremes(std::move(noise)));
    add(out.findings, fmt::format("How fast it learns ({})", arrangement.blocks.front().title),
        extremes(std::move(speed)));
  }
  return out;
}

}  // namespace plackett::report
