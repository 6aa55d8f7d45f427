// PDGD: sample a list, watch the clicks, step. With the bits of learner/pdgd.cc for a linear
// ranker.
#pragma once

#include "gpu/run_learner.h"
#include "gpu/sample.h"
#include "gpu/score.h"
#include "sampling/swap_odds.h"

namespace plackett::gpu {

class PdgdLearner : protected RunLearner {
 public:
  PdgdLearner(const Warp& warp, const BatchArgs& args, const RunData& run, RunState& state,
              const WarpScratch& scratch)
      : RunLearner(warp, args, run, state, scratch.list), scratch_(scratch) {}

  [[gnu::always_inline]] void learn(std::uint64_t until) { learn_until(until, *this); }

  using RunLearner::end;
  // False, without a change, if a score is not finite.
  [[gnu::always_inline]] bool impression() {
    draw_numbers(blocks_of_list());
    const double inverse_ideal = inverse_ideal_;
    const float* tiles = tiles_;
    Mass rest;
    // Where the scratch is known to be shared memory, it is reached faster.
    const bool is_finite =
        docs_ <= scratch_.small_docs ? sample(scratch_.small, rest) : sample(scratch_.large, rest);
    if (!is_finite) return false;
    find_query(*list_.query);  // the next impression's, while this one goes on
    click();
    state_.online.add(ndcg(inverse_ideal));
    if (has_pairs()) step(tiles, rest);
    return true;
  }

 protected:
  using Rest = Mass;

  // The list, with its labels and scores; false if a score is not finite.
  [[gnu::always_inline]] bool sample(const DocScratch& of_docs, Mass& rest) {
    Scored scored[1];
    score_docs(warp_, tiles_, docs_, run_.train.width,
               {.weights = list_.weights, .scores = of_docs.scores}, scored);
    if (!scored[0].finite) return false;
    rest = draw_shown(of_docs, scored[0].highest);
    return true;
  }

  // The list, with its labels and scores, and the mass of the other documents.
  [[gnu::always_inline]] Mass draw_shown(const DocScratch& of_docs, float highest) {
    shown_ = run_.shown < docs_ ? run_.shown : docs_;
    const Mass rest = draw_list(warp_, of_docs, docs_, highest, list_.uniforms, shown_, list_.docs);
    const std::uint8_t* labels = run_.train.labels + begin_;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t rank = lane; rank < shown_; rank += kWarpLanes) {
        list_.scores[rank] = of_docs.scores[list_.docs[rank]];
        note_label(labels, rank);  // the uniforms are used up
      }
    });
    return rest;
  }

  // Of random numbers.
  [[nodiscard]] std::uint32_t blocks_of_list() const { return (run_.shown + 1) / 2; }

  [[nodiscard]] bool has_pairs() const {
    if (winner_count_ == 0 || loser_count_ == 0) return false;
    return run_.only_above == 0 || list_.losers[0] < list_.winners[winner_count_ - 1];
  }

  [[gnu::always_inline]] void step(const float* tiles, const Mass& rest) {
    add_docs(tiles, weigh_docs(rest, static_cast<float>(state_.learning_rate)));
    count_step();
  }

  // The documents that step, in shown order, into losers, and by how much, times `rate`, into
  // scales; returns how many.
  [[gnu::always_inline]] std::uint32_t weigh_docs(const Mass& rest, float rate) {
    weigh_pairs(rest);
    return scale_ranks(rate);
  }

  // The weight of each pair of a winner and a loser, [winner][loser].
  [[gnu::always_inline]] void weigh_pairs(const Mass& rest) {
    double lowest = list_.scores[0];
    double highest = lowest;
    PLACKETT_UNROLL(4)
    for (std::uint32_t rank = 1; rank < shown_; ++rank) {
      const double score = list_.scores[rank];
      if (score < lowest) lowest = score;
      if (score > highest) highest = score;
    }
    const double rest_plain = swap_odds::plain_rest(rest, highest);
    const bool is_plain = swap_odds::plain_in_range(shown_, lowest, highest, rest_plain);
    double* plain_from = list_.plain + shown_;
    if (is_plain) {
      warp_.each([&](unsigned lane) {
        for (std::uint32_t rank = lane; rank < shown_; rank += kWarpLanes) {
          list_.plain[rank] = portable_exp(list_.scores[rank] - highest);
        }
      });
      double sum = rest_plain;
      plain_from[shown_] = sum;
      PLACKETT_UNROLL(4)
      for (std::uint32_t rank = shown_; rank-- > 0;) {
        sum += list_.plain[rank];
        plain_from[rank] = sum;
      }
    } else {
      Mass mass = rest;
      list_.mass_from[shown_] = mass;
      for (std::uint32_t rank = shown_; rank-- > 0;) {
        swap_odds::add(mass, list_.scores[rank]);
        list_.mass_from[rank] = mass;
      }
    }
    warp_.sync();
    warp_.each([&](unsigned lane) {
      for (std::uint32_t pair = lane; pair < winner_count_ * loser_count_; pair += kWarpLanes) {
        const std::uint32_t winner = list_.winners[pair / loser_count_];
        const std::uint32_t loser = list_.losers[pair % loser_count_];
        const std::uint32_t upper = winner < loser ? winner : loser;
        const std::uint32_t lower = winner < loser ? loser : winner;
        const double rho =
            is_plain ? swap_odds::rho_plain(list_.plain, plain_from, upper, lower)
                     : swap_odds::rho_any_range(list_.scores, list_.mass_from, upper, lower);
        double difference = list_.scores[winner] - list_.scores[loser];
        if (run_.sharpness != 1) difference /= run_.sharpness;
        list_.pairs[pair] =
            rho * swap_odds::pair_gradient(portable_exp(difference < 0 ? difference : -difference));
      }
    });
  }

  // Sums the pairs by rank, in the order of sum_by_rank, for weigh_docs().
  std::uint32_t scale_ranks(float rate) {
    double* sums = list_.uniforms;  // which are used up
    warp_.each([&](unsigned lane) {
      for (std::uint32_t rank = lane; rank < shown_; rank += kWarpLanes) sums[rank] = 0;
    });
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < winner_count_ + loser_count_; at += kWarpLanes) {
        double sum = 0;
        if (at < winner_count_) {
          const std::uint32_t rank = list_.winners[at];
          for (std::uint32_t loser = 0; loser < loser_count_; ++loser) {
            if (run_.only_above != 0 && list_.losers[loser] > rank) break;
            sum += list_.pairs[at * loser_count_ + loser];
          }
          sums[rank] = sum;
        } else {
          const std::uint32_t loser = at - winner_count_;
          const std::uint32_t rank = list_.losers[loser];
          for (std::uint32_t winner = 0; winner < winner_count_; ++winner) {
            if (run_.only_above != 0 && list_.winners[winner] < rank) continue;
            sum -= list_.pairs[winner * loser_count_ + loser];
          }
          sums[rank] = sum;
        }
      }
    });
    std::uint32_t count = 0;
    PLACKETT_UNROLL(2)
    for (std::uint32_t rank = 0; rank < shown_; ++rank) {
      const double sum = sums[rank];
      if (sum == 0) continue;
      list_.losers[count] = list_.docs[rank];
      list_.scales[count] = rate * static_cast<float>(sum);
      ++count;
    }
    warp_.sync();
    return count;
  }

  const WarpScratch& scratch_;
};

[[gnu::always_inline]] inline void learn_run(const Warp& warp, const BatchArgs& args,
                                             std::uint32_t place, std::byte* shared,
                                             std::byte* spill) {
  learn_run_by<PdgdLearner>(warp, args, place, shared, spill);
}

}  // namespace plackett::gpu
