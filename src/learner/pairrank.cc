#include "learner/pairrank.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

#include "base/cholesky.h"
#include "plackett/method.h"
#include "plackett/pairs.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <typename T>
void shuffle(std::span<T> values, Rng& rng) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[rng.below(static_cast<std::uint32_t>(left))]);
  }
}

}  // namespace

PairRank::PairRank(std::unique_ptr<LinearRanker> ranker, const PairRankOptions& options)
    : ranker_(std::move(ranker)),
      options_(options),
      state_{.method = "pairrank"},
      features_(ranker_->feature_count()),
      regression_(features_, options.lambda),
      theta_(features_),
      difference_(features_) {
  assert(options_.refit > 0);
  restore(state_);
}

bool PairRank::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  last_.forget();
  const std::uint32_t count = docs.doc_count();
  scores_.resize(count);
  ranker_->score(docs, scores_);
  if (!all_finite(scores_)) return false;
  find_blocks(docs);
  std::uint32_t begin = 0;
  for (const std::uint32_t end : block_ends_) {
    shuffle(std::span(order_).subspan(begin, end - begin), rng);
    begin = end;
  }
  ranking.shown.resize(std::min(options_.shown, count));
  ranking.scores.resize(ranking.shown.size());
  ranking.rest = {};
  for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
    ranking.shown[rank] = Doc{order_[rank]};
    ranking.scores[rank] = scores_[order_[rank]];
  }
  last_.remember(docs, ranking, rng);
  return true;
}

// A certain order has the higher score first, so all certain orders agree with that of the scores.
// Documents joined by uncertain pairs, with cycles between such groups merged, are therefore runs
// of the sorted documents: a run ends where every document before is certainly before every one
// after.
void PairRank::find_blocks(const FeatureView& docs) {
  const std::uint32_t count = docs.doc_count();
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t one, std::uint32_t other) {
    return scores_[one] != scores_[other] ? scores_[one] > scores_[other] : one < other;
  });
  whitened_.resize(std::size_t{count} * features_);
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::span<double> row(&whitened_[std::size_t{at} * features_], features_);
    const auto features = docs.row(Doc{order_[at]});
    std::copy_n(features.begin(), features_, row.begin());
    solve_lower(confidence_, row);
  }
  const std::size_t words = (count + 63) / 64;
  certain_.assign(count * words, 0);
  // From the last, so that what a document reaches is complete when it is needed.
  for (std::uint32_t at = count; at-- > 0;) {
    std::uint64_t* const own = &certain_[at * words];
    for (std::uint32_t below = at + 1; below < count; ++below) {
      if ((own[below / 64] >> (below % 64) & 1) != 0) continue;
      const double margin = double{scores_[order_[at]]} - double{scores_[order_[below]]};
      double squares = 0;
      for (std::size_t feature = 0; feature < features_; ++feature) {
        const double difference = whitened_[std::size_t{at} * features_ + feature] -
                                  whitened_[std::size_t{below} * features_ + feature];
        squares += difference * difference;
      }
      if (!(sigmoid(margin) - options_.alpha * std::sqrt(squares) > 0.5)) continue;
      own[below / 64] |= std::uint64_t{1} << (below % 64);
      for (std::size_t word = 0; word < words; ++word) own[word] |= certain_[below * words + word];
    }
  }
  block_ends_.clear();
  std::uint32_t reach = 0;  // the last document that one so far is not certainly before
  for (std::uint32_t at = 0; at < count; ++at) {
    for (std::uint32_t below = count; below-- > std::max(reach, at) + 1;) {
      if ((certain_[at * words + below / 64] >> (below % 64) & 1) != 0) continue;
      reach = below;
      break;
    }
    if (at >= reach) {
      block_ends_.push_back(at + 1);
      reach = at + 1;
    }
  }
}

void PairRank::learn(const FeatureView& docs, const Ranking& ranking,
                     std::span<const std::uint8_t> clicks) {
  if (!last_.take_if_same(docs, ranking)) return;
  winners_.clear();
  losers_.clear();
  const std::uint32_t seen = seen_places(clicks);
  for (std::uint32_t rank = 0; rank < seen; ++rank) {
    (clicks[rank] != 0 ? winners_ : losers_).push_back(rank);
  }
  if (winners_.empty() || losers_.empty()) return;
  const auto add = [&](std::uint32_t winner, std::uint32_t loser) {
    regression_.add(docs.row(ranking.shown[winner]).data(), docs.row(ranking.shown[loser]).data());
    add_confidence(regression_.pair(regression_.pair_count() - 1));
  };
  if (options_.disjoint) {
    shuffle(std::span(winners_), last_.rng());
    shuffle(std::span(losers_), last_.rng());
    const std::size_t count = std::min(winners_.size(), losers_.size());
    for (std::size_t at = 0; at < count; ++at) add(winners_[at], losers_[at]);
  } else {
    for (const std::uint32_t winner : winners_) {
      for (const std::uint32_t loser : losers_) add(winner, loser);
    }
  }
  ++state_.updates;
  if (regression_.unfitted() < options_.refit) return;
  ranker_->get_parameters(theta_);
  regression_.fit(theta_);
  ranker_->set_parameters(theta_);
}

void PairRank::add_confidence(std::span<const float> pair) {
  std::copy(pair.begin(), pair.end(), difference_.begin());
  add_to_factor(confidence_, difference_);
}

LearnerState PairRank::state() const {
  LearnerState state = state_;
  state.memory = regression_.memory();
  return state;
}

void PairRank::restore(const LearnerState& state) {
  state_ = state;
  state_.memory.clear();
  regression_.restore(state.memory);
  confidence_.assign(std::size_t{features_} * features_, 0.0);
  for (std::size_t at = 0; at < features_; ++at) {
    confidence_[at * features_ + at] = std::sqrt(options_.lambda);
  }
  for (std::size_t at = 0; at < regression_.pair_count(); ++at) {
    add_confidence(regression_.pair(at));
  }
}

namespace {

constexpr std::string_view kRidge = "ridge";
constexpr std::string_view kAlpha = "alpha";
constexpr std::string_view kDisjoint = "disjoint";
constexpr std::string_view kRefit = "refit";
constexpr std::array<std::string_view, 2> kDisjointNames{"yes", "no"};
constexpr std::array kSettings{
    Setting{.name = kRidge,
            .help = "lambda: weight of the ridge, and of the confidence bound's start",
            .fallback = PairRankOptions{}.lambda,
            .least = 1e-9,
            .most = 1e9},
    Setting{.name = kAlpha,
            .help = "width of the confidence bound: larger explores more",
            .fallback = PairRankOptions{}.alpha,
            .least = 0,
            .most = 1e9},
    Setting{.name = kDisjoint,
            .help = "whether the pairs of one list share no document, or are all that there are",
            .names = kDisjointNames},
    Setting{.name = kRefit,
            .help = "new pairs after which the ranker is fitted again",
            .fallback = PairRankOptions{}.refit,
            .least = 1,
            .most = 1e6,
            .whole = true}};

Result<void> check_ranker(const Ranker& ranker, const SettingValues& /*settings*/) {
  if (dynamic_cast<const LinearRanker*>(&ranker) != nullptr) return {};
  return Error{"pairrank needs the ranker linear: its confidence bound is that of linear scores"};
}

std::unique_ptr<Learner> make_pairrank(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                       const SettingValues& settings) {
  std::unique_ptr<LinearRanker> linear(
      static_cast<LinearRanker*>(ranker.release()));  // check_ranker() made sure
  return std::make_unique<PairRank>(std::move(linear),
                                    PairRankOptions{.lambda = settings.number(kRidge),
                                                    .alpha = settings.number(kAlpha),
                                                    .disjoint = settings.whole(kDisjoint) == 0,
                                                    .refit = settings.whole(kRefit),
                                                    .shown = rules.shown});
}

}  // namespace

extern const Method kPairRank;
const Method kPairRank{.name = "pairrank",
                       .title = "PairRank",
                       .summary = "keeps the orders that it is certain of, shuffles the rest",
                       .settings = kSettings,
                       .check = check_ranker,
                       .make = make_pairrank};

}  // namespace plackett
