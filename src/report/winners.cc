#include "report/winners.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/numbers.h"
#include "report/test_sentences.h"

namespace plackett::report {
namespace {

struct Ranked {
  const Row* first = nullptr;
  const Row* second = nullptr;
};

Ranked best_two(const Block& block, const Measure& measure) {
  Ranked ranked;
  const auto mean = [&](const Row* row) { return (row->cell->*measure.final).mean; };
  for (const Row& row : block.rows) {
    if (!std::isfinite(mean(&row))) continue;
    if (ranked.first == nullptr || mean(&row) > mean(ranked.first)) {
      ranked.second = ranked.first;
      ranked.first = &row;
    } else if (ranked.second == nullptr || mean(&row) > mean(ranked.second)) {
      ranked.second = &row;
    }
  }
  return ranked;
}

bool clear(const CellSummary& one, const CellSummary& other, const Significance& significance,
           const Measure& measure) {
  const Against tested = significance.between(one, other, measure);
  if (tested.verdict != Verdict::kUntested) return tested.verdict != Verdict::kNoDifference;
  return standard_errors(one, other, measure) >= kClearErrors;  // not so for NaN
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// " (p = 0.03)", " (6.8 standard errors)".
std::string evidence(const Against& tested, double errors) {
  if (tested.verdict != Verdict::kUntested) return fmt::format(" ({})", p_text(tested.test.p));
  return fmt::format(" ({} standard errors)", fixed(errors, errors < 10 ? 1 : 0));
}

// Who is clearly ahead in most blocks.
struct Wins {
  std::size_t series = 0;
  std::size_t count = 0;
  std::size_t of = 0;      // blocks with a rival to beat
  std::size_t judged = 0;  // of them, with several runs on both sides
};

Wins most_wins(const Arrangement& arrangement, const Significance& significance,
               const Measure& measure) {
  std::vector<std::size_t> counts(arrangement.series.size(), 0);
  Wins wins;
  for (const Block& block : arrangement.blocks) {
    const auto [first, second] = best_two(block, measure);
    if (second == nullptr) continue;
    ++wins.of;
    if (first->cell->runs > 1 && second->cell->runs > 1) ++wins.judged;
    if (clear(*first->cell, *second->cell, significance, measure)) {
      ++counts[first->series];
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (most == counts.end()) return wins;
  wins.series = static_cast<std::size_t>(most - counts.begin());
  wins.count = *most;
  return wins;
}

// " in all three settings"; "" where there is one only.
std::string share_of(const Wins& wins) {
  if (wins.of == 1) return "";
  if (wins.count < wins.of) return fmt::format(" in {} of {} settings", wins.count, wins.of);
  return fmt::format(" in {} settings", all_of(wins.of));
}

}  // namespace

double standard_errors(const CellSummary& one, const CellSummary& other, const Measure& measure) {
  if (one.runs < 2 || other.runs < 2) return std::nan("");
  const auto variance = [&](const CellSummary& cell) {
    return (cell.*measure.final).std * (cell.*measure.final).std / cell.runs;
  };
  const double error = std::sqrt(variance(one) + variance(other));
  return error > 0 ? ((one.*measure.final).mean - (other.*measure.final).mean) / error
                   : std::nan("");
}

std::string headline(const Arrangement& arrangement, const Significance& significance) {
  if (arrangement.blocks.empty()) return "Nothing was run yet.";
  if (std::string swept = sweep_sentence(arrangement, significance); !swept.empty()) return swept;
  const Wins offline = most_wins(arrangement, significance, kOffline);
  const Wins online = most_wins(arrangement, significance, kOnline);
  const auto name = [&](const Wins& wins) { return arrangement.series[wins.series].label; };
  if (offline.of == 0) {
    const Row* const first = best_two(arrangement.blocks.front(), kOffline).first;
    if (first == nullptr) return "No run has finished yet.";
    return fmt::format("{} reaches an NDCG@10 of {}.", arrangement.series[first->series].label,
                       fixed(first->cell->offline.mean, kOfflineDigits));
  }
  if (offline.judged == 0 && online.judged == 0) return "Too few runs to call a winner.";
  if (offline.count == 0 && online.count == 0) return "Too close to call, offline and online.";
  if (offline.count == 0) {
    return fmt::format("{} wins online{}; offline is too close to call.", name(online),
                       share_of(online));
  }
  if (online.count == 0) return fmt::format("{} wins offline{}.", name(offline), share_of(offline));
  const bool same_share = offline.count == online.count && offline.of == online.of;
  if (offline.series != online.series && same_share) {
    return fmt::format("{} wins offline, {} online{}{}.", name(offline), name(online),
                       offline.of > 1 ? "," : "", share_of(offline));
  }
  if (offline.series != online.series) {
    return fmt::format("{} wins offline{}, {} online{}.", name(offline), share_of(offline),
                       name(online), share_of(online));
  }
  if (same_share) {
    return fmt::format("{} wins offline and online{}.", name(offline), share_of(offline));
  }
  return fmt::format("{} wins offline{} and online{}.", name(offline), share_of(offline),
                     share_of(online));
}

std::string lead_sentence(const Arrangement& arrangement, const Block& block,
                          const Significance& significance, const Measure& measure) {
  const auto [first, second] = best_two(block, measure);
  if (first == nullptr) return "";
  const double best = (first->cell->*measure.final).mean;
  const std::string text =
      fmt::format("{}: {} with {}", capitalised(measure.name),
                  arrangement.series[first->series].label, fixed(best, measure.digits));
  if (second == nullptr) return text + ".";
  const std::string& rival = arrangement.series[second->series].label;
  const std::string margin = fixed(best - (second->cell->*measure.final).mean, measure.digits);
  const Against tested = significance.between(*first->cell, *second->cell, measure);
  const double errors = standard_errors(*first->cell, *second->cell, measure);
  if (clear(*first->cell, *second->cell, significance, measure)) {
    return fmt::format("{}, {} ahead of {}{}.", text, margin, rival, evidence(tested, errors));
  }
  if (tested.verdict == Verdict::kNoDifference) {
    return fmt::format("{}; {} is {} behind, no significant difference{}.", text, rival, margin,
                       evidence(tested, errors));
  }
  if (!std::isfinite(errors)) {
    return fmt::format("{}; {} is {} behind, without a spread over runs to judge by.", text, rival,
                       margin);
  }
  return fmt::format("{}; {} is too close to call ({} behind, {} standard errors).", text, rival,
                     margin, fixed(errors, 1));
}

std::string leads_sentence(const Arrangement& arrangement, std::size_t dataset,
                           const Measure& measure) {
  struct Leader {
    std::size_t series;
    std::vector<std::string> where;
  };
  std::vector<Leader> leaders;
  std::size_t blocks = 0;
  bool single = false;
  for (const Block& block : arrangement.blocks) {
    const Row* const first = best_two(block, measure).first;
    if (block.dataset != dataset || first == nullptr) continue;
    ++blocks;
    single = single || first->cell->runs < 2;
    auto found = std::find_if(leaders.begin(), leaders.end(),
                              [&](const Leader& one) { return one.series == first->series; });
    if (found == leaders.end()) found = leaders.insert(found, {first->series, {}});
    found->where.push_back(click_model_words(*first->cell));
  }
  if (leaders.empty()) return "";
  const std::string name = capitalised(measure.name) + (single ? ", by single runs" : "");
  if (leaders.size() == 1 && blocks > 1) {
    return fmt::format("{}: {} leads under {} click models.", name,
                       arrangement.series[leaders[0].series].label, all_of(blocks));
  }
  std::vector<std::string> parts;
  parts.reserve(leaders.size());
  for (const Leader& leader : leaders) {
    parts.push_back(fmt::format("{} leads under {} clicks", arrangement.series[leader.series].label,
                                fmt::join(leader.where, " and ")));
  }
  return fmt::format("{}: {}.", name, fmt::join(parts, ", "));
}

std::string click_model_words(const CellSummary& cell) {
  std::string words = cell.click_model;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace plackett::report
