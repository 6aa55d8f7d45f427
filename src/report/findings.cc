#include "report/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/numbers.h"

namespace plackett::report {
namespace {

constexpr std::size_t kMostFindings = 6;
constexpr double kClearErrors = 2;

double mean_of(const Row& row, const Measure& measure) { return row.values[measure].moments.mean; }

// The difference of two means in standard errors of it; NaN without a spread to judge by.
double standard_errors(const Row& one, const Row& other, const Measure& measure) {
  const auto variance = [&](const Row& row) {
    return std::pow(row.values[measure].moments.std, 2) / row.cell->runs;
  };
  const double error = std::sqrt(variance(one) + variance(other));
  return error > 0 ? (mean_of(one, measure) - mean_of(other, measure)) / error : std::nan("");
}

// Who leads a block in one measure.
struct Lead {
  const Row* first = nullptr;   // the highest finite mean; null if there is none
  const Row* second = nullptr;  // the next; null if there is none
  bool is_clear = false;
  std::string evidence = {};  // "p = 0.032", "6.8 standard errors"; empty: nothing to judge by
};

Lead lead_of(const Arrangement& arrangement, const Block& block, const Measure& measure) {
  Lead lead;
  for (const Row& row : block.rows) {
    if (!std::isfinite(mean_of(row, measure))) continue;
    if (lead.first == nullptr || mean_of(row, measure) > mean_of(*lead.first, measure)) {
      lead.second = std::exchange(lead.first, &row);
    } else if (lead.second == nullptr || mean_of(row, measure) > mean_of(*lead.second, measure)) {
      lead.second = &row;
    }
  }
  if (lead.second == nullptr) return lead;
  const Against tested = arrangement.between(*lead.first, *lead.second, measure);
  const double errors = standard_errors(*lead.first, *lead.second, measure);
  if (tested.verdict != Verdict::kUntested) {
    lead.is_clear = tested.verdict != Verdict::kNoDifference;
    lead.evidence = p_text(tested.test.p);
  } else if (std::isfinite(errors)) {
    lead.is_clear = errors >= kClearErrors;
    lead.evidence = fmt::format("{} standard errors", fixed(errors, errors < 10 ? 1 : 0));
  }
  return lead;
}

// "PDGD (linear) beats every baseline, offline and online, in every setting." Empty if no series
// was better in every test that there could be of at least one measure.
std::string sweep_sentence(const Arrangement& arrangement) {
  const std::size_t all = arrangement.baselines.size() * arrangement.blocks.size();
  std::vector<PerMeasure<std::size_t>> better(arrangement.series.size());
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      for (const Measure& measure : kMeasures) {
        for (const Against& one : row.values[measure].against) {
          better[row.series][measure] += is_better(one.verdict) ? 1 : 0;
        }
      }
    }
  }
  std::vector<std::string> names;
  std::vector<const char*> measures;  // that `names` swept: as many as anyone did
  for (std::size_t series = 0; all > 0 && series < better.size(); ++series) {
    std::vector<const char*> swept;
    for (const Measure& measure : kMeasures) {
      if (better[series][measure] == all) swept.push_back(measure.name);
    }
    if (swept.size() > measures.size()) {
      names.clear();
      measures = swept;
    }
    if (!swept.empty() && swept == measures) names.push_back(arrangement.series[series].label);
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
  std::string out = fmt::format(
      "{} wins {}", arrangement.series[static_cast<std::size_t>(most - wins.begin())].label,
      measure.name);
  const std::size_t blocks = arrangement.blocks.size();
  return blocks == 1 ? out : fmt::format("{} in {} of {} settings", out, *most, blocks);
}

std::string headline(const Arrangement& arrangement) {
  if (arrangement.blocks.empty()) return "Nothing was run yet.";
  if (std::string swept = sweep_sentence(arrangement); !swept.empty()) return swept;
  const Lead first = lead_of(arrangement, arrangement.blocks.front(), kOffline);
  if (first.first != nullptr && first.second == nullptr && arrangement.series.size() == 1) {
    return fmt::format("{} reaches an NDCG@10 of {}.", arrangement.label(*first.first),
                       fixed(mean_of(*first.first, kOffline), kOffline.digits));
  }
  const auto& cells = arrangement.comparison.cells;
  if (std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.runs < 2; })) {
    return "Too few runs to call a winner.";
  }
  std::vector<std::string> clauses;
  for (const Measure& measure : kMeasures) clauses.push_back(wins_clause(arrangement, measure));
  std::string out = fmt::format("{}.", fmt::join(clauses, "; "));
  if (out.starts_with(kOffline.name)) out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

// "Offline: PDGD (linear) with 0.511, 0.017 ahead of MGD (linear) (p = 3.1e-10)." Empty if no mean
// is finite.
std::string lead_sentence(const Arrangement& arrangement, const Block& block,
                          const Measure& measure) {
  const Lead lead = lead_of(arrangement, block, measure);
  if (lead.first == nullptr) return "";
  std::string out = fmt::format("{}: {} with {}", measure.name, arrangement.label(*lead.first),
                                fixed(mean_of(*lead.first, measure), measure.digits));
  out[0] = static_cast<char>(out[0] - 'a' + 'A');
  if (lead.second == nullptr) return out + ".";
  const std::string& rival = arrangement.label(*lead.second);
  const std::string margin =
      fixed(mean_of(*lead.first, measure) - mean_of(*lead.second, measure), measure.digits);
  if (lead.evidence.empty()) {
    return fmt::format("{}; {} is {} behind, without a spread over runs to judge by.", out, rival,
                       margin);
  }
  return lead.is_clear ? fmt::format("{}, {} ahead of {} ({}).", out, margin, rival, lead.evidence)
                       : fmt::format("{}; {} is too close to call ({} behind, {}).", out, rival,
                                     margin, lead.evidence);
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
