#include "experiment/best_linear.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "plackett/ranker_spec.h"
#include "plackett/rng.h"

namespace plackett {
namespace {

constexpr std::uint64_t kSteps = 20'000;
constexpr std::uint64_t kCheckEvery = 1'000;
constexpr double kFirstRate = 1;
constexpr double kDecaySteps = 200;

class Fit {
 public:
  Fit(const Split& split, const NdcgTable& ndcg) : split_(split), ndcg_(ndcg) {
    Rng unused({});  // linear rankers start at 0
    RankerSpec spec;
    spec.feature_count = split.feature_count();
    ranker_ = make_ranker(spec, unused).value();
  }

  void step(Query query, double rate) {
    if (!ndcg_.has_relevant(query)) return;
    rank(query);
    const Judgments judgments = split_.judgments(query);
    const double worth = 1 / ideal_dcg(judgments, order_.size());
    weights_.assign(order_.size(), 0);
    for (std::size_t high = 0; high < order_.size(); ++high) {
      const double discount = discount_at(high);
      for (std::size_t low = high + 1; low < order_.size(); ++low) {
        const double gains =
            gain(judgments.label(order_[high])) - gain(judgments.label(order_[low]));
        if (gains == 0) continue;
        const double change = std::abs(gains) * (discount - discount_at(low)) * worth;
        if (change == 0) break;  // both are below the cut, and so is all that follows
        const double lead = scores_[index(order_[high])] - scores_[index(order_[low])];
        // The gradient of log(1 + exp(-(winner - loser))).
        const double pull = change / (1 + std::exp(gains > 0 ? lead : -lead));
        weights_[high] += gains > 0 ? pull : -pull;
        weights_[low] -= gains > 0 ? pull : -pull;
      }
    }
    doc_weights_.clear();
    for (std::size_t at = 0; at < order_.size(); ++at) {
      if (weights_[at] != 0) {
        doc_weights_.push_back({order_[at], static_cast<float>(weights_[at])});
      }
    }
    ranker_->step(split_.features(query), doc_weights_, static_cast<float>(rate));
  }

  std::vector<double> ndcg_of_queries() {
    std::vector<double> values;
    for (std::uint32_t at = 0; at < split_.query_count(); ++at) {
      rank(Query{at});
      values.push_back(ndcg_.ndcg(Query{at}, split_.judgments(Query{at}), order_));
    }
    return values;
  }

 private:
  void rank(Query query) {
    const FeatureView docs = split_.features(query);
    scores_.resize(docs.doc_count());
    ranker_->score(docs, scores_);
    order_.clear();
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) order_.push_back(Doc{doc});
    std::stable_sort(order_.begin(), order_.end(), [&](Doc one, Doc other) {
      return scores_[index(one)] > scores_[index(other)];
    });
  }

  [[nodiscard]] double discount_at(std::size_t rank) const {
    return rank < ndcg_.k() ? rank_discount(static_cast<std::uint32_t>(rank)) : 0;
  }

  [[nodiscard]] double ideal_dcg(const Judgments& judgments, std::size_t docs) {
    labels_.clear();
    for (std::uint32_t doc = 0; doc < docs; ++doc) labels_.push_back(judgments.label(Doc{doc}));
    std::sort(labels_.begin(), labels_.end(), std::greater<>());
    double dcg = 0;
    for (std::size_t rank = 0; rank < docs; ++rank) dcg += gain(labels_[rank]) * discount_at(rank);
    return dcg;
  }

  const Split& split_;
  const NdcgTable& ndcg_;
  std::unique_ptr<Ranker> ranker_;
  std::vector<float> scores_;
  std::vector<Doc> order_;
  std::vector<double> weights_;
  std::vector<std::uint8_t> labels_;
  std::vector<DocWeight> doc_weights_;
};

}  // namespace

std::vector<double> best_linear(const Split& split, const NdcgTable& ndcg, std::uint64_t seed) {
  Fit fit(split, ndcg);
  std::vector<double> best;
  double highest = -1;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    Rng rng({seed, 0, step, Purpose::kBestLinear});
    fit.step(Query{rng.below(split.query_count())},
             kFirstRate / std::sqrt(1 + static_cast<double>(step) / kDecaySteps));
    if ((step + 1) % kCheckEvery != 0) continue;
    std::vector<double> values = fit.ndcg_of_queries();
    const double total = std::accumulate(values.begin(), values.end(), 0.0);
    if (total <= highest) continue;
    highest = total;
    best = std::move(values);
  }
  return best;
}

}  // namespace plackett
