// The pairwise baseline, with the bits of learner/pairwise.cc.
#pragma once

#include "gpu/run_learner.h"
#include "gpu/score.h"

namespace plackett::gpu {

class PairwiseLearner : protected RunLearner {
 public:
  PairwiseLearner(const Warp& warp, const BatchArgs& args, const RunData& run, RunState& state,
                  const WarpScratch& scratch)
      : RunLearner(warp, args, run, state, scratch.list), scratch_(scratch) {}

  [[gnu::always_inline]] void learn(std::uint64_t until) { learn_until(until, *this); }

  using RunLearner::end;
  // False, without a change, if a score is not finite.
  [[gnu::always_inline]] bool impression() {
    draw_numbers(0);
    const double inverse_ideal = inverse_ideal_;
    const float* tiles = tiles_;
    const bool is_finite =
        docs_ <= scratch_.small_docs ? rank(scratch_.small) : rank(scratch_.large);
    if (!is_finite) return false;
    find_query(*list_.query);  // the next impression's, while this one goes on
    click();
    state_.online.add(ndcg(inverse_ideal));
    if (has_pairs()) {
      add_docs(tiles, weigh_docs({}, static_cast<float>(state_.learning_rate)));
      count_step();
    }
    return true;
  }

 protected:
  struct Rest {};

  // Of random numbers: the list's are drawn one by one.
  [[nodiscard]] std::uint32_t blocks_of_list() const { return 0; }

  [[nodiscard]] bool has_pairs() const { return winner_count_ > 0 && loser_count_ > 0; }

  // The list, with its labels; false if a score is not finite.
  [[gnu::always_inline]] bool rank(const DocScratch& of_docs) {
    Scored scored[1];
    score_docs(warp_, tiles_, docs_, run_.train.width,
               {.weights = list_.weights, .scores = of_docs.scores}, scored);
    if (!scored[0].finite) return false;
    draw_shown(of_docs, scored[0].highest);
    return true;
  }

  // The list of the scored documents, with its labels.
  [[gnu::always_inline]] Rest draw_shown(const DocScratch& of_docs, float /*highest*/) {
    shown_ = run_.shown < docs_ ? run_.shown : docs_;
    auto* left = reinterpret_cast<std::uint32_t*>(of_docs.masses);  // documents not yet placed
    warp_.each([&](unsigned lane) {
      for (std::uint32_t doc = lane; doc < docs_; doc += kWarpLanes) {
        left[doc] = doc;
        // So that the best is always the highest.
        if (run_.pairwise.worst_first != 0) of_docs.scores[doc] = -of_docs.scores[doc];
      }
    });
    Stream stream(run_.seed, run_.run, state_.done, Purpose::kRanking);
    for (std::uint32_t rank = 0; rank < shown_; ++rank) {
      const std::uint32_t count = docs_ - rank;
      const bool explores = stream.uniform() < run_.pairwise.epsilon;
      const std::uint32_t at =
          explores ? stream.below(count) : best(of_docs.scores, left, count, stream);
      warp_.each([&](unsigned lane) {
        if (lane != 0) return;
        list_.docs[rank] = left[at];
        left[at] = left[count - 1];
      });
    }
    look_up_labels();
    return {};
  }

  // The place of the highest score among left[0 .. count). The engine goes from place to place, and
  // draws where a score equals the highest so far.
  std::uint32_t best(const float* scores, const std::uint32_t* left, std::uint32_t count,
                     Stream& stream) const {
    std::uint32_t found = 0;
    std::uint32_t equals = 0;
    float highest = -__builtin_inff();
    for (std::uint32_t first = 0; first < count; first += kWarpLanes) {
      PerLane<float> own;
      warp_.compute([&](unsigned lane) {
        own[lane] = first + lane < count ? scores[left[first + lane]] : -__builtin_inff();
      });
      for (unsigned next = 0; next < kWarpLanes;) {
        PerLane<bool> counts;
        warp_.compute([&](unsigned lane) {
          counts[lane] = lane >= next && first + lane < count && own[lane] >= highest;
        });
        const std::uint32_t mask = warp_.mask(counts);
        if (mask == 0) break;
        const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
        const float score = warp_.from(own, lane);
        equals = score == highest ? equals + 1 : 1;
        if (equals == 1 || stream.below(equals) == 0) found = first + lane;
        highest = score;
        next = lane + 1;
      }
    }
    return found;
  }

  // The documents that step, in shown order, into losers, and by how much, times `rate`, into
  // scales; returns how many. Every winner beats every loser, so a document's pairs all have the
  // same sign.
  [[gnu::always_inline]] std::uint32_t weigh_docs(const Rest& /*rest*/, float rate) {
    const float up = rate * static_cast<float>(loser_count_);
    const float down = rate * -static_cast<float>(winner_count_);
    const std::uint32_t seen = winner_count_ + loser_count_;
    float* scales = list_.scales;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t rank = lane; rank < seen; rank += kWarpLanes) scales[rank] = down;
    });
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < winner_count_; at += kWarpLanes) {
        scales[list_.winners[at]] = up;
      }
      for (std::uint32_t rank = lane; rank < seen; rank += kWarpLanes) {
        list_.losers[rank] = list_.docs[rank];
      }
    });
    return seen;
  }

  const WarpScratch& scratch_;
};

}  // namespace plackett::gpu
