// What DBGD and MGD do once rankers have scored a query, with the bits of DuelingBandit
// (learner/dueling_bandit.h): their lists are shown as one, and clicks decide who won.
//
// What an impression needs of 49 candidates is 50 rows of scores, one per ranker, which become the
// rankers' weights of the documents: they lie in shared memory. A team does it: a warp alone, or a
// block, whose warps divide the rankers and the documents among themselves.
#pragma once

#include <type_traits>

#include "gpu/block.h"
#include "gpu/click_credit.h"
#include "gpu/probabilistic.h"
#include "gpu/random_ranks.h"
#include "gpu/run_learner.h"

namespace plackett::gpu {

// What the first warp tells the others.
struct DuelTold {
  std::uint32_t query = 0;   // the next one
  std::uint32_t clicks = 0;  // on the list
  std::uint32_t won = 0;     // candidates
  std::uint32_t near = 0;    // duels that samples decide
  std::uint32_t doubt = 0;   // is_in_doubt
};
static_assert(sizeof(DuelTold) <= kDuelToldBytes);

// Of the runs' state, the first warp's counts are the run's.
template <typename Team>
class Duels : protected RunLearner {
 public:
  using OwnWarp = std::conditional_t<Team::kIsAlone, const Warp, Warp>;

  // `warp` is the team's.
  Duels(const Team& team, OwnWarp& warp, const BatchArgs& args, const RunData& run, RunState& state,
        WarpScratch& scratch)
      : RunLearner(warp, args, run, state, scratch.list),
        team_(team),
        own_warp_(warp),
        layout_(args.duels.layout),
        scratch_(scratch) {}

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

    // A warp's own.
    [[nodiscard]] [[gnu::always_inline]] std::uint32_t* ranks_of(unsigned number) const {
      return ranks + std::size_t{number} * stride;
    }

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
    return Table(fits ? scratch_.duels_shared : scratch_.spill,
                 fits ? args_.duels.small : args_.duels.large, docs);
  }

  // Shared memory that the documents' scores leave free.
  struct Room {
    float* from = nullptr;
    std::uint32_t floats = 0;
  };
  [[nodiscard]] [[gnu::always_inline]] Room room_beside(const Table& table) const {
    const bool is_shared = table.docs <= args_.duels.small.docs;
    const std::uint32_t taken = is_shared ? ranker_count() * table.stride : 0;
    return {.from = at_offset<float>(scratch_.duels_shared, 0) + taken,
            .floats = args_.duels.small.size / static_cast<std::uint32_t>(sizeof(float)) - taken};
  }

  // An offset whose sums with others a block computes where it needs them: find_again of the
  // scratch keeps addresses from living through phases, this what is added to them.
  [[nodiscard]] [[gnu::always_inline]] static std::uint32_t not_kept(std::uint32_t offset) {
    return Team::kIsAlone ? offset : unknown(offset);
  }

  void find_scratch() {
    scratch_.find_again(args_);
    if constexpr (!Team::kIsAlone) own_warp_.find_again();
  }

  // The impression, once the query's `docs` are scored: its random numbers follow that many blocks
  // of the directions. Finds the next query. Returns how many candidates won; they are in won(), in
  // order. Or is_in_doubt is set.
  [[gnu::always_inline]] std::uint32_t duel(std::uint32_t docs, std::uint32_t direction_blocks) {
    Stream stream(run_.seed, run_.run, state_.done, Purpose::kRanking);
    stream.skip_blocks(direction_blocks);
    shown_ = run_.shown < docs ? run_.shown : docs;
    const bool team_draft = run_.duels.team_draft != 0;
    find_scratch();
    if (team_draft) {
      team_.first_warp([&](const Warp&)
                           PLACKETT_INLINE { show_team_draft(table_of(docs), stream); });
    } else {
      show_probabilistic(docs, stream);
    }
    find_scratch();
    team_.first_warp([&](const Warp& warp) PLACKETT_INLINE {
      look_up_labels();
      click();
      state_.online.add(ndcg(inverse_ideal_));
      if (winner_count_ > 0 && !team_draft) sum_credits(warp, credits(table_of(docs)));
      warp.each([&](unsigned lane) {
        if (lane == 0) told() = {.query = *list_.query, .clicks = winner_count_};
      });
    });
    winner_count_ = told().clicks;
    find_query(told().query);  // the next impression's, while this one goes on
    if (winner_count_ == 0) return 0;
    if (!team_draft) expect_signs(table_of(docs));
    find_scratch();
    const bool samples = !team_draft && run_.duels.by_chance != 0;
    team_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      if (number > 0) return fetch_next(warp, number - 1, team_.warps() - 1);
      if (samples) return find_near_duels(table_of(docs), stream);
      tell_winners(team_draft ? judge_team_draft() : count_winners());
    });
    find_scratch();
    if (samples) {
      team_.each_warp([&](const Warp& warp, unsigned number)
                          PLACKETT_INLINE { decide_near_duels(warp, number, table_of(docs)); });
      team_.first_warp([&](const Warp&) PLACKETT_INLINE { tell_winners(count_winners()); });
    }
    state_.is_in_doubt = told().doubt;
    return told().won;
  }

  // How far the step goes along the directions of so many winners.
  [[gnu::always_inline]] void weigh_winners(std::uint32_t count) {
    team_.first_warp([&](const Warp& warp) PLACKETT_INLINE {
      const double rate = state_.learning_rate / static_cast<double>(count);
      warp.compute([&](unsigned lane) {
        for (std::uint32_t at = lane; at < count; at += kWarpLanes) {
          factors()[at] = static_cast<float>(rate * lengths()[won()[at]]);
        }
      });
    });
  }

  // What follows the tables.
  [[nodiscard]] [[gnu::always_inline]] std::byte* own_shared() const {
    return scratch_.duels_shared + not_kept(args_.duels.small.size);
  }
  [[nodiscard]] [[gnu::always_inline]] std::byte* own_spill() const {
    return scratch_.spill + not_kept(args_.duels.large.size);
  }
  [[nodiscard]] DuelTold& told() const { return *at_offset<DuelTold>(own_shared(), layout_.told); }

  [[nodiscard]] std::uint32_t ranker_count() const { return run_.duels.candidates + 1; }
  [[nodiscard]] float* lengths() const { return at_offset<float>(own_shared(), layout_.lengths); }
  [[nodiscard]] float* factors() const { return at_offset<float>(own_shared(), layout_.factors); }
  [[nodiscard]] std::uint32_t* won() const {
    return at_offset<std::uint32_t>(own_shared(), layout_.won);
  }

 private:
  [[nodiscard]] float* scales() const {
    return at_offset<float>(layout_.scales_are_spilled ? own_spill() : own_shared(),
                            layout_.scales);
  }
  // Team draft, in the place of the scales.
  [[nodiscard]] std::uint32_t* turns() const { return reinterpret_cast<std::uint32_t*>(scales()); }
  [[nodiscard]] std::uint32_t* had_turn() const { return turns() + ranker_count(); }
  [[nodiscard]] std::uint32_t* owners() const { return had_turn() + ranker_count(); }

  [[nodiscard]] std::uint32_t* tied() const {
    return at_offset<std::uint32_t>(own_shared(), layout_.tied);
  }
  // Of candidates.
  [[nodiscard]] double* expected() const {
    return at_offset<double>(own_shared(), layout_.expected);
  }

  // A row of the table becomes `value_of` the ranks of its scores, followed by zeros, if these are
  // distinct. `ranks` is scratch.
  template <typename ValueOf>
  [[gnu::always_inline]] static bool replace_distinct(const Warp& warp, const Table& table,
                                                      float* row, std::uint32_t* ranks,
                                                      const ValueOf& value_of) {
    // Two rankers' lists take a small part of a duel, and the code for it would take registers.
    constexpr bool kMaySort = !Team::kIsAlone;
    if (!kMaySort || table.docs < kLeastSorted || table.docs > kMostSorted) {
      if (!rank_distinct(warp, row, table.docs, ranks)) return false;
      write_row(warp, table, row, ranks, value_of);
    } else if constexpr (kMaySort) {
      if (!replace_by_sorting(warp, row, table.docs, reinterpret_cast<float*>(ranks), value_of)) {
        return false;
      }
      end_row(warp, table, row);
    }
    return true;
  }

  // The same, distinct or not: by the first warp, which orders equal scores.
  template <typename ValueOf>
  [[gnu::always_inline]] void replace_any(const Table& table, float* row, Stream& stream,
                                          const ValueOf& value_of) {
    if (!rank_distinct(warp_, row, table.docs, table.ranks)) {
      stream = order_equals(warp_, row, table.docs, table.ranks, table.order, stream);
    }
    write_row(warp_, table, row, table.ranks, value_of);
  }

  template <typename ValueOf>
  [[gnu::always_inline]] static void write_row(const Warp& warp, const Table& table, float* row,
                                               const std::uint32_t* ranks,
                                               const ValueOf& value_of) {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      for (std::uint32_t doc = lane; doc < table.stride; doc += kWarpLanes) {
        row[doc] = doc < table.docs ? value_of(static_cast<float>(ranks[doc])) : 0.0F;
      }
    });
    warp.sync();
  }
  [[gnu::always_inline]] static void end_row(const Warp& warp, const Table& table, float* row) {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      for (std::uint32_t doc = table.docs + lane; doc < table.stride; doc += kWarpLanes) {
        row[doc] = 0;
      }
    });
    warp.sync();
  }

  // All rows. Equal scores are ordered by one stream, ranker by ranker, so those that have some
  // wait for the first warp.
  template <typename ValueOf>
  [[gnu::always_inline]] void replace_all_by_ranks(const Table& table, Stream& stream,
                                                   const ValueOf& value_of) {
    const auto row_of = [&](std::uint32_t ranker) PLACKETT_INLINE {
      return table.scores + std::size_t{ranker} * table.stride;
    };
    const bool any_tied = team_.any_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      bool own_tied = false;
      for (std::uint32_t ranker = number; ranker < ranker_count(); ranker += team_.warps()) {
        const bool distinct =
            replace_distinct(warp, table, row_of(ranker), table.ranks_of(number), value_of);
        warp.compute([&](unsigned lane) {
          if (lane == 0) tied()[ranker] = distinct ? 0 : 1;
        });
        own_tied = own_tied || !distinct;
      }
      return own_tied;
    });
    if (!any_tied) return;
    team_.first_warp([&](const Warp&) PLACKETT_INLINE {
      for (std::uint32_t ranker = 0; ranker < ranker_count(); ++ranker) {
        if (tied()[ranker] != 0) replace_any(table, row_of(ranker), stream, value_of);
      }
    });
  }

  // By the first warp.
  [[gnu::always_inline]] void mark_all_unplaced(const Table& table) {
    warp_.each([&](unsigned lane) {
      for (std::uint32_t doc = lane; doc < table.stride; doc += kWarpLanes) {
        table.unplaced[doc] = doc < table.docs ? 1.0F : 0.0F;
      }
    });
  }

  [[gnu::always_inline]] void show_probabilistic(std::uint32_t docs, Stream& stream) {
    const Table table = table_of(docs);
    replace_all_by_ranks(table, stream, [](float above) {
      const float rank = above + 1.0F;
      return 1.0F / (rank * (rank * rank));
    });
    team_.first_warp([&](const Warp&) PLACKETT_INLINE { mark_all_unplaced(table); });
    show_multileaved(team_,
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
      float* row = table.scores + std::size_t{ranker} * table.stride;
      if (is_first) replace_any(table, row, stream, [](float above) { return above; });
      const std::uint32_t doc = best_unplaced(table, row);
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

  // Appends those of 32 candidates that are in the mask.
  [[gnu::always_inline]] std::uint32_t note(std::uint32_t* list, std::uint32_t first,
                                            std::uint32_t mask, std::uint32_t count) {
    warp_.compute([&](unsigned lane) {
      const std::uint32_t above = (std::uint32_t{1} << lane) - 1;
      if ((mask >> lane & 1) != 0) {
        list[count + static_cast<std::uint32_t>(__builtin_popcount(mask & above))] = first + lane;
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
      count = note(won(), first, warp_.mask(wins), count);
    }
    return count;
  }

  [[nodiscard]] [[gnu::always_inline]] Credits credits(const Table& table) const {
    return {.table = table.scores,
            .stride = table.stride,
            .rankers = ranker_count(),
            .scales = scales(),
            .docs = list_.docs,
            .ranks = list_.winners,
            .clicks = winner_count_,
            .totals = list_.plain,
            .to_current = list_.plain + shown_};
  }

  // Fills in expected().
  [[gnu::always_inline]] void expect_signs(const Table& table) {
    const std::uint32_t lanes = duel_lanes(run_.duels);
    const std::uint32_t doubles = (2 * run_.shown + 1) * lanes;
    team_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      for (std::uint32_t part = number; part * kWarpLanes < run_.duels.candidates;
           part += team_.warps()) {
        double* differences =
            at_offset<double>(own_spill(), layout_.differences) + std::size_t{part} * doubles;
        warp.compute([&](unsigned lane) PLACKETT_INLINE {
          const std::uint32_t candidate = part * kWarpLanes + lane;
          if (candidate >= run_.duels.candidates) return;
          expected()[candidate] =
              expected_sign(credits(table), candidate + 1, differences + lane, lanes);
        });
      }
    });
  }

  // Of warp `number`.
  [[nodiscard]] [[gnu::always_inline]] SampledScratch sampled(unsigned number) const {
    const std::uint32_t own = number * sampled_warp_size(run_.shown);
    return SampledScratch(at_offset<double>(own_spill(), layout_.sampled),
                          at_offset<double>(own_spill(), layout_.sampled_of_warps) + own,
                          winner_count_ + 1);
  }
  // Candidates whose duels samples decide, told().near of them.
  [[nodiscard]] std::uint32_t* near() const { return tied(); }
  // And the normal of each duel.
  [[nodiscard]] double* near_normals() const {
    return at_offset<double>(own_spill(), layout_.differences);
  }

  // As ProbabilisticMultileaving::judge, once signs are expected: draws the samples and what near
  // duels take of the stream, by the first warp.
  [[gnu::always_inline]] void find_near_duels(const Table& table, Stream& stream) {
    draw_samples(warp_, credits(table), sampled(0), stream);
    std::uint32_t count = 0;
    for (std::uint32_t first = 0; first < run_.duels.candidates; first += kWarpLanes) {
      PerLane<bool> is_one;
      warp_.compute([&](unsigned lane) {
        const std::uint32_t candidate = first + lane;
        is_one[lane] = candidate < run_.duels.candidates && is_near(expected()[candidate]);
      });
      count = note(near(), first, warp_.mask(is_one), count);
    }
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < count; at += kWarpLanes) {
        near_normals()[at] = near_normal_after(stream, at);
      }
      if (lane == 0) told().near = count;
    });
  }

  // What near duels lead by takes the place of the expected signs. By warp `number`.
  [[gnu::always_inline]] void decide_near_duels(const Warp& warp, unsigned number,
                                                const Table& table) {
    for (std::uint32_t at = number; at < told().near; at += team_.warps()) {
      const std::uint32_t candidate = near()[at];
      const double lead = sampled_lead(warp, credits(table), candidate + 1, expected()[candidate],
                                       sampled(number), near_normals()[at]);
      warp.compute([&](unsigned lane) {
        if (lane != 0) return;
        expected()[candidate] = lead;
        if ((lead < 0 ? -lead : lead) <= lead_error(winner_count_, run_.duels.normal_error)) {
          told().doubt = 1;
        }
      });
    }
  }

  // How many candidates have a positive sign or lead; they are in won(), in order.
  [[gnu::always_inline]] std::uint32_t count_winners() {
    std::uint32_t count = 0;
    for (std::uint32_t first = 0; first < run_.duels.candidates; first += kWarpLanes) {
      PerLane<bool> wins;
      warp_.compute([&](unsigned lane) {
        const std::uint32_t candidate = first + lane;
        wins[lane] = candidate < run_.duels.candidates && expected()[candidate] > 0;
      });
      count = note(won(), first, warp_.mask(wins), count);
    }
    return count;
  }

  [[gnu::always_inline]] void tell_winners(std::uint32_t count) {
    warp_.each([&](unsigned lane) {
      if (lane == 0) told().won = count;
    });
  }

 protected:
  const Team& team_;
  OwnWarp& own_warp_;  // warp_
  const DuelLayout& layout_;
  WarpScratch& scratch_;
};

}  // namespace plackett::gpu
