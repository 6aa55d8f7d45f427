// DBGD and MGD with a linear ranker, with the bits of DuelingBandit (learner/dueling_bandit.h).
//
// A warp does a run of DBGD. Its one direction lies in shared memory. A block does a run of MGD: 50
// rows of scores take so much shared memory that a multiprocessor would have few warps otherwise.
// MGD's directions are written once and read by scoring and by the step, so they lie in the spill,
// which caches hold.
#pragma once

#include "gpu/candidates.h"
#include "gpu/document_span.h"
#include "gpu/duels.h"

namespace plackett::gpu {

// kGroup: kDuelGroup or kMultileaveGroup.
template <unsigned kGroup, typename Team>
class DuelLearner : Duels<Team> {
  using Base = Duels<Team>;

 public:
  DuelLearner(const Team& team, typename Base::OwnWarp& warp, const BatchArgs& args,
              const RunData& run, RunState& state, WarpScratch& scratch)
      : Base(team, warp, args, run, state, scratch),
        remembered_(run.duels.projected == 0 ? nullptr
                                             : args.remembered + std::uint64_t{scratch.which} *
                                                                     kRemembered * args.width) {}

  [[gnu::always_inline]] void learn(std::uint64_t until) {
    if (state_.is_in_doubt == 0) this->learn_until(until, *this);
  }
  void end() {
    if (state_.is_in_doubt == 0) RunLearner::end();
  }

  // False, without a change, if a score is not finite; or if the engine must decide a duel.
  [[gnu::always_inline]] bool impression() {
    const float* tiles = tiles_;
    team_.first_warp([&](const Warp&) PLACKETT_INLINE { this->draw_numbers(0); });
    copy_floats(team_, list_.weights, run_.train.width, rankers());
    this->find_scratch();
    draw_directions(team_, run_, state_.done, directions(), this->lengths());
    this->find_scratch();
    const KeptDocs docs = docs_;
    if (!score(docs)) return false;
    const std::uint32_t won =
        this->duel(docs, direction_blocks(run_.duels.candidates, run_.train.width));
    if (state_.is_in_doubt != 0) return false;
    this->find_scratch();
    if (won > 0) step(won, tiles);
    if (winner_count_ > 0 && run_.duels.projected != 0) {
      team_.first_warp([&](const Warp&) PLACKETT_INLINE { remember(tiles); });
    }
    return true;
  }

 private:
  // The number of documents, in a block's memory while it scores. That takes all registers, and
  // what the compiler puts into memory then it reads again wherever it is used, in later loops too.
  using KeptDocs =
      std::conditional_t<Team::kIsAlone, const std::uint32_t, const volatile std::uint32_t>;

  // The current weights, then the directions.
  [[nodiscard]] float* rankers() const {
    return at_offset<float>(kGroup == kDuelGroup ? this->own_shared() : this->own_spill(),
                            layout_.rankers);
  }
  [[nodiscard]] float* directions() const { return rankers() + run_.train.width; }

  // False if a score is not finite.
  [[gnu::always_inline]] bool score(const KeptDocs& kept_docs) {
    const typename Base::Table table = this->table_of(docs_);
    if constexpr (Team::kIsAlone) {
      return score_pair(team_, run_, tiles_, docs_, rankers(), this->lengths(), table.scores,
                        table.stride);
    } else {
      const typename Base::Room room = this->room_beside(table);
      const ScoringJob job = {.tiles = tiles_,
                              .docs = docs_,
                              .width = run_.train.width,
                              .rankers = rankers(),
                              .count = this->ranker_count(),
                              .scores = table.scores,
                              .stride = table.stride,
                              .staged = room.from,
                              .room = room.floats};
      score_rankers(team_, job);
      const typename Base::Table scored = this->table_of(kept_docs);
      return move_scores(team_,
                         {.table = scored.scores,
                          .stride = scored.stride,
                          .docs = scored.docs,
                          .rankers = this->ranker_count()},
                         this->lengths());
    }
  }

  // With those of won().
  [[gnu::always_inline]] void step(std::uint32_t count, const float* tiles) {
    this->weigh_winners(count);
    const bool projected = run_.duels.projected != 0;
    auto* direction = at_offset<float>(this->own_spill(), layout_.direction);
    if (projected) {
      team_.first_warp([&](const Warp& warp) PLACKETT_INLINE {
        warp.compute([&](unsigned lane) {
          for (std::uint32_t at = lane; at < run_.train.width; at += kWarpLanes) direction[at] = 0;
        });
      });
    }
    add_directions(team_, directions(), run_.train.width, this->won(), this->factors(), count,
                   projected ? direction : list_.weights);
    if (projected) {
      team_.first_warp([&](const Warp&) PLACKETT_INLINE { add_projected(direction, tiles); });
    }
    this->count_step();
  }

  using Base::docs_;
  using Base::layout_;
  using Base::list_;
  using Base::run_;
  using Base::shown_;
  using Base::state_;
  using Base::team_;
  using Base::tiles_;
  using Base::warp_;
  using Base::winner_count_;

  // The documents that count as examined, the first of the list. Requires: a click.
  [[nodiscard]] std::uint32_t examined_count() const {
    const std::uint32_t last = list_.winners[winner_count_ - 1];
    const std::uint32_t seen = last + 2 < shown_ ? last + 2 : shown_;
    const std::uint32_t count = seen - 1 + run_.duels.further;
    return count < shown_ ? count : shown_;
  }

  // weights += the learning rate * the unit vector of the direction's projection, which replaces
  // it. By the first warp.
  [[gnu::always_inline]] void add_projected(float* direction, const float* tiles) {
    const std::uint32_t width = run_.train.width;
    const std::uint32_t examined = examined_count();
    DocumentSpan span(warp_, run_.duels, width, at_offset<float>(this->own_spill(), layout_.basis),
                      at_offset<float>(this->own_spill(), layout_.products),
                      at_offset<float>(this->own_spill(), layout_.row));
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

  // Of this list, up to kRemembered documents, the last of those that count as examined. By the
  // first warp.
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
};

// As learn_run_by, by a team.
template <unsigned kGroup, typename Team>
[[gnu::always_inline]] inline void duel_run(const Team& team, const BatchArgs& args,
                                            std::uint32_t place, std::byte* shared,
                                            std::byte* spill) {
  const std::uint32_t which = args.which[place];
  RunState state = begin_launch(args, which);
  WarpScratch scratch(args, which, shared, spill);
  float* kept = args.weights + std::uint64_t{which} * args.width;
  load_run(team, args, which, kept, args.width, scratch.list);
  const auto& run = *reinterpret_cast<const RunData*>(scratch.list.run);
  Warp own = team.warp();
  DuelLearner<kGroup, Team>(team, own, args, run, state, scratch).learn(end_of_launch(args, state));
  copy_floats(team, scratch.list.weights, args.width, kept);
  team.first_warp([&](const Warp& warp) PLACKETT_INLINE {
    warp.compute([&](unsigned lane) {
      if (lane == 0) args.states[which] = end_launch(state);
    });
  });
}

}  // namespace plackett::gpu
