// DBGD and MGD with a network of one hidden layer, or with one and a linear part: a block does a
// run, with the bits of DuelingBandit (learner/dueling_bandit.h).
//
// Shared memory holds one ranker's parameters: the current ones, then each candidate's in turn,
// which are made in place of its direction. The current ones also lie in the device's memory, which
// the step changes. A winner's direction is drawn again: it is cheaper to make than to keep. All
// warps draw, score and step; the first one shows the list, watches the clicks and judges.
#pragma once

#include "gpu/block.h"
#include "gpu/duels.h"
#include "gpu/few_docs.h"
#include "gpu/network_candidates.h"

namespace plackett::gpu {

// What the first warp tells the others.
struct DuelBlockState {
  const float* tiles = nullptr;    // of the query that is scored next
  std::uint64_t impression = 0;    // that it is scored for
  std::uint32_t docs = 0;          // of that query
  std::uint32_t goes_on = 0;       // whether there is one
  std::uint32_t winner_count = 0;  // of the impression before
};
static_assert(sizeof(DuelBlockState) <= kBlockStateBytes);

class NetworkDuelLearner : Duels<Alone> {
 public:
  // The first warp judges `alone`. `kept`: the current parameters, in the device's memory. Those in
  // shared memory are the same.
  NetworkDuelLearner(const Block& block, const Alone& alone, const Warp& warp,
                     const BatchArgs& args, const RunData& run, RunState& state,
                     WarpScratch& scratch, float* kept)
      : Duels(alone, warp, args, run, state, scratch),
        block_(block),
        network_(scratch.list.weights, args.network.layout),
        kept_(kept) {}

  [[gnu::always_inline]] void learn(std::uint64_t until) {
    block_.first_warp([&](const Warp& warp) PLACKETT_INLINE {
      if (run_.impressions < until) until = run_.impressions;
      const bool goes_on =
          state_.done < until && state_.is_not_finite == 0 && state_.is_in_doubt == 0;
      if (goes_on) {
        find_query(draw_query(run_.seed, run_.run, state_.done, run_.train.query_count));
      }
      tell(warp, next(goes_on));
    });
    while (block_state().goes_on != 0) {
      const std::uint64_t impression = block_state().impression;
      // Read here: after the scores the first warp may have told of the next query already.
      const bool few = has_few();
      for (std::uint32_t ranker = 0; ranker < ranker_count(); ++ranker) {
        if (ranker > 0) {
          find_scratch();
          draw_direction(impression, ranker - 1);
          find_scratch();
          move_along(ranker - 1);
        }
        find_scratch();
        block_.each_warp([&](const Warp& warp, unsigned number)
                             PLACKETT_INLINE { score(warp, number, ranker); });
        if (!few) continue;
        find_scratch();
        block_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
          sum_share(warp, number, block_.warps(), scored_query(ranker), network_);
        });
      }
      find_scratch();
      block_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
        if (number == 0) {
          tell(warp, judge(until));
        } else {
          restore(warp, number - 1);
          this->fetch_next(warp, number - 1, block_.warps() - 1);
        }
      });
      for (std::uint32_t winner = 0; winner < block_state().winner_count; ++winner) {
        find_scratch();
        draw_direction(impression, won()[winner]);
        step_along(factors()[winner], winner + 1 == block_state().winner_count);
      }
    }
  }

 private:
  [[nodiscard]] std::uint32_t threads() const { return block_.warps() * kWarpLanes; }

  [[nodiscard]] DuelBlockState& block_state() const {
    return *at_offset<DuelBlockState>(scratch_.shared, args_.network.block_state);
  }
  [[gnu::always_inline]] void find_scratch() {
    Duels::find_scratch();
    network_ = Network(list_.weights, args_.network.layout);
  }

  void tell(const Warp& warp, const DuelBlockState& state) {
    warp.each([&](unsigned lane) {
      if (lane == 0) block_state() = state;
    });
  }
  [[nodiscard]] DuelBlockState next(bool goes_on) const {
    return {
        .tiles = tiles_, .impression = state_.done, .docs = docs_, .goes_on = goes_on ? 1U : 0U};
  }

  // Whether the query that is scored has few documents.
  [[nodiscard]] bool has_few() const { return block_state().docs <= args_.network.few_docs; }

  [[nodiscard]] [[gnu::always_inline]] ScoredQuery scored_query(std::uint32_t ranker) const {
    const std::uint32_t docs = block_state().docs;
    const Table table = table_of(docs);
    return {.tiles = block_state().tiles,
            .docs = docs,
            .features = run_.features,
            .scores = table.scores + std::size_t{ranker} * table.stride,
            .has_few = has_few(),
            .given = at_offset<float>(scratch_.shared, unknown(args_.network.given))};
  }

  // The first warp draws the impression's numbers, too.
  [[gnu::always_inline]] void score(const Warp& warp, unsigned number, std::uint32_t ranker) {
    score_share(warp, number, block_.warps(), scored_query(ranker), network_);
    if (number == 0 && ranker == 0) draw_numbers(0);
  }

  // In place of the parameters.
  [[gnu::always_inline]] void draw_direction(std::uint64_t impression, std::uint32_t candidate) {
    block_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      draw_network_direction(warp, number * kWarpLanes, threads(), run_, args_.network.layout,
                             impression, candidate, list_.weights);
    });
  }

  // The direction becomes the candidate's parameters.
  [[gnu::always_inline]] void move_along(std::uint32_t candidate) {
    block_.first_warp([&](const Warp& warp) PLACKETT_INLINE {
      const float length = inverse_length(warp, run_, args_.network.layout, list_.weights);
      warp.each([&](unsigned lane) {
        if (lane == 0) lengths()[candidate] = length;
      });
    });
    const float length = lengths()[candidate];
    each_quad([&](const Quad& kept, const Quad& own, std::uint32_t at) PLACKETT_INLINE {
      quad_at(list_.weights + at) = add_direction(kept, length, own);
    });
  }

  // The current parameters += factor * the direction; the last time, the direction gives way to
  // them.
  [[gnu::always_inline]] void step_along(float factor, bool is_last) {
    each_quad([&](const Quad& kept, const Quad& own, std::uint32_t at) PLACKETT_INLINE {
      const Quad stepped = add_direction(kept, factor, own);
      quad_at(kept_ + at) = stepped;
      if (is_last) quad_at(list_.weights + at) = stepped;
    });
  }

  // body(current parameters, those in shared memory, their place), for all of them. Several loads
  // are under way at a time.
  template <typename Body>
  [[gnu::always_inline]] void each_quad(const Body& body) {
    constexpr unsigned kAtOnce = 4;
    const std::uint32_t size = args_.network.layout.size;
    block_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      warp.compute([&](unsigned lane) PLACKETT_INLINE {
        const std::uint32_t step = unknown(threads()) * 4;
        const auto do_quads = [&]<unsigned kCount>(std::uint32_t at) PLACKETT_INLINE {
          Quad kept[kCount];
          Quad own[kCount];
          PLACKETT_UNROLL_ALL
          for (unsigned quad = 0; quad < kCount; ++quad) {
            kept[quad] = read_quad(kept_ + at + quad * step);
            own[quad] = read_shared_quad(list_.weights + at + quad * step);
          }
          PLACKETT_UNROLL_ALL
          for (unsigned quad = 0; quad < kCount; ++quad) {
            body(kept[quad], own[quad], at + quad * step);
          }
        };
        std::uint32_t at = (number * kWarpLanes + lane) * 4;
        for (; at + (kAtOnce - 1) * step < size; at += kAtOnce * step) {
          do_quads.template operator()<kAtOnce>(at);
        }
        for (; at < size; at += step) do_quads.template operator()<1>(at);
      });
    });
  }
  static Quad& quad_at(float* from) { return *reinterpret_cast<Quad*>(from); }
  static Quad add_direction(const Quad& from, float factor, const Quad& direction) {
    Quad sum;
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < 4; ++at) {
      sum.values[at] = from.values[at] + factor * direction.values[at];
    }
    return sum;
  }

  // The current parameters, by all warps but the first.
  [[gnu::always_inline]] void restore(const Warp& warp, unsigned number) {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      copy_share(kept_, args_.network.layout.size, number * kWarpLanes + lane,
                 (block_.warps() - 1) * kWarpLanes, list_.weights);
    });
  }

  // From the scores to the winners and how far the step goes along their directions, and the next
  // query.
  [[gnu::always_inline]] DuelBlockState judge(std::uint64_t until) {
    const Table table = table_of(docs_);
    if (!are_finite(table)) {
      state_.is_not_finite = 1;
      return {};
    }
    const std::uint32_t stride = direction_stride(run_.duels.parameters);
    const std::uint32_t won = duel(docs_, direction_blocks(run_.duels.candidates, stride));
    if (state_.is_in_doubt != 0) return {};
    if (won > 0) {
      weigh_winners(won);
      count_step();
    }
    ++state_.done;
    DuelBlockState told = next(state_.done < until);
    told.winner_count = won;
    return told;
  }

  // Whether all scores are; -infinity follows them up to the stride.
  [[gnu::always_inline]] bool are_finite(const Table& table) {
    PerLane<bool> bad;
    warp_.compute([&](unsigned lane) {
      bad[lane] = false;
      for (std::uint32_t ranker = 0; ranker < ranker_count(); ++ranker) {
        float* row = table.scores + std::size_t{ranker} * table.stride;
        for (std::uint32_t doc = lane; doc < table.stride; doc += kWarpLanes) {
          if (doc < table.docs) {
            bad[lane] = bad[lane] || 0.0F * row[doc] != 0.0F;
          } else {
            row[doc] = -__builtin_inff();
          }
        }
      }
    });
    warp_.sync();
    return !warp_.any(bad);
  }

  const Block& block_;
  Network network_;
  float* kept_;
};

// As learn_network_run, for duels.
[[gnu::always_inline]] inline void duel_network_run(const Block& block, const BatchArgs& args,
                                                    std::uint32_t place, std::byte* shared,
                                                    std::byte* spill) {
  const std::uint32_t which = args.which[place];
  RunState state = begin_launch(args, which);  // the first warp's counts
  WarpScratch scratch(args, which, shared, spill);
  const auto& run = *reinterpret_cast<const RunData*>(scratch.list.run);
  float* kept = args.weights + std::uint64_t{which} * args.network.layout.size;
  load_run(block, args, which, kept, args.network.layout.size, scratch.list);
  NetworkDuelLearner(block, Alone(block.warp()), block.warp(), args, run, state, scratch, kept)
      .learn(end_of_launch(args, state));
  block.first_warp([&](const Warp& warp) {
    warp.each([&](unsigned lane) {
      if (lane == 0) args.states[which] = end_launch(state);
    });
  });
}

}  // namespace plackett::gpu
