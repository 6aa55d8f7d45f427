#include "learner/dueling_bandit.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/kernels.h"
#include "ranker/linear.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

DuelingBandit::DuelingBandit(std::unique_ptr<Ranker> ranker,
                             std::unique_ptr<Multileaving> multileaving,
                             const DuelingBanditOptions& options)
    : ranker_(std::move(ranker)),
      probe_(ranker_->clone()),
      multileaving_(std::move(multileaving)),
      options_(options),
      linear_(dynamic_cast<const LinearRanker*>(ranker_.get()) != nullptr),
      state_{.method = std::string(options.method), .learning_rate = options.learning_rate},
      parameter_count_(ranker_->parameter_count()),
      stride_(round_up(parameter_count_, kLanes)),
      directions_(round_up(options.candidates * stride_, Rng::kNormalGroup)),
      scales_(options.candidates),
      parameters_(parameter_count_),
      moved_(parameter_count_) {}

void DuelingBandit::draw_directions(Rng& rng) {
  rng.fill_normals(directions_.data(), directions_.size());
  for (std::uint32_t candidate = 0; candidate < options_.candidates; ++candidate) {
    float* direction = directions_.data() + candidate * stride_;
    std::fill(direction + parameter_count_, direction + stride_, 0.0F);
    float square = 0;
    kernels().dot_rows({direction, 1, stride_, stride_}, direction, &square);
    scales_[candidate] = square > 0 ? 1.0F / std::sqrt(square) : 0.0F;
  }
}

void DuelingBandit::score(const FeatureView& docs) {
  scores_.resize(options_.candidates + 1, docs.doc_count());
  const std::span<float> current = scores_.row(0);
  ranker_->score(docs, current);
  if (linear_) {
    kernels().dot_rows_each({docs.data(), docs.doc_count(), docs.stride(), docs.readable_width()},
                            {directions_.data(), options_.candidates, stride_, stride_},
                            scores_.row(1).data(), scores_.stride());
    for (std::uint32_t candidate = 0; candidate < options_.candidates; ++candidate) {
      const std::span<float> scores = scores_.row(candidate + 1);
      for (std::size_t doc = 0; doc < scores.size(); ++doc) {
        scores[doc] = current[doc] + scales_[candidate] * scores[doc];
      }
    }
    return;
  }
  ranker_->get_parameters(parameters_);
  for (std::uint32_t candidate = 0; candidate < options_.candidates; ++candidate) {
    const float* direction = directions_.data() + candidate * stride_;
    for (std::size_t at = 0; at < parameter_count_; ++at) {
      moved_[at] = parameters_[at] + scales_[candidate] * direction[at];
    }
    probe_->set_parameters(moved_);
    probe_->score(docs, scores_.row(candidate + 1));
  }
}

bool DuelingBandit::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  draw_directions(rng);
  score(docs);
  for (std::uint32_t ranker = 0; ranker < scores_.rankers(); ++ranker) {
    if (!all_finite(scores_.row(ranker))) return false;
  }
  ranking.shown.resize(std::min(options_.shown, docs.doc_count()));
  multileaving_->show(scores_, rng, ranking.shown);
  ranking.scores.resize(ranking.shown.size());
  for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
    ranking.scores[rank] = scores_.row(0)[index(ranking.shown[rank])];
  }
  ranking.rest = {};
  shown_ = ranking.shown;
  shown_rows_ = docs.data();
  rng_ = rng;
  return true;
}

void DuelingBandit::learn(const FeatureView& docs, const Ranking& ranking,
                          std::span<const std::uint8_t> clicks) {
  if (docs.data() != shown_rows_ || ranking.shown != shown_) return;
  shown_.clear();
  if (std::all_of(clicks.begin(), clicks.end(), [](std::uint8_t click) { return click == 0; })) {
    return;
  }
  const std::span<const Duel> duels = multileaving_->judge(clicks, rng_);
  const auto winners =
      std::count_if(duels.begin(), duels.end(), [](const Duel& duel) { return duel.won; });
  if (winners == 0) return;
  ranker_->get_parameters(parameters_);
  const double step = state_.learning_rate / static_cast<double>(winners);
  for (std::size_t candidate = 0; candidate < duels.size(); ++candidate) {
    if (!duels[candidate].won) continue;
    const float* direction = directions_.data() + candidate * stride_;
    const auto scale = static_cast<float>(step * scales_[candidate]);
    for (std::size_t at = 0; at < parameter_count_; ++at) parameters_[at] += scale * direction[at];
  }
  ranker_->set_parameters(parameters_);
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;
}

}  // namespace plackett
