// DBGD and MGD with a linear ranker, with the bits of DuelingBandit (learner/dueling_bandit.h).
//
// A warp does a run. The directions are written once and read by scoring and by the step, so they
// lie in the spill, which caches hold. The one direction of DBGD lies in shared memory.
#pragma once

#include "gpu/candidates.h"
#include "gpu/document_span.h"
#include "gpu/duels.h"

namespace plackett::gpu {

// kGroup: kDuelGroup or kMultileaveGroup.
template <unsigned kGroup>
class DuelLearner : Duels {
 public:
  DuelLearner(const Warp& warp, const BatchArgs& args, const RunData& run, RunState& state,
              const WarpScratch& scratch)
      : Duels(warp, args, run, state, scratch),
        remembered_(run.duels.projected == 0 ? nullptr
                                             : args.remembered + std::uint64_t{scratch.which} *
                                                                     kRemembered * args.width),
        rankers_(
            at_offset<float>(kGroup == kDuelGroup ? own_shared_ : own_spill_, layout_.rankers)) {}

  [[gnu::always_inline]] void learn(std::uint64_t until) {
    if (state_.is_in_doubt == 0) learn_until(until, *this);
  }
  void end() {
    if (state_.is_in_doubt == 0) RunLearner::end();
  }

  // False, without a change, if a score is not finite; or if the engine must decide a duel.
  [[gnu::always_inline]] bool impression() {
    draw_numbers(0);
    const float* tiles = tiles_;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < run_.train.width; at += kWarpLanes) {
        rankers_[at] = list_.weights[at];
      }
    });
    draw_directions(warp_, run_, state_.done, directions(), lengths());
    const Table table = table_of(docs_);
    if (!score_candidates<kGroup>(warp_, run_, tiles_, docs_, rankers_, lengths(), table.scores,
                                  table.stride)) {
      return false;
    }
    const std::uint32_t won =
        duel(table, direction_blocks(run_.duels.candidates, run_.train.width));
    if (state_.is_in_doubt != 0) return false;
    if (won > 0) step(won, tiles);
    if (winner_count_ > 0 && run_.duels.projected != 0) remember(tiles);
    return true;
  }

 private:
  [[nodiscard]] float* directions() const { return rankers_ + run_.train.width; }

  // With those of won().
  [[gnu::always_inline]] void step(std::uint32_t count, const float* tiles) {
    weigh_winners(count);
    const bool projected = run_.duels.projected != 0;
    auto* direction = at_offset<float>(own_spill_, layout_.direction);
    if (projected) {
      warp_.each([&](unsigned lane) {
        for (std::uint32_t at = lane; at < run_.train.width; at += kWarpLanes) direction[at] = 0;
      });
    }
    add_directions(warp_, directions(), run_.train.width, won(), factors(), count,
                   projected ? direction : list_.weights);
    if (projected) add_projected(direction, tiles);
    count_step();
  }

  // The documents that count as examined, the first of the list. Requires: a click.
  [[nodiscard]] std::uint32_t examined_count() const {
    const std::uint32_t last = list_.winners[winner_count_ - 1];
    const std::uint32_t seen = last + 2 < shown_ ? last + 2 : shown_;
    const std::uint32_t count = seen - 1 + run_.duels.further;
    return count < shown_ ? count : shown_;
  }

  // weights += the learning rate * the unit vector of the direction's projection, which replaces
  // it.
  [[gnu::always_inline]] void add_projected(float* direction, const float* tiles) {
    const std::uint32_t width = run_.train.width;
    const std::uint32_t examined = examined_count();
    DocumentSpan span(warp_, run_.duels, width, at_offset<float>(own_spill_, layout_.basis),
                      at_offset<float>(own_spill_, layout_.products),
                      at_offset<float>(own_spill_, layout_.row));
    for (std::uint32_t row = 0; row < examined + kRemembered; ++row) {
      const bool is_shown = row < examined;
      const std::uint32_t doc = is_shown ? list_.docs[row] : 0;
      const float* old = remembered_ + std::size_t{is_shown ? 0 : row - examined} * width;
      span.add([&](std::uint32_t feature) {
        return is_shown ? tiles[feature_place(doc, feature, width)] : old[feature];
      });
    }
    span.project(direction);
    const float norm = square_root(dot(warp_, direction, direction, width));
    if (!(norm > 0)) return;
    const auto scale = static_cast<float>(state_.learning_rate / norm);
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < width; at += kWarpLanes) {
        list_.weights[at] += scale * direction[at];
      }
    });
  }

  // Of this list, up to kRemembered documents, the last of those that count as examined.
  [[gnu::always_inline]] void remember(const float* tiles) {
    const std::uint32_t width = run_.train.width;
    const std::uint32_t examined = examined_count();
    const std::uint32_t fresh = examined < kRemembered ? examined : kRemembered;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < width; at += kWarpLanes) {
        for (std::uint32_t row = 0; row < kRemembered; ++row) {
          const std::uint32_t from = row + fresh;
          remembered_[std::size_t{row} * width + at] =
              from < kRemembered
                  ? remembered_[std::size_t{from} * width + at]
                  : tiles[feature_place(list_.docs[examined + from - kRemembered - fresh], at,
                                        width)];
        }
      }
    });
  }

  float* remembered_;  // [kRemembered][width], the run's, if its steps are projected
  float* rankers_;
};

}  // namespace plackett::gpu
