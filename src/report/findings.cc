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
constexpr std::size_t kMostNames = 2;  // in the headline

const Moments& moments_of(const Row& row, const Measure& measure) {
  return row.values[measure.index].moments;
}

// Who leads a block in one measure.
struct Lead {
  const Row* row = nullptr;  // the highest finite mean; null if there is none
  bool is_clear = false;
  // "Offline: PDGD (linear) with 0.511, 0.0170 ± 0.0044 ahead of MGD (linear) (p = 3.1e-10)."
  std::string sentence = {};
};

Lead lead_of(const Arrangement& arrangement, const Block& block, const Measure& measure) {
  std::vector<const Row*> rows;
  for (const Row& row : block.rows) {
    if (std::isfinite(moments_of(row, measure).mean)) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const Row* one, const Row* other) {
    return moments_of(*one, measure).mean > moments_of(*other, measure).mean;
  });
  if (rows.empty()) return {};
  const double mean = moments_of(*rows[0], measure).mean;
  const std::string start = fmt::format("{}: {} with {}", capitalised(std::string(measure.name)),
                                        arrangement.label(*rows[0]), fixed(mean, measure.digits));
  if (rows.size() == 1) return {rows[0], false, start + "."};
  const std::string& rival = arrangement.label(*rows[1]);
  std::string margin = fixed(mean - moments_of(*rows[1], measure).mean, measure.digits);
  std::string evidence = "no spread over runs to judge by";
  const TTest test = arrangement.between(*rows[0], *rows[1], measure);
  // The leader may be behind in the runs that both have.
  const bool is_clear = test.p < 0.05 && test.t > 0;
  if (is_tested(test)) {
    margin = fmt::format("{} ± {}", fixed(test.difference, measure.digits + 1),
                         fixed(test.half_width, measure.digits + 1));
    evidence = p_value("p", test.p);
  }
  return {rows[0], is_clear,
          start + (is_clear ? fmt::format(", {} ahead of {} ({}).", margin, rival, evidence)
                            : fmt::format("; {} is too close to call ({} behind, {}).", rival,
                                          margin, evidence))};
}

// The series that are better in every test that there could be.
std::vector<std::string> sweepers(const Arrangement& arrangement) {
  std::vector<std::size_t> better(arrangement.series.size(), 0);
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      for (const Measure& measure : kPaperMeasures) {
        for (const TTest& test : row.values[measure.index].tests)
          better[row.series] += test.p < 0.05 && test.t > 0 ? 1 : 0;
      }
    }
  }
  const std::size_t all =
      arrangement.baselines.size() * arrangement.blocks.size() * kPaperMeasures.size();
  std::vector<std::string> names;
  for (std::size_t at = 0; at < better.size(); ++at) {
    if (all > 0 && better[at] == all) names.push_back(arrangement.series[at].label);
  }
  return names;
}

// "PDGD (linear) wins online in 3 of 3 settings", "offline is too close to call".
std::string wins_clause(const Arrangement& arrangement, const Measure& measure) {
  std::vector<std::size_t> wins(arrangement.series.size(), 0);
  for (const Block& block : arrangement.blocks) {
    const Lead lead = lead_of(arrangement, block, measure);
    if (lead.is_clear) ++wins[lead.row->series];
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
  if (const auto names = sweepers(arrangement); !names.empty()) {
    const auto& baselines = arrangement.baselines;
    const std::string who = names.size() > kMostNames
                                ? fmt::format("{} methods", names.size())
                                : fmt::format("{}", fmt::join(names, " and "));
    return fmt::format("{} {} {}, offline and online{}.", who, names.size() > 1 ? "beat" : "beats",
                       baselines.size() > 1 ? "every baseline" : baselines[0],
                       arrangement.blocks.size() > 1 ? ", in every setting" : "");
  }
  if (arrangement.series.size() == 1) {
    return fmt::format("{} reaches an NDCG@10 of {}.", arrangement.series[0].label,
                       fixed(moments_of(arrangement.blocks[0].rows[0], kOffline).mean, 3));
  }
  const auto& cells = arrangement.comparison.cells;
  if (std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.runs < 2; })) {
    return "Too few runs to call a winner.";
  }
  std::string out =
      fmt::format("{}; {}.", wins_clause(arrangement, kOffline), wins_clause(arrangement, kOnline));
  return out.starts_with(kOffline.name) ? capitalised(out) : out;
}

}  // namespace

Findings find(const Arrangement& arrangement) {
  Findings out{headline(arrangement), {}};
  if (arrangement.blocks.size() > kMostFindings) return out;
  for (const Block& block : arrangement.blocks) {
    Finding finding{block.title, {}};
    for (const Measure& measure : arrangement.measures) {
      finding.sentences.push_back(lead_of(arrangement, block, measure).sentence);
    }
    std::erase(finding.sentences, "");
    if (!finding.sentences.empty()) out.findings.push_back(std::move(finding));
  }
  return out;
}

}  // namespace plackett::report
