#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "report/axes.h"
#include "report/numbers.h"

namespace plackett::report {
namespace {

struct Ranked {
  const Row* first = nullptr;
  const Row* second = nullptr;
};

Ranked best_two(const Block& block, Moments CellSummary::*metric) {
  Ranked ranked;
  const auto mean = [metric](const Row* row) { return (row->cell->*metric).mean; };
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

// The difference of the means in standard errors of it; NaN where a side has no spread to judge by.
double standard_errors(const CellSummary& one, const CellSummary& other,
                       Moments CellSummary::*metric) {
  if (one.runs < 2 || other.runs < 2) return std::nan("");
  const auto variance = [metric](const CellSummary& cell) {
    return (cell.*metric).std * (cell.*metric).std / cell.runs;
  };
  const double error = std::sqrt(variance(one) + variance(other));
  return error > 0 ? ((one.*metric).mean - (other.*metric).mean) / error : std::nan("");
}

// Two means at least so many standard errors apart are called different.
constexpr double kClear = 2;

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// "almost random", for the middle of a sentence.
std::string click_model_words(const CellSummary& cell) {
  std::string words = cell.click_model;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

struct Kind {
  Moments CellSummary::*metric;
  int digits;
  const char* place;  // "offline"
};
constexpr Kind kOffline{&CellSummary::offline, kOfflineDigits, "offline"};
constexpr Kind kOnline{&CellSummary::online, kOnlineDigits, "online"};

// "Offline: PDGD (linear) with 0.511, 0.017 ahead of MGD (linear) (6.8 standard errors)."
std::string lead_sentence(const Arrangement& arrangement, const Block& block, const Kind& kind) {
  const auto [first, second] = best_two(block, kind.metric);
  if (first == nullptr) return "";
  const double best = (first->cell->*kind.metric).mean;
  const std::string text =
      fmt::format("{}: {} with {}", capitalised(kind.place),
                  arrangement.series[first->series].label, fixed(best, kind.digits));
  if (second == nullptr) return text + ".";
  const std::string& rival = arrangement.series[second->series].label;
  const std::string margin = fixed(best - (second->cell->*kind.metric).mean, kind.digits);
  const double errors = standard_errors(*first->cell, *second->cell, kind.metric);
  if (!std::isfinite(errors)) return fmt::format("{}, {} ahead of {}.", text, margin, rival);
  if (errors < kClear) {
    return fmt::format("{}; {} is too close to call ({} behind, {} standard errors).", text, rival,
                       margin, fixed(errors, 1));
  }
  return fmt::format("{}, {} ahead of {} ({} standard errors).", text, margin, rival,
                     fixed(errors, errors < 10 ? 1 : 0));
}

// Who is clearly ahead in most blocks.
struct Wins {
  std::size_t series = 0;
  std::size_t count = 0;
  std::size_t of = 0;  // blocks with a rival to beat
};

Wins most_wins(const Arrangement& arrangement, const Kind& kind) {
  std::vector<std::size_t> counts(arrangement.series.size(), 0);
  Wins wins;
  for (const Block& block : arrangement.blocks) {
    const auto [first, second] = best_two(block, kind.metric);
    if (second == nullptr) continue;
    ++wins.of;
    if (!(standard_errors(*first->cell, *second->cell, kind.metric) < kClear)) {
      ++counts[first->series];
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (most == counts.end()) return wins;
  wins.series = static_cast<std::size_t>(most - counts.begin());
  wins.count = *most;
  return wins;
}

constexpr std::array<const char*, 6> kWords{"", "", "both", "all three", "all four", "all five"};

// " in all three settings"; "" where there is one only.
std::string share_of(const Wins& wins) {
  if (wins.of == 1) return "";
  if (wins.count < wins.of) return fmt::format(" in {} of {} settings", wins.count, wins.of);
  return fmt::format(" in {} settings", wins.of < kWords.size() ? kWords[wins.of] : "all");
}

std::string headline(const Arrangement& arrangement) {
  if (arrangement.blocks.empty()) return "Nothing was run yet.";
  const Wins offline = most_wins(arrangement, kOffline);
  const Wins online = most_wins(arrangement, kOnline);
  const auto name = [&](const Wins& wins) { return arrangement.series[wins.series].label; };
  if (offline.of == 0) {
    const Row* const first = best_two(arrangement.blocks.front(), kOffline.metric).first;
    if (first == nullptr) return "No run has finished yet.";
    return fmt::format("{} reaches an NDCG@10 of {}.", arrangement.series[first->series].label,
                       fixed(first->cell->offline.mean, kOfflineDigits));
  }
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

std::vector<Card> cards(const Comparison& comparison, const Arrangement& arrangement) {
  std::vector<Card> out;
  const auto who = [&](const Row& row) {
    return fmt::format("{}, {} clicks", arrangement.series[row.series].label,
                       click_model_words(*row.cell));
  };
  const auto best = [&](const char* label, const Kind& kind) {
    const Row* const row =
        top_row(arrangement, [&](const Row& r) { return (r.cell->*kind.metric).mean; });
    if (row != nullptr) {
      out.push_back({label, fixed((row->cell->*kind.metric).mean, kind.digits), who(*row)});
    }
  };
  best("Best NDCG@10 offline", kOffline);
  best("Best NDCG@10 online, summed", kOnline);
  const Row* const fastest =
      top_row(arrangement, [](const Row& row) { return row.cell->impressions_per_second; });
  if (fastest != nullptr && fastest->cell->impressions_per_second > 0) {
    out.push_back({"Fastest, impressions/s", compact(fastest->cell->impressions_per_second),
                   fmt::format("{} on {} thread{}", arrangement.series[fastest->series].label,
                               comparison.threads, comparison.threads == 1 ? "" : "s")});
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

// How much a series loses between the click models where it does best and worst.
Measured noise_cost(const Arrangement& arrangement, std::size_t series) {
  const Row* best = nullptr;
  const Row* worst = nullptr;
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      const double mean = row.cell->offline.mean;
      if (row.series != series || !std::isfinite(mean)) continue;
      if (best == nullptr || mean > best->cell->offline.mean) best = &row;
      if (worst == nullptr || mean < worst->cell->offline.mean) worst = &row;
    }
  }
  if (best == worst) return {};
  // Another dataset or protocol is no noise.
  const CellSummary& one = *best->cell;
  const CellSummary& other = *worst->cell;
  if (one.dataset != other.dataset || one.protocol != other.protocol) return {};
  return {one.offline.mean - other.offline.mean,
          fmt::format("{} goes from {} under {} clicks to {} under {} ones.",
                      arrangement.series[series].label, fixed(one.offline.mean, kOfflineDigits),
                      click_model_words(one), fixed(other.offline.mean, kOfflineDigits),
                      click_model_words(other))};
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

}  // namespace

Findings find(const Comparison& comparison, const Arrangement& arrangement) {
  Findings out;
  out.headline = headline(arrangement);
  out.cards = cards(comparison, arrangement);
  for (const Block& block : arrangement.blocks) {
    add(out.findings, block.title,
        {lead_sentence(arrangement, block, kOffline), lead_sentence(arrangement, block, kOnline)});
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
