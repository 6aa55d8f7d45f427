#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/arrangement.h"
#include "report/numbers.h"
#include "report/text.h"

namespace plackett::report {
namespace {

constexpr std::size_t kMostFindings = 6;
constexpr double kClearErrors = 2;

const Moments& moments_of(const Row& row, const Measure& measure) {
  return row.values[measure.index].moments;
}

// Who leads a block in one measure.
struct Lead {
  const Row* first = nullptr;   // the highest finite mean; null if there is none
  const Row* second = nullptr;  // the next; null if there is none
  bool is_clear = false;
  std::string evidence = {};  // "p = 0.032", "6.8 standard errors"; empty: nothing to judge by
  std::string mean = {}, margin = {};  // of the first, and to the second
};

Lead lead_of(const Arrangement& arrangement, const Block& block, const Measure& measure) {
  std::vector<const Row*> rows;
  for (const Row& row : block.rows) {
    if (std::isfinite(moments_of(row, measure).mean)) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const Row* one, const Row* other) {
    return moments_of(*one, measure).mean > moments_of(*other, measure).mean;
  });
  Lead lead;
  if (rows.empty()) return lead;
  const auto [mean, std] = moments_of(*(lead.first = rows[0]), measure);
  lead.mean = fixed(mean, measure.digits);
  if (rows.size() < 2) return lead;
  const auto [next_mean, next_std] = moments_of(*(lead.second = rows[1]), measure);
  lead.margin = fixed(mean - next_mean, measure.digits);
  const double errors = (mean - next_mean) / std::sqrt(std * std / rows[0]->cell->runs +
                                                       next_std * next_std / rows[1]->cell->runs);
  if (const TTest test = arrangement.between(*rows[0], *rows[1], measure); is_tested(test)) {
    lead.is_clear = test.p < 0.05;
    lead.evidence = p_text(test.p);
  } else if (std::isfinite(errors)) {
    lead.is_clear = errors >= kClearErrors;
    lead.evidence = fmt::format("{} standard errors", fixed(errors, errors < 10 ? 1 : 0));
  }
  return lead;
}

// The measures in which a series was better in every test that there could be.
std::vector<const char*> swept(const Arrangement& arrangement, std::size_t series) {
  const std::size_t all = arrangement.baselines.size() * arrangement.blocks.size();
  std::vector<const char*> names;
  for (const Measure& measure : kMeasures) {
    std::size_t better = 0;
    for (const Block& block : arrangement.blocks) {
      for (const Row& row : block.rows) {
        for (const TTest& test : row.values[measure.index].tests) {
          better += row.series == series && test.p < 0.05 && test.t > 0 ? 1 : 0;
        }
      }
    }
    if (all > 0 && better == all) names.push_back(measure.name);
  }
  return names;
}

// "PDGD (linear) beats every baseline, offline and online, in every setting." Empty if no series
// swept a measure.
std::string sweep_sentence(const Arrangement& arrangement) {
  std::vector<std::string> names;
  std::vector<const char*> measures;  // that `names` swept: as many as anyone did
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    const std::vector<const char*> found = swept(arrangement, series);
    if (found.size() > measures.size()) names.clear(), measures = found;
    if (!found.empty() && found == measures) names.push_back(arrangement.series[series].label);
  }
  if (names.empty()) return "";
  const bool one_baseline = arrangement.baselines.size() == 1;
  return fmt::format(
      "{} {} {}, {}{}.", fmt::join(names, " and "), names.size() > 1 ? "beat" : "beats",
      one_baseline ? arrangement.baselines.front() : "every baseline", fmt::join(measures, " and "),
      arrangement.blocks.size() > 1 ? ", in every setting" : "");
}

// "PDGD (linear) wins online in 3 of 3 settings", "offline is too close to call".
std::string wins_clause(const Arrangement& arrangement, const Measure& measure) {
  std::vector<std::size_t> wins(arrangement.series.size(), 0);
  for (const Block& block : arrangement.blocks) {
    const Lead lead = lead_of(arrangement, block, measure);
    if (lead.is_clear) ++wins[lead.first->series];
  }
  const auto most = std::max_element(wins.begin(), wins.end());
  if (*most == 0) return fmt::format("{} is too close to call", measure.name);
  const auto& label = arrangement.series[static_cast<std::size_t>(most - wins.begin())].label;
  const std::size_t blocks = arrangement.blocks.size();
  return fmt::format("{} wins {}", label, measure.name) +
         (blocks == 1 ? "" : fmt::format(" in {} of {} settings", *most, blocks));
}

std::string headline(const Arrangement& arrangement) {
  if (arrangement.blocks.empty()) return "Nothing was run yet.";
  if (std::string swept = sweep_sentence(arrangement); !swept.empty()) return swept;
  const Lead first = lead_of(arrangement, arrangement.blocks.front(), kOffline);
  if (first.first != nullptr && first.second == nullptr && arrangement.series.size() == 1) {
    return fmt::format("{} reaches an NDCG@10 of {}.", arrangement.label(*first.first), first.mean);
  }
  const auto& cells = arrangement.comparison.cells;
  if (std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.runs < 2; })) {
    return "Too few runs to call a winner.";
  }
  std::string out =
      fmt::format("{}; {}.", wins_clause(arrangement, kOffline), wins_clause(arrangement, kOnline));
  return out.starts_with(kOffline.name) ? capitalised(out) : out;
}

// "Offline: PDGD (linear) with 0.511, 0.017 ahead of MGD (linear) (p = 3.1e-10)." Empty if no mean
// is finite.
std::string lead_sentence(const Arrangement& arrangement, const Block& block,
                          const Measure& measure) {
  const Lead lead = lead_of(arrangement, block, measure);
  if (lead.first == nullptr) return "";
  const std::string out = fmt::format("{}: {} with {}", capitalised(measure.name),
                                      arrangement.label(*lead.first), lead.mean);
  if (lead.second == nullptr) return out + ".";
  const std::string& rival = arrangement.label(*lead.second);
  if (lead.is_clear) {
    return fmt::format("{}, {} ahead of {} ({}).", out, lead.margin, rival, lead.evidence);
  }
  return lead.evidence.empty()
             ? fmt::format("{}; {} is {} behind, without a spread over runs to judge by.", out,
                           rival, lead.margin)
             : fmt::format("{}; {} is too close to call ({} behind, {}).", out, rival, lead.margin,
                           lead.evidence);
}

}  // namespace

Findings find(const Arrangement& arrangement) {
  Findings out{headline(arrangement), {}};
  if (arrangement.blocks.size() > kMostFindings) return out;
  for (const Block& block : arrangement.blocks) {
    Finding finding{block.title, {}};
    for (const Measure& measure : kMeasures) {
      finding.sentences.push_back(lead_sentence(arrangement, block, measure));
    }
    std::erase(finding.sentences, "");
    if (!finding.sentences.empty()) out.findings.push_back(std::move(finding));
  }
  return out;
}

}  // namespace plackett::report
