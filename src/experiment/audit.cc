#include "plackett/audit.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "users/click_models.h"

namespace plackett::audit {
namespace {

using Order = std::vector<Doc>;

constexpr std::array kSpreads = {0.0, 0.5, 2.0, 5.0};

constexpr std::array kDrawnNames = std::to_array<std::string_view>(
    {"drawn-cascade", "drawn-position-based", "drawn-dependent-click", "drawn-user-browsing",
     "drawn-trust-bias"});

int sign(double value, double scale) {
  if (std::abs(value) <= kTolerance * scale) return 0;
  return value > 0 ? 1 : -1;
}

// All ways to show k of the documents.
void extend(std::uint32_t docs, std::uint32_t k, Order& shown, std::vector<Order>& all) {
  if (shown.size() == k) {
    all.push_back(shown);
    return;
  }
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    if (std::find(shown.begin(), shown.end(), Doc{doc}) != shown.end()) continue;
    shown.push_back(Doc{doc});
    extend(docs, k, shown, all);
    shown.pop_back();
  }
}

// P(the document at one rank is inferred to be preferred to that at another | R).
struct Preferences {
  std::array<std::array<double, kMaxDocs>, kMaxDocs> by_rank{};

  [[nodiscard]] double of(const RankPair& pair) const {
    return by_rank[pair.winner_rank][pair.loser_rank];
  }
};

Preferences preferences(std::span<const std::uint8_t> shown_labels, const User& user,
                        PairKind kind) {
  Preferences result;
  const std::size_t k = shown_labels.size();
  std::vector<std::uint8_t> clicks(k);
  for (std::uint32_t pattern = 0; pattern < 1U << k; ++pattern) {
    for (std::size_t rank = 0; rank < k; ++rank) {
      clicks[rank] = static_cast<std::uint8_t>(pattern >> rank & 1U);
    }
    const double probability = user.pattern_probability(shown_labels, clicks);
    for (const RankPair& pair : inferred_pairs(clicks, kind)) {
      result.by_rank[pair.winner_rank][pair.loser_rank] += probability;
    }
  }
  return result;
}

Order swapped(Order shown, const RankPair& pair) {
  std::swap(shown[pair.winner_rank], shown[pair.loser_rank]);
  return shown;
}

// log of e^f_k e^f_l / (e^f_k + e^f_l)^2, the gradient of eq. 3.
double log_pair_gradient(double score, double other) {
  const double distance = std::abs(score - other);
  return -distance - 2 * std::log1p(std::exp(-distance));
}

std::uint32_t rank_of(const Order& shown, Doc doc) {
  return static_cast<std::uint32_t>(std::find(shown.begin(), shown.end(), doc) - shown.begin());
}

}  // namespace

double Pair::margin() const { return expected == 0 ? std::abs(share) : share * expected; }

bool Pair::holds() const { return sign(share, 1) == expected; }

std::vector<Pair> audit_case(const Case& audited, const User& user, const Rules& rules) {
  const auto docs = static_cast<std::uint32_t>(audited.scores.size());
  assert(audited.labels.size() == docs && docs <= kMaxDocs);
  assert(audited.k >= 2 && audited.k <= docs);

  std::vector<Order> rankings;
  Order shown;
  extend(docs, audited.k, shown, rankings);

  std::map<Order, Preferences> inferred;
  for (const Order& ranking : rankings) {
    std::vector<std::uint8_t> shown_labels;
    for (const Doc doc : ranking) shown_labels.push_back(audited.labels[index(doc)]);
    inferred[ranking] = preferences(shown_labels, user, rules.pairs);
  }

  std::vector<Pair> pairs;
  for (std::uint32_t first = 0; first < docs; ++first) {
    for (std::uint32_t second = first + 1; second < docs; ++second) {
      Pair pair{.first = Doc{first}, .second = Doc{second}};
      const std::uint8_t label = audited.labels[first];
      const std::uint8_t other = audited.labels[second];
      if (!user.alike(label, other)) pair.expected = label > other ? 1 : -1;
      const double log_gradient = log_pair_gradient(audited.scores[first] / rules.sharpness,
                                                    audited.scores[second] / rules.sharpness);

      // Sums relative to the largest factor, so that no distance of scores makes both 0.
      double largest = -std::numeric_limits<double>::infinity();
      double alpha = 0;
      double gross = 0;
      for (const Order& ranking : rankings) {
        const RankPair forth{rank_of(ranking, pair.first), rank_of(ranking, pair.second)};
        const RankPair back{forth.loser_rank, forth.winner_rank};
        if (std::max(forth.winner_rank, forth.loser_rank) >= ranking.size()) continue;
        const Preferences& here = inferred.at(ranking);
        if (here.of(forth) + here.of(back) > 0) {
          const double log_factor =
              log_probability(audited.scores, ranking) + log_gradient +
              (rules.weight == Weight::kRho ? log_rho(audited.scores, ranking, forth) : 0);
          if (log_factor > largest) {
            alpha *= std::exp(largest - log_factor);
            gross *= std::exp(largest - log_factor);
            largest = log_factor;
          }
          const double factor = std::exp(log_factor - largest);
          alpha += factor * (here.of(forth) - here.of(back));
          gross += factor * (here.of(forth) + here.of(back));
        }

        // In R* the two documents have changed places.
        const double reversed = inferred.at(swapped(ranking, forth)).of(forth);
        const double difference = here.of(forth) - reversed;
        ++pair.rankings;
        const int step = sign(difference, here.of(forth) + reversed);
        if (step != 0 && step != pair.expected) ++pair.step_failures;
      }
      if (gross > 0) {
        pair.share = alpha / gross;
        pair.alpha = alpha * std::exp(largest);
        pair.gross = gross * std::exp(largest);
      }
      pairs.push_back(pair);
    }
  }
  return pairs;
}

Case draw_case(const CaseOptions& options, std::uint32_t grade_count, Rng& rng) {
  assert(options.max_docs >= 2 && options.max_docs <= kMaxDocs);
  Case drawn;
  std::size_t docs = 2 + rng.below(options.max_docs - 1);
  if (options.labels) docs = options.labels->size();
  if (options.scores) docs = options.scores->size();
  const auto doc_count = static_cast<std::uint32_t>(docs);
  drawn.k = options.k ? std::min(*options.k, doc_count) : 2 + rng.below(doc_count - 1);
  const double spread = kSpreads[rng.below(kSpreads.size())];
  for (std::size_t doc = 0; doc < docs; ++doc) {
    const double score = spread * rng.normal() + 0.0;  // never -0
    const auto label = static_cast<std::uint8_t>(rng.below(grade_count));
    drawn.scores.push_back(options.scores ? (*options.scores)[doc] : score);
    drawn.labels.push_back(options.labels ? (*options.labels)[doc] : label);
  }
  return drawn;
}

void Summary::add(const Case& audited, std::vector<Pair> audited_pairs) {
  ++cases;
  bool violated = false;
  for (const Pair& pair : audited_pairs) {
    ++pairs;
    if (!pair.holds()) {
      ++violations;
      violated = true;
    }
    if (pair.expected == 0) {
      largest_imbalance = std::max(largest_imbalance, pair.margin());
    } else {
      smallest_margin = std::min(smallest_margin, pair.margin());
      rankings += pair.rankings;
      step_failures += pair.step_failures;
    }
  }
  if (!violated) return;
  const auto size = [](const Case& some) { return std::pair(some.scores.size(), some.k); };
  if (!smallest_violation || size(audited) < size(smallest_violation->found)) {
    smallest_violation = Violation{audited, std::move(audited_pairs)};
  }
}

std::span<const std::string_view> drawn_user_names() { return kDrawnNames; }

std::unique_ptr<User> draw_user(DrawnUser kind, std::uint32_t grade_count, Rng& rng,
                                StopRule stop_rule) {
  const auto draw = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = rng.uniform();
    return values;
  };
  std::vector<double> click = draw(grade_count);
  std::sort(click.begin(), click.end());
  const std::vector<double> stop = draw(grade_count);
  UserTable table{.click = click};
  UserOptions options{.grade_count = grade_count, .stop_rule = stop_rule};
  std::vector<double> values;
  std::vector<double> higher;
  switch (kind) {
    case DrawnUser::kCascade:
      table.stop = stop;
      break;
    case DrawnUser::kPositionBased:
      options.eta = 3 * rng.uniform();
      break;
    case DrawnUser::kDependentClick:
      table.go_on = values = draw(kMaxDocs);
      break;
    case DrawnUser::kUserBrowsing:
      table.examine = values = draw(kMaxDocs * (kMaxDocs + 1) / 2);
      break;
    case DrawnUser::kTrustBias:
      options.eta = 3 * rng.uniform();
      values = draw(kMaxDocs);
      higher = draw(kMaxDocs);
      for (std::size_t rank = 0; rank < kMaxDocs; ++rank) {
        if (values[rank] > higher[rank]) std::swap(values[rank], higher[rank]);
      }
      table.irrelevant = values;
      table.relevant = higher;
      break;
  }
  return make_user(std::string(kDrawnNames[static_cast<std::size_t>(kind)]), table, options);
}

std::vector<RankPair> inferred_pairs(std::span<const std::uint8_t> clicks, PairKind kind) {
  std::size_t seen = 0;
  for (std::size_t rank = 0; rank < clicks.size(); ++rank) {
    if (clicks[rank] != 0) seen = std::min(clicks.size(), rank + 2);
  }
  std::vector<RankPair> pairs;
  for (std::uint32_t winner = 0; winner < seen; ++winner) {
    if (clicks[winner] == 0) continue;
    for (std::uint32_t loser = 0; loser < seen; ++loser) {
      if (kind == PairKind::kAbove && loser > winner) continue;
      if (clicks[loser] == 0) pairs.push_back({winner, loser});
    }
  }
  return pairs;
}

double log_probability(std::span<const double> scores, std::span<const Doc> ranking) {
  std::vector<bool> placed(scores.size());
  double log_product = 0;
  for (const Doc chosen : ranking) {
    double highest = scores[index(chosen)];
    for (std::size_t doc = 0; doc < scores.size(); ++doc) {
      if (!placed[doc]) highest = std::max(highest, scores[doc]);
    }
    double sum = 0;
    for (std::size_t doc = 0; doc < scores.size(); ++doc) {
      if (!placed[doc]) sum += std::exp(scores[doc] - highest);
    }
    log_product += scores[index(chosen)] - highest - std::log(sum);
    placed[index(chosen)] = true;
  }
  return log_product;
}

double log_rho(std::span<const double> scores, std::span<const Doc> ranking, const RankPair& pair) {
  const Order reversed = swapped({ranking.begin(), ranking.end()}, pair);
  const double log_ratio = log_probability(scores, ranking) - log_probability(scores, reversed);
  return -std::max(log_ratio, 0.0) - std::log1p(std::exp(-std::abs(log_ratio)));
}

}  // namespace plackett::audit
