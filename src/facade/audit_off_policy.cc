#include "plackett/audit_off_policy.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/attempt.h"
#include "base/parallel.h"
#include "offpolicy/list_value.h"
#include "plackett/judgments.h"
#include "sampling/shown_list.h"

namespace plackett::audit {
namespace {

using Order = std::vector<Doc>;
using Pattern = std::vector<std::uint8_t>;

// Calls use(ranking) for all ways to show k of the documents.
void each_ranking(std::uint32_t docs, std::uint32_t k,
                  const std::function<void(const Order&)>& use) {
  Order shown;
  const std::function<void()> extend = [&] {
    if (shown.size() == k) return use(shown);
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      if (std::find(shown.begin(), shown.end(), Doc{doc}) != shown.end()) continue;
      shown.push_back(Doc{doc});
      extend();
      shown.pop_back();
    }
  };
  extend();
}

Pattern labels_of(const Case& audited, const Order& ranking) {
  Pattern labels;
  for (const Doc doc : ranking) labels.push_back(audited.labels[index(doc)]);
  return labels;
}

// Calls use(clicks, probability) for all patterns on a list with these labels.
void each_pattern(const Pattern& labels, const User& user,
                  const std::function<void(const Pattern&, double)>& use) {
  Pattern clicks(labels.size());
  for (std::uint32_t pattern = 0; pattern < 1U << labels.size(); ++pattern) {
    for (std::size_t rank = 0; rank < labels.size(); ++rank) {
      clicks[rank] = static_cast<std::uint8_t>(pattern >> rank & 1U);
    }
    use(clicks, user.pattern_probability(labels, clicks));
  }
}

// As the estimators read them.
std::vector<float> as_floats(std::span<const double> values) {
  return {values.begin(), values.end()};
}
std::vector<double> as_read(std::span<const double> values) {
  const auto floats = as_floats(values);
  return {floats.begin(), floats.end()};
}

Order sorted_order(const std::vector<double>& scores) {
  Order order;
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) order.push_back(Doc{doc});
  std::stable_sort(order.begin(), order.end(),
                   [&](Doc left, Doc right) { return scores[index(left)] > scores[index(right)]; });
  return order;
}

// The probability of a ranking under the other policy.
double target_probability(const OffPolicyCase& audited, const std::vector<double>& scores,
                          const Order& ranking) {
  if (!audited.sorted) return std::exp(log_probability(scores, ranking));
  const Order order = sorted_order(scores);
  return std::equal(ranking.begin(), ranking.end(), order.begin()) ? 1.0 : 0.0;
}

// A ranking with all documents as the estimators read it: the shown ones first.
struct Arranged {
  Arranged(const OffPolicyCase& audited, const Order& ranking)
      : docs(ranking), pinned(ranking.size(), 0), rewards(ranking.size(), 0) {
    const auto count = static_cast<std::uint32_t>(audited.target.size());
    for (std::uint32_t doc = 0; doc < count; ++doc) {
      if (std::find(ranking.begin(), ranking.end(), Doc{doc}) == ranking.end()) {
        docs.push_back(Doc{doc});
      }
    }
    const Order order = sorted_order(as_read(audited.target));
    choice.sampled = !audited.sorted;
    for (const Doc doc : docs) {
      scores.push_back(static_cast<float>(audited.logged.scores[index(doc)]));
      choice.scores.push_back(static_cast<float>(audited.target[index(doc)]));
    }
    for (const Doc doc : order) {
      const auto at = std::find(docs.begin(), docs.end(), doc) - docs.begin();
      choice.order.push_back(Doc{static_cast<std::uint32_t>(at)});
    }
  }

  [[nodiscard]] LoggedList list(const Pattern& clicks) const {
    LoggedList made;
    made.scores = scores;
    made.pinned = pinned;
    made.clicked = clicks;
    made.rewards = rewards;
    return made;
  }

  Order docs;
  std::vector<float> scores;
  Pattern pinned;
  std::vector<double> rewards;
  PolicyChoice choice;
};

// P(click at rank) relative to the first, for lists of documents with the highest label.
std::vector<double> examination_of(const Case& audited, const User& user) {
  const std::uint8_t highest = *std::max_element(audited.labels.begin(), audited.labels.end());
  std::vector<double> clicks(audited.k);
  each_pattern(Pattern(audited.k, highest), user, [&](const Pattern& pattern, double chance) {
    for (std::size_t rank = 0; rank < pattern.size(); ++rank) {
      if (pattern[rank] != 0) clicks[rank] += chance;
    }
  });
  const double first = clicks.front();
  for (double& one : clicks) one = first > 0 ? one / first : 1.0;
  return clicks;
}

constexpr std::array kMetrics{ValueMetric::kClicks, ValueMetric::kClickThrough, ValueMetric::kDcg};

}  // namespace

OffPolicyCase draw_off_policy_case(const CaseOptions& options, std::uint32_t grade_count,
                                   Rng& rng) {
  OffPolicyCase drawn;
  drawn.logged = draw_case(options, grade_count, rng);
  CaseOptions same = options;
  same.scores.reset();
  same.labels = drawn.logged.labels;
  same.k = drawn.logged.k;
  drawn.target = draw_case(same, grade_count, rng).scores;
  constexpr std::uint32_t kOneIn = 4;
  drawn.sorted = rng.below(kOneIn) == 0;
  return drawn;
}

std::vector<Bias> audit_off_policy(const OffPolicyCase& audited, const User& user, Rng& rng) {
  const Case& logged = audited.logged;
  const auto docs = static_cast<std::uint32_t>(logged.scores.size());
  assert(audited.target.size() == docs && logged.labels.size() == docs);
  const std::vector<double> logged_scores = as_read(logged.scores);
  const std::vector<double> target_scores = as_read(audited.target);

  std::vector<double> base(logged.k);
  std::vector<double> factor(logged.k);
  std::vector<double> later(logged.k);
  std::vector<double> by_doc(docs);
  for (auto* numbers : {&base, &factor, &later, &by_doc}) {
    for (double& one : *numbers) one = rng.normal();
  }
  const std::vector<double> examination = examination_of(logged, user);

  std::vector<Bias> found;
  for (const ValueMetric metric : kMetrics) {
    std::vector<double> discounts;
    for (std::size_t rank = 0; rank < logged.k; ++rank) {
      discounts.push_back(rank_discount(metric, rank));
    }
    const bool by_exposure = metric != ValueMetric::kClickThrough;
    double value = 0;
    double prefix = 0;
    double robust = 0;
    double exposed = 0;
    std::vector<double> gains;
    ListValue list_value;
    PlaceChances places;
    each_ranking(docs, logged.k, [&](const Order& ranking) {
      const double chance = std::exp(log_probability(logged_scores, ranking));
      const double wanted = target_probability(audited, target_scores, ranking);
      const Arranged arranged(audited, ranking);
      std::vector<double> values;
      for (const Doc doc : arranged.docs) values.push_back(by_doc[index(doc)]);
      if (by_exposure) places.set(arranged.scores, logged.k);
      each_pattern(labels_of(logged, ranking), user, [&](const Pattern& clicks, double pattern) {
        if (pattern == 0) return;
        const LoggedList list = arranged.list(clicks);
        list_gains(list, metric, gains);
        value += wanted * pattern * std::accumulate(gains.begin(), gains.end(), 0.0);
        list_value.set(list, arranged.choice, gains);
        prefix += chance * pattern * list_value.prefix_ips();
        robust += chance * pattern * list_value.doubly_robust({base, factor, values, later});
        if (by_exposure) {
          exposed += chance * pattern * list_value.exposure(discounts, examination, places).value;
        }
      });
    });
    found.push_back({Estimator::kPrefixIps, metric, value, prefix});
    found.push_back({Estimator::kDoublyRobust, metric, value, robust});
    if (by_exposure) found.push_back({Estimator::kExposure, metric, value, exposed});
  }
  return found;
}

bool clicks_look_up(const Case& audited, const User& user) {
  // P(the first clicks | the first labels), which no lower rank may change.
  std::map<std::pair<Pattern, Pattern>, double> known;
  bool holds = true;
  each_ranking(static_cast<std::uint32_t>(audited.labels.size()), audited.k,
               [&](const Order& ranking) {
                 const Pattern labels = labels_of(audited, ranking);
                 std::map<std::pair<Pattern, Pattern>, double> here;
                 each_pattern(labels, user, [&](const Pattern& clicks, double chance) {
                   for (std::size_t ranks = 1; ranks <= labels.size(); ++ranks) {
                     const auto end = static_cast<std::ptrdiff_t>(ranks);
                     here[{Pattern(labels.begin(), labels.begin() + end),
                           Pattern(clicks.begin(), clicks.begin() + end)}] += chance;
                   }
                 });
                 for (const auto& [prefix, chance] : here) {
                   const auto [found, is_new] = known.emplace(prefix, chance);
                   if (!is_new && std::abs(found->second - chance) > kBiasTolerance) holds = false;
                 }
               });
  return holds;
}

bool clicks_by_position(const Case& audited, const User& user) {
  std::map<std::pair<std::size_t, std::uint8_t>, double> known;  // by rank and label
  bool holds = true;
  each_ranking(
      static_cast<std::uint32_t>(audited.labels.size()), audited.k, [&](const Order& ranking) {
        const Pattern labels = labels_of(audited, ranking);
        std::vector<double> clicked(labels.size());
        each_pattern(labels, user, [&](const Pattern& clicks, double chance) {
          for (std::size_t rank = 0; rank < clicks.size(); ++rank) {
            if (clicks[rank] != 0) clicked[rank] += chance;
          }
        });
        for (std::size_t rank = 0; rank < labels.size(); ++rank) {
          const auto [found, is_new] = known.emplace(std::pair(rank, labels[rank]), clicked[rank]);
          if (!is_new && std::abs(found->second - clicked[rank]) > kBiasTolerance) {
            holds = false;
          }
        }
      });
  // A product of rank and label. All labels were at all ranks.
  const std::uint8_t some = audited.labels.front();
  for (const auto& [place, chance] : known) {
    const double here = chance * known.at({0, some});
    const double there = known.at({0, place.second}) * known.at({place.first, some});
    if (std::abs(here - there) > kBiasTolerance) holds = false;
  }
  return holds;
}

namespace {

// The other policy on lists whose first feature is the document's number.
class NumberedPolicy final : public TargetPolicy {
 public:
  explicit NumberedPolicy(const OffPolicyCase& audited)
      : audited_(audited), order_(sorted_order(as_read(audited.target))) {}
  [[nodiscard]] std::unique_ptr<TargetPolicy> clone() const override {
    return std::make_unique<NumberedPolicy>(audited_);
  }
  Result<void> choose(const LoggedList& list, PolicyChoice& choice) override {
    choice.sampled = !audited_.sorted;
    choice.scores.clear();
    choice.order.assign(order_.size(), Doc{0});
    for (std::uint32_t at = 0; at < list.docs.doc_count(); ++at) {
      const auto number = static_cast<std::uint32_t>(list.docs.row(Doc{at}).front());
      choice.scores.push_back(static_cast<float>(audited_.target[number]));
      const auto place = std::find(order_.begin(), order_.end(), Doc{number}) - order_.begin();
      choice.order[static_cast<std::size_t>(place)] = Doc{at};
    }
    return {};
  }

 private:
  OffPolicyCase audited_;
  Order order_;
};

constexpr std::uint32_t kFeatures = 2;  // number and label

void fill_log(const OffPolicyCase& audited, const User& user, const CoverageOptions& options,
              std::uint64_t number, MemoryLog& log) {
  const std::vector<float> scores = as_floats(audited.logged.scores);
  const Judgments judgments(audited.logged.labels);
  SamplingScratch scratch;
  Ranking ranking;
  for (std::uint32_t list = 0; list < options.lists; ++list) {
    const auto run = static_cast<std::uint32_t>(number);
    Rng rng({options.seed, run, list, Purpose::kRanking});
    sample_list(scores, audited.logged.k, rng, scratch, ranking);
    const Arranged arranged(audited, ranking.shown);
    Pattern clicks(ranking.shown.size());
    Rng click({options.seed, run, list, Purpose::kClicks});
    user.click(ranking.shown, judgments, click, clicks);
    std::vector<float> rows;
    for (const Doc doc : arranged.docs) {
      rows.push_back(static_cast<float>(index(doc)));
      rows.push_back(audited.logged.labels[index(doc)]);
    }
    LoggedList made = arranged.list(clicks);
    made.unit = list;
    made.docs = FeatureView::of(rows.data(), static_cast<std::uint32_t>(arranged.docs.size()),
                                kFeatures, kFeatures);
    take(log.add(made));
  }
}

double true_value(const OffPolicyCase& audited, const User& user, ValueMetric metric) {
  const std::vector<double> scores = as_read(audited.target);
  double value = 0;
  std::vector<double> gains;
  each_ranking(
      static_cast<std::uint32_t>(scores.size()), audited.logged.k, [&](const Order& ranking) {
        const double wanted = target_probability(audited, scores, ranking);
        if (wanted == 0) return;
        const Arranged arranged(audited, ranking);
        each_pattern(labels_of(audited.logged, ranking), user,
                     [&](const Pattern& clicks, double chance) {
                       list_gains(arranged.list(clicks), metric, gains);
                       value += wanted * chance * std::accumulate(gains.begin(), gains.end(), 0.0);
                     });
      });
  return value;
}

}  // namespace

Result<std::vector<Coverage>> measure_coverage(std::span<const CoverageCase> cases,
                                               const CoverageOptions& options) {
  struct OfLog {
    double value = 0;
    std::vector<ValueEstimate> estimates;
  };
  std::vector<OfLog> logs(options.logs);
  return attempt([&] {
    parallel_for(thread_count(options.threads), options.logs, [&](std::size_t number) {
      const CoverageCase& one = cases[number % cases.size()];
      const NumberedPolicy policy(one.audited);
      const std::vector<NamedPolicy> policies{{"policy", &policy}};
      MemoryLog log(kFeatures);
      fill_log(one.audited, *one.user, options, number, log);
      OffPolicyOptions own = options.estimate;
      own.threads = 1;
      own.seed = options.seed + number;
      logs[number] = {true_value(one.audited, *one.user, own.metric),
                      take(off_policy(log, policies, own)).policies.front().estimates};
    });
    std::vector<Coverage> found;
    for (const OfLog& log : logs) {
      found.resize(log.estimates.size());
      for (std::size_t at = 0; at < found.size(); ++at) {
        const ValueEstimate& estimate = log.estimates[at];
        Coverage& coverage = found[at];
        coverage.estimator = estimate.estimator;
        if (!estimate.refused.empty()) {
          ++coverage.refused;
          continue;
        }
        // Rounding may put the ends of an interval without width beside the value.
        constexpr double kRounding = 1e-9;
        const auto holds = [&](const std::optional<Interval>& interval) {
          return interval && interval->low <= log.value + kRounding &&
                         log.value - kRounding <= interval->high
                     ? 1U
                     : 0U;
        };
        ++coverage.logs;
        coverage.bias += estimate.value - log.value;
        coverage.bernstein += holds(estimate.bernstein);
        coverage.bootstrap += holds(estimate.bootstrap);
      }
    }
    for (Coverage& one : found) {
      one.bias /= static_cast<double>(std::max<std::uint64_t>(one.logs, 1));
    }
    return found;
  });
}

}  // namespace plackett::audit
