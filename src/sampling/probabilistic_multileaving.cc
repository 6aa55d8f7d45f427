#include "sampling/probabilistic_multileaving.h"

#include <algorithm>
#include <cassert>

#include "base/kernels.h"

namespace plackett {
namespace {

template <typename Vector>
void grow(Vector& values, std::size_t size) {
  if (values.size() < size) values.resize(size);
}

// Draws a document in proportion to chances[doc] where unplaced[doc] is 1.
std::uint32_t draw(std::span<const float> chances, std::span<const float> unplaced, Rng& rng) {
  double total = 0;
  for (std::size_t doc = 0; doc < chances.size(); ++doc) total += chances[doc] * unplaced[doc];
  double left = rng.uniform() * total;
  std::uint32_t last = 0;
  for (std::uint32_t doc = 0; doc < chances.size(); ++doc) {
    if (unplaced[doc] == 0) continue;
    last = doc;
    left -= chances[doc];
    if (left < 0) break;
  }
  return last;  // rounding may leave a little at the end
}

}  // namespace

void ProbabilisticMultileaving::show(const ScoreTable& scores, Rng& rng, std::span<Doc> shown) {
  assert(!shown.empty() && shown.size() <= scores.docs() && scores.rankers() >= 2);
  rankers_ = scores.rankers();
  const std::size_t stride = scores.stride();
  grow(weights_, rankers_ * stride);
  grow(unplaced_, stride);
  grow(chances_, stride);
  grow(totals_, rankers_);
  grow(scales_, rankers_);
  grow(rows_, rankers_);
  grow(credits_, shown.size() * rankers_);
  clicked_.reserve(shown.size());
  to_current_.reserve(shown.size());
  to_candidate_.reserve(shown.size());
  exact_.reserve(shown.size());
  if (ties_ == Ties::kByChance) sampled_.reserve(shown.size());

  for (std::uint32_t ranker = 0; ranker < rankers_; ++ranker) {
    float* row = weights_.data() + ranker * stride;
    rows_[ranker] = row;
    kernels().inverse_cubes(ranks_.rank(scores.row(ranker), rng).data(), stride, row);
  }
  std::fill_n(unplaced_.begin(), scores.docs(), 1.0F);
  std::fill(unplaced_.begin() + scores.docs(),
            unplaced_.begin() + static_cast<std::ptrdiff_t>(stride), 0.0F);

  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    kernels().dot_rows({weights_.data(), rankers_, stride, stride}, unplaced_.data(),
                       totals_.data());
    for (std::uint32_t ranker = 0; ranker < rankers_; ++ranker) {
      scales_[ranker] = 1.0F / totals_[ranker];
    }
    std::fill_n(chances_.begin(), stride, 0.0F);
    kernels().add_scaled_rows(rows_.data(), scales_.data(), rankers_, stride, chances_.data());
    const std::uint32_t doc =
        draw({chances_.data(), scores.docs()}, {unplaced_.data(), scores.docs()}, rng);
    shown[rank] = Doc{doc};
    unplaced_[doc] = 0;
    double* credits = credits_.data() + rank * rankers_;
    double total = 0;
    for (std::uint32_t ranker = 0; ranker < rankers_; ++ranker) {
      credits[ranker] = double{weights_[ranker * stride + doc]} * scales_[ranker];
      total += credits[ranker];
    }
    for (std::uint32_t ranker = 0; ranker < rankers_; ++ranker) credits[ranker] /= total;
  }
}

std::span<const Duel> ProbabilisticMultileaving::judge(std::span<const std::uint8_t> clicks,
                                                       Rng& rng) {
  clicked_.clear();
  to_current_.clear();
  for (std::uint32_t rank = 0; rank < clicks.size(); ++rank) {
    if (clicks[rank] == 0) continue;
    clicked_.push_back(rank);
    to_current_.push_back(credit(rank, 0));
  }
  duels_.assign(rankers_ - 1, {});
  if (clicked_.empty()) return duels_;
  if (ties_ == Ties::kByChance) sampled_.reset(to_current_, rng);
  to_candidate_.resize(clicked_.size());
  for (std::uint32_t ranker = 1; ranker < rankers_; ++ranker) {
    for (std::size_t click = 0; click < clicked_.size(); ++click) {
      to_candidate_[click] = credit(clicked_[click], ranker);
    }
    Duel& duel = duels_[ranker - 1];
    duel.expected = exact_.expected_sign(to_candidate_, to_current_);
    duel.won = ties_ == Ties::kByChance ? sampled_.won(duel.expected, to_candidate_, rng)
                                        : duel.expected > 0;
  }
  return duels_;
}

}  // namespace plackett
