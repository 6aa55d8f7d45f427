// What DBGD and MGD do once rankers have scored a query, with the bits of DuelingBandit
// (learner/dueling_bandit.h): their lists are shown as one, and clicks decide who won.
//
// What an impression needs of 49 candidates is 50 rows of scores, one per ranker, which become the
// rankers' weights of the documents: they lie in shared memory.
#pragma once

#include "gpu/click_credit.h"
#include "gpu/probabilistic.h"
#include "gpu/random_ranks.h"
#include "gpu/run_learner.h"

namespace plackett::gpu {

class Duels : protected RunLearner {
 public:
  Duels(const Warp& warp, const BatchArgs& args, const RunData& run, RunState& state,
        const WarpScratch& scratch)
      : RunLearner(warp, args, run, state, scratch.list),
        small_(scratch.duels_shared),
        large_(scratch.spill),
        layout_(args.duels.layout),
        own_shared_(small_ + args.duels.small.size),
        own_spill_(large_ + args.duels.large.size) {}

 protected:
  // The scratch of the query's documents.
  struct Table {
    [[gnu::always_inline]] Table(std::byte* from, const TableLayout& layout, std::uint32_t count)
        : ranks(at_offset<std::uint32_t>(from, layout.ranks)),
          order(at_offset<std::uint32_t>(from, layout.order)),
          chances(at_offset<float>(from, layout.ranks)),
          unplaced(at_offset<float>(from, layout.unplaced)),
          scores(at_offset<float>(from, layout.table)),
          stride(table_stride(count)),
          docs(count) {}

    std::uint32_t* ranks;
    std::uint32_t* order;
    float* chances;  // in the place of the ranks
    float* unplaced;
    float* scores;
    std::uint32_t stride;
    std::uint32_t docs;
  };

  [[nodiscard]] [[gnu::always_inline]] Table table_of(std::uint32_t docs) const {
    const bool fits = docs <= args_.duels.small.docs;
    return Table(fits ? small_ : large_, fits ? args_.duels.small : args_.duels.large, docs);
  }

  // The impression, once the query is scored: its random numbers follow that many blocks of the
  // directions. Finds the next query. Returns how many candidates won; they are in won(), in order.
  // Or is_in_doubt is set.
  [[gnu::always_inline]] std::uint32_t duel(const Table& table, std::uint32_t direction_blocks) {
    const double inverse_ideal = inverse_ideal_;
    Stream stream(run_.seed, run_.run, state_.done, Purpose::kRanking);
    stream.skip_blocks(direction_blocks);
    shown_ = run_.shown < docs_ ? run_.shown : docs_;
    if (run_.duels.team_draft != 0) {
      show_team_draft(table, stream);
    } else {
      show_probabilistic(table, stream);
    }
    look_up_labels();
    find_query(*list_.query);  // the next impression's, while this one goes on
    click();
    state_.online.add(ndcg(inverse_ideal));
    if (winner_count_ == 0) return 0;
    return run_.duels.team_draft != 0 ? judge_team_draft() : judge_probabilistic(table, stream);
  }

  // How far the step goes along the directions of so many winners.
  [[gnu::always_inline]] void weigh_winners(std::uint32_t count) {
    const double rate = state_.learning_rate / static_cast<double>(count);
    warp_.sync();
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < count; at += kWarpLanes) {
        factors()[at] = static_cast<float>(rate * lengths()[won()[at]]);
      }
    });
  }

  [[nodiscard]] std::uint32_t ranker_count() const { return run_.duels.candidates + 1; }
  [[nodiscard]] float* lengths() const { return at_offset<float>(own_shared_, layout_.lengths); }
  [[nodiscard]] float* factors() const { return at_offset<float>(own_shared_, layout_.factors); }
  [[nodiscard]] std::uint32_t* won() const {
    return at_offset<std::uint32_t>(own_shared_, layout_.won);
  }

 private:
  [[nodiscard]] float* scales() const {
    return at_offset<float>(layout_.scales_are_spilled ? own_spill_ : own_shared_, layout_.scales);
  }
  // Team draft, in the place of the scales.
  [[nodiscard]] std::uint32_t* turns() const { return reinterpret_cast<std::uint32_t*>(scales()); }
  [[nodiscard]] std::uint32_t* had_turn() const { return turns() + ranker_count(); }
  [[nodiscard]] std::uint32_t* owners() const { return had_turn() + ranker_count(); }

  // The ranker's scores become `value_of` their ranks, followed by zeros.
  template <typename ValueOf>
  [[gnu::always_inline]] void replace_by_ranks(const Table& table, std::uint32_t ranker,
                                               Stream& stream, const ValueOf& value_of) {
    float* row = table.scores + std::size_t{ranker} * table.stride;
    rank_docs(warp_, row, table.docs, table.ranks, table.order, stream);
    warp_.each([&](unsigned lane) {
      for (std::uint32_t doc = lane; doc < table.stride; doc += kWarpLanes) {
        row[doc] = doc < table.docs ? value_of(static_cast<float>(table.ranks[doc])) : 0.0F;
      }
    });
  }

  [[gnu::always_inline]] void mark_all_unplaced(const Table& table) {
    warp_.each([&](unsigned lane) {
      for (std::uint32_t doc = lane; doc < table.stride; doc += kWarpLanes) {
        table.unplaced[doc] = doc < table.docs ? 1.0F : 0.0F;
      }
    });
  }

  [[gnu::always_inline]] void show_probabilistic(const Table& table, Stream& stream) {
    for (std::uint32_t ranker = 0; ranker < ranker_count(); ++ranker) {
      replace_by_ranks(table, ranker, stream, [](float above) {
        const float rank = above + 1.0F;
        return 1.0F / (rank * (rank * rank));
      });
    }
    mark_all_unplaced(table);
    show_multileaved(warp_,
                     {.table = table.scores,
                      .stride = table.stride,
                      .docs = table.docs,
                      .rankers = ranker_count(),
                      .unplaced = table.unplaced,
                      .chances = table.chances,
                      .scales = scales()},
                     shown_, stream, list_.docs);
  }

  // As TeamDraftMultileaving::show.
  [[gnu::always_inline]] void show_team_draft(const Table& table, Stream& stream) {
    const std::uint32_t count = ranker_count();
    warp_.compute([&](unsigned lane) {
      for (std::uint32_t ranker = lane; ranker < count; ranker += kWarpLanes) {
        turns()[ranker] = ranker;
        had_turn()[ranker] = 0;
      }
    });
    mark_all_unplaced(table);
    std::uint32_t turn = 0;
    for (std::uint32_t rank = 0; rank < shown_; ++rank) {
      const std::uint32_t drawn = turn + stream.below(count - turn);
      const std::uint32_t ranker = turns()[drawn];
      const bool is_first = had_turn()[ranker] == 0;
      warp_.sync();
      warp_.each([&](unsigned lane) {
        if (lane != 0) return;
        turns()[drawn] = turns()[turn];
        turns()[turn] = ranker;
        had_turn()[ranker] = 1;
        owners()[rank] = ranker;
      });
      if (is_first) replace_by_ranks(table, ranker, stream, [](float above) { return above; });
      const std::uint32_t doc =
          best_unplaced(table, table.scores + std::size_t{ranker} * table.stride);
      warp_.each([&](unsigned lane) {
        if (lane != 0) return;
        list_.docs[rank] = doc;
        table.unplaced[doc] = 0;
      });
      turn = turn + 1 == count ? 0 : turn + 1;
    }
  }

  // The unplaced document of the least rank.
  [[gnu::always_inline]] std::uint32_t best_unplaced(const Table& table, const float* ranks) {
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    PerLane<std::uint32_t> least;
    PerLane<std::uint32_t> found;
    warp_.compute([&](unsigned lane) {
      least[lane] = kNone;
      found[lane] = kNone;
      for (std::uint32_t doc = lane; doc < table.docs; doc += kWarpLanes) {
        const auto rank = static_cast<std::uint32_t>(ranks[doc]);
        if (table.unplaced[doc] == 0 || rank >= least[lane]) continue;
        least[lane] = rank;
        found[lane] = doc;
      }
    });
    const std::uint32_t best = warp_.least(least);
    warp_.compute([&](unsigned lane) {
      if (least[lane] != best) found[lane] = kNone;
    });
    return warp_.least(found);
  }

  // Appends the candidates that won to won(), 32 at a time.
  [[gnu::always_inline]] std::uint32_t note_winners(std::uint32_t first, std::uint32_t mask,
                                                    std::uint32_t count) {
    warp_.compute([&](unsigned lane) {
      const std::uint32_t above = (std::uint32_t{1} << lane) - 1;
      if ((mask >> lane & 1) != 0) {
        won()[count + static_cast<std::uint32_t>(__builtin_popcount(mask & above))] = first + lane;
      }
    });
    return count + static_cast<std::uint32_t>(__builtin_popcount(mask));
  }

  // How many candidates won; they are in won(), in order.
  [[gnu::always_inline]] std::uint32_t judge_team_draft() {
    std::uint32_t count = 0;
    for (std::uint32_t first = 0; first < run_.duels.candidates; first += kWarpLanes) {
      PerLane<bool> wins;
      warp_.compute([&](unsigned lane) {
        const std::uint32_t ranker = first + lane + 1;
        std::uint32_t of_current = 0;
        std::uint32_t own = 0;
        for (std::uint32_t click = 0; click < winner_count_; ++click) {
          const std::uint32_t owner = owners()[list_.winners[click]];
          of_current += owner == 0 ? 1U : 0U;
          own += owner == ranker ? 1U : 0U;
        }
        wins[lane] = ranker < ranker_count() && own > of_current;
      });
      count = note_winners(first, warp_.mask(wins), count);
    }
    return count;
  }

  // Likewise, as ProbabilisticMultileaving::judge.
  [[gnu::always_inline]] std::uint32_t judge_probabilistic(const Table& table, Stream& stream) {
    const Credits credits{.table = table.scores,
                          .stride = table.stride,
                          .rankers = ranker_count(),
                          .scales = scales(),
                          .docs = list_.docs,
                          .ranks = list_.winners,
                          .clicks = winner_count_,
                          .totals = list_.plain,
                          .to_current = list_.plain + shown_};
    sum_credits(warp_, credits);
    const std::uint32_t counts = winner_count_ + 1;
    const bool by_chance = run_.duels.by_chance != 0;
    SampledScratch sampled;
    if (by_chance) {
      sampled.chances = at_offset<double>(own_spill_, layout_.chances);
      sampled.noise = sampled.chances + std::size_t{2} * counts;
      sampled.terms = sampled.noise + counts;
      sampled.joint = at_offset<double>(own_spill_, layout_.joint);
      draw_samples(warp_, credits, sampled, stream);
    }
    double* differences = at_offset<double>(own_spill_, layout_.differences);
    const std::uint32_t lanes =
        run_.duels.candidates < kWarpLanes ? run_.duels.candidates : kWarpLanes;
    std::uint32_t count = 0;
    for (std::uint32_t first = 0; first < run_.duels.candidates; first += kWarpLanes) {
      PerLane<double> expected;
      PerLane<bool> wins;
      PerLane<bool> near;
      warp_.compute([&](unsigned lane) {
        wins[lane] = near[lane] = false;
        expected[lane] = 0;
        const std::uint32_t ranker = first + lane + 1;
        if (ranker >= ranker_count()) return;
        expected[lane] = expected_sign(credits, ranker, differences + lane, lanes);
        near[lane] = by_chance && is_near(expected[lane]);
        wins[lane] = expected[lane] > 0 && !near[lane];
      });
      std::uint32_t mask = warp_.mask(wins);
      std::uint32_t left = warp_.mask(near);
      while (left != 0) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        left &= left - 1;
        const double lead = sampled_lead(warp_, credits, first + lane + 1,
                                         warp_.from(expected, lane), sampled, stream);
        if ((lead < 0 ? -lead : lead) <= lead_error(winner_count_, run_.duels.normal_error)) {
          state_.is_in_doubt = 1;
          return 0;
        }
        if (lead > 0) mask |= std::uint32_t{1} << lane;
      }
      count = note_winners(first, mask, count);
    }
    return count;
  }

 protected:
  std::byte* small_;  // where tables lie
  std::byte* large_;
  const DuelLayout& layout_;
  std::byte* own_shared_;
  std::byte* own_spill_;
};

}  // namespace plackett::gpu
