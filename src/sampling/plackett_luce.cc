#include "plackett/plackett_luce.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/kernels.h"
#include "base/portable_exp.h"
#include "sampling/swap_odds.h"

namespace plackett {
namespace {

// A draw finds its block, then its document in the block.
constexpr std::size_t kBlock = 16;

// If less than this is left, the unplaced documents lie so far below the placed ones that their
// masses lose digits; they are then taken relative to their own maximum.
constexpr double kRebaseBelow = 1e-250;

double sum_block(const double* masses) {
  static_assert(kBlock == 16);
  double sums[4];
  for (std::size_t i = 0; i < 4; ++i) {
    sums[i] = (masses[i] + masses[i + 4]) + (masses[i + 8] + masses[i + 12]);
  }
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// The masses of documents not yet placed, in blocks with their sums.
class Urn {
 public:
  Urn(std::span<const float> scores, SamplingScratch& scratch)
      : scores_(scores), masses_(scratch.masses), block_sums_(scratch.block_sums) {
    const std::size_t blocks = (scores.size() + kBlock - 1) / kBlock;
    if (block_sums_.size() < blocks) {
      masses_.resize(blocks * kBlock);
      block_sums_.resize(blocks);
    }
    block_count_ = blocks;
    std::fill(masses_.begin() + static_cast<std::ptrdiff_t>(scores.size()),
              masses_.begin() + static_cast<std::ptrdiff_t>(blocks * kBlock), 0.0);
    shift_ = kernels().exp_from_max(scores.data(), scores.size(), masses_.data());
    sum_blocks();
  }

  // Requires: a document is left.
  Doc draw(double uniform) {
    double target = uniform * total_;
    std::size_t block = 0;
    while (block + 1 < block_count_ && target >= block_sums_[block]) {
      target -= block_sums_[block];
      ++block;
    }
    // Rounding may point past the last mass of a block, or to an empty block.
    while (block > 0 && block_sums_[block] == 0) --block;
    const double* masses = masses_.data() + block * kBlock;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (masses[i] == 0) continue;
      chosen = i;
      if (target < masses[i]) break;
      target -= masses[i];
    }
    return Doc{static_cast<std::uint32_t>(block * kBlock + chosen)};
  }

  // Removes `doc`; `placed` are all removed so far, including `doc`.
  void remove(Doc doc, std::span<const Doc> placed) {
    const std::size_t block = index(doc) / kBlock;
    masses_[index(doc)] = 0;
    block_sums_[block] = sum_block(masses_.data() + block * kBlock);
    sum_total();
    if (total_ < kRebaseBelow && placed.size() < scores_.size()) rebase(placed);
  }

  [[nodiscard]] Mass rest() const { return total_ == 0 ? Mass{} : Mass{shift_, total_}; }

 private:
  void sum_blocks() {
    for (std::size_t block = 0; block < block_count_; ++block) {
      block_sums_[block] = sum_block(masses_.data() + block * kBlock);
    }
    sum_total();
  }

  void sum_total() {
    total_ = 0;
    for (std::size_t block = 0; block < block_count_; ++block) total_ += block_sums_[block];
  }

  void rebase(std::span<const Doc> placed) {
    // Marks the placed ones with a mass that exp never gives.
    for (const Doc doc : placed) masses_[index(doc)] = -1;
    double max = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      if (masses_[i] >= 0) max = std::max(max, static_cast<double>(scores_[i]));
    }
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      masses_[i] = masses_[i] < 0 ? 0 : portable_exp(scores_[i] - max);
    }
    shift_ = max;
    sum_blocks();
  }

  std::span<const float> scores_;
  std::vector<double>& masses_;
  std::vector<double>& block_sums_;
  std::size_t block_count_ = 0;
  double shift_ = 0;
  double total_ = 0;
};

}  // namespace

Mass sample_ranking(std::span<const float> scores, Rng& rng, SamplingScratch& scratch,
                    std::span<Doc> ranking) {
  assert(!ranking.empty() && ranking.size() <= scores.size());
  Urn urn(scores, scratch);
  for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
    ranking[rank] = urn.draw(rng.uniform());
    urn.remove(ranking[rank], ranking.first(rank + 1));
  }
  return urn.rest();
}

Mass rest_mass(std::span<const double> scores, std::span<const Doc> shown) {
  std::vector<bool> is_shown(scores.size());
  for (const Doc doc : shown) is_shown[index(doc)] = true;
  Mass rest;
  for (std::size_t doc = 0; doc < scores.size(); ++doc) {
    if (!is_shown[doc]) rest.add(scores[doc]);
  }
  return rest;
}

double log_probability(std::span<const double> shown_scores, const Mass& rest) {
  Mass left = rest;
  double log_probability = 0;
  for (std::size_t rank = shown_scores.size(); rank-- > 0;) {
    left.add(shown_scores[rank]);
    log_probability += (shown_scores[rank] - left.shift) - std::log(left.sum);
  }
  return log_probability;
}

void SwapOdds::reset(std::span<const double> shown_scores, const Mass& rest) {
  const std::size_t k = shown_scores.size();
  scores_.assign(shown_scores.begin(), shown_scores.end());

  const auto [lowest, highest] = std::minmax_element(scores_.begin(), scores_.end());
  const double reference = *highest;
  const double rest_plain = swap_odds::plain_rest(rest, reference);
  plain_in_range_ = swap_odds::plain_in_range(k, *lowest, reference, rest_plain);

  if (plain_in_range_) {
    plain_.resize(k);
    plain_from_.resize(k + 1);
    for (std::size_t rank = 0; rank < k; ++rank) plain_[rank] = scores_[rank] - reference;
    kernels().exp_each(plain_.data(), k);
    plain_from_[k] = rest_plain;
    for (std::size_t rank = k; rank-- > 0;) {
      plain_from_[rank] = plain_from_[rank + 1] + plain_[rank];
    }
  } else {
    from_.resize(k + 1);
    from_[k] = rest;
    for (std::size_t rank = k; rank-- > 0;) {
      from_[rank] = from_[rank + 1];
      swap_odds::add(from_[rank], scores_[rank]);
    }
  }
}

double SwapOdds::rho(std::uint32_t rank, std::uint32_t other_rank) const {
  assert(rank != other_rank && std::max(rank, other_rank) < scores_.size());
  const std::uint32_t upper = std::min(rank, other_rank);
  const std::uint32_t lower = std::max(rank, other_rank);
  return plain_in_range_ ? swap_odds::rho_plain(plain_.data(), plain_from_.data(), upper, lower)
                         : swap_odds::rho_any_range(scores_.data(), from_.data(), upper, lower);
}

}  // namespace plackett
