// What the runs of all methods have in common: queries, clicks, NDCG and steps. A warp does a run,
// with the bits of Simulation::run (experiment/simulation.cc).
#pragma once

#include "gpu/scratch.h"
#include "gpu/stream.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// As gain() in plackett/ndcg.h.
inline double gain_of(std::uint32_t label) {
  return static_cast<double>((std::uint64_t{1} << label) - 1);
}

// The query of an impression.
[[gnu::noinline]] inline std::uint32_t draw_query(std::uint64_t seed, std::uint32_t run,
                                                  std::uint64_t impression,
                                                  std::uint32_t query_count) {
  return Stream(seed, run, impression, Purpose::kQuery).below(query_count);
}

// A method's learner derives from it.
class RunLearner {
 public:
  RunLearner(const Warp& warp, const BatchArgs& args, const RunData& run, RunState& state,
             const ListScratch& list)
      : warp_(warp), args_(args), run_(run), state_(state), list_(list) {}

 protected:
  // Until as many impressions are done, by self.impression(), which returns false, without a
  // change, if a score is not finite: then self.end() says that the run is over.
  template <typename Self>
  [[gnu::always_inline]] void learn_until(std::uint64_t until, Self& self) {
    if (run_.impressions < until) until = run_.impressions;
    if (state_.done >= until || state_.is_not_finite != 0) return;
    find_query(draw_query(run_.seed, run_.run, state_.done, run_.train.query_count));
    while (state_.done < until) {
      if (!self.impression()) {
        self.end();
        return;
      }
      ++state_.done;
    }
  }

  void end() { state_.is_not_finite = 1; }

  void find_query(std::uint32_t query) {
    begin_ = run_.train.query_begin[query];
    docs_ = static_cast<std::uint32_t>(run_.train.query_begin[query + 1] - begin_);
    tiles_ = run_.train.rows + run_.train.first_tiles[query] * tile_size(run_.train.width);
    inverse_ideal_ = run_.train.inverse_ideals[query];
  }

  // Into the cache, features of the next impression's query, which list_.query names: by warp
  // `number` of `warps`, while another one is busy with this impression.
  [[gnu::always_inline]] void fetch_next(const Warp& warp, unsigned number, unsigned warps) const {
    constexpr std::uint32_t kLine = 32;  // floats
    const SplitData& train = run_.train;
    const std::uint32_t query = *list_.query;
    const float* rows = train.rows + train.first_tiles[query] * tile_size(train.width);
    const auto docs =
        static_cast<std::uint32_t>(train.query_begin[query + 1] - train.query_begin[query]);
    const std::uint32_t floats = (docs + kTileDocs - 1) / kTileDocs * kTileDocs * train.width;
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      for (std::uint32_t at = (number * kWarpLanes + lane) * kLine; at < floats;
           at += warps * kWarpLanes * kLine) {
        prefetch(rows + at);
      }
    });
  }

  // The random numbers of the impression: the first `of_list` blocks of the ranking's, as uniforms,
  // and a draw per rank for the clicks; and the next one's query. Each lane makes a block of four.
  void draw_numbers(std::uint32_t of_list) {
    const std::uint32_t of_clicks = (run_.shown + 3) / 4;
    warp_.sync();  // other lanes may still be in ndcg() of the impression before
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at <= of_list + of_clicks; at += kWarpLanes) {
        const bool for_list = at < of_list;
        const bool for_query = at == of_list + of_clicks;
        const std::uint64_t impression = state_.done + (for_query ? 1 : 0);
        const Purpose purpose =
            for_list ? Purpose::kRanking : (for_query ? Purpose::kQuery : Purpose::kClicks);
        const std::uint32_t block = for_list ? at : (for_query ? 0 : at - of_list);
        std::uint32_t words[4] = {block, static_cast<std::uint32_t>(impression), run_.run,
                                  static_cast<std::uint32_t>(purpose) |
                                      (static_cast<std::uint32_t>(impression >> 32) << 8)};
        philox_block(words, static_cast<std::uint32_t>(run_.seed),
                     static_cast<std::uint32_t>(run_.seed >> 32));
        if (for_list) {
          list_.uniforms[std::size_t{2} * block] = to_uniform(words[0], words[1]);
          list_.uniforms[std::size_t{2} * block + 1] = to_uniform(words[2], words[3]);
        } else if (!for_query) {
          std::uint32_t* draws = list_.click_draws + std::size_t{4} * block;
          for (unsigned word = 0; word < 4; ++word) draws[word] = words[word];
        } else {
          // As Stream::below, which is needed where one number is not enough.
          const std::uint32_t count = run_.train.query_count;
          const std::uint64_t product = std::uint64_t{words[0]} * count;
          *list_.query = static_cast<std::uint32_t>(product) < count
                             ? draw_query(run_.seed, run_.run, impression, count)
                             : static_cast<std::uint32_t>(product >> 32);
        }
      }
    });
  }

  // The labels of the shown documents, and what they add to the list's DCG, in place of the
  // uniforms.
  void look_up_labels() {
    const std::uint8_t* labels = run_.train.labels + begin_;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t rank = lane; rank < shown_; rank += kWarpLanes) note_label(labels, rank);
    });
  }
  void note_label(const std::uint8_t* labels, std::uint32_t rank) {
    const std::uint32_t label = labels[list_.docs[rank]];
    list_.labels[rank] = label;
    if (rank < kCut) list_.uniforms[rank] = gain_of(label) * args_.discounts[rank];
  }

  // Which ranks are clicked, into winners, and which of the seen ones are not, into losers: those
  // above the last click and the first below it.
  void click() {
    if (run_.by_last_click == 0 && shown_ <= kWarpLanes) {
      click_side_by_side();
    } else {
      click_one_by_one();
    }
  }

  [[nodiscard]] Ends ends_at(std::uint32_t rank, std::uint32_t below_click) const {
    const std::uint32_t row = rank * (rank + 1) / 2 + below_click;
    return run_.ends[row * run_.grade_count + list_.labels[rank]];
  }

  void click_side_by_side() {
    PerLane<bool> clicks;
    PerLane<bool> leaves;
    warp_.compute([&](unsigned lane) {
      clicks[lane] = leaves[lane] = false;
      if (lane >= shown_) return;
      const Ends ends = ends_at(lane, 0);
      const std::uint64_t draw = list_.click_draws[lane];
      clicks[lane] = draw < ends.click;
      leaves[lane] = draw < (clicks[lane] ? ends.click_and_stop : ends.click_or_stop);
    });
    const std::uint32_t left = warp_.mask(leaves);
    // Down to the lowest bit of `left`; all, if there is none.
    const std::uint32_t winners = warp_.mask(clicks) & (left ^ (left - 1));
    std::uint32_t losers = 0;
    if (winners != 0) {
      const auto last = 31 - static_cast<std::uint32_t>(__builtin_clz(winners));
      const std::uint32_t seen = last + 2 < shown_ ? last + 2 : shown_;
      losers = ~winners & (seen == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << seen) - 1);
    }
    winner_count_ = static_cast<std::uint32_t>(__builtin_popcount(winners));
    loser_count_ = static_cast<std::uint32_t>(__builtin_popcount(losers));
    warp_.each([&](unsigned lane) {
      const std::uint32_t above = (std::uint32_t{1} << lane) - 1;
      if ((winners >> lane & 1) != 0) list_.winners[__builtin_popcount(winners & above)] = lane;
      if ((losers >> lane & 1) != 0) list_.losers[__builtin_popcount(losers & above)] = lane;
    });
  }

  void click_one_by_one() {
    winner_count_ = 0;
    loser_count_ = 0;
    std::uint32_t below_click = 0;
    std::uint32_t losers = 0;  // up to here
    warp_.sync();
    for (std::uint32_t rank = 0; rank < shown_; ++rank) {
      const Ends ends = ends_at(rank, below_click);
      const std::uint64_t draw = list_.click_draws[rank];
      const bool clicked = draw < ends.click;
      if (clicked) {
        list_.winners[winner_count_++] = rank;
        below_click = rank + 1;
        loser_count_ = losers;
      } else {
        list_.losers[losers++] = rank;
      }
      if (draw < (clicked ? ends.click_and_stop : ends.click_or_stop)) break;
    }
    // The first below the last click was not clicked.
    if (winner_count_ > 0 && below_click < shown_) list_.losers[loser_count_++] = below_click;
    warp_.sync();
  }

  [[nodiscard]] double ndcg(double inverse_ideal) const {
    double dcg = 0;
    const std::uint32_t cut = shown_ < kCut ? shown_ : kCut;
    PLACKETT_UNROLL(5)
    for (std::uint32_t rank = 0; rank < cut; ++rank) dcg += list_.uniforms[rank];
    return dcg * inverse_ideal;
  }

  // weights += the sum of the documents' features, each times its scale: the first `count` of
  // losers and scales, in order.
  [[gnu::always_inline]] void add_docs(const float* tiles, std::uint32_t count) {
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane * 4; at < run_.train.width; at += kWarpLanes * 4) {
        Quad& weights = *reinterpret_cast<Quad*>(list_.weights + at);
        Quad sum = weights;
        PLACKETT_UNROLL(4)
        for (std::uint32_t place = 0; place < count; ++place) {
          const Quad row =
              load_quad(tiles + feature_place(list_.losers[place], at, run_.train.width));
          const float scale = list_.scales[place];
          for (unsigned part = 0; part < 4; ++part) {
            sum.values[part] = multiply_add(scale, row.values[part], sum.values[part]);
          }
        }
        weights = sum;
      }
    });
  }
  void count_step() {
    state_.learning_rate *= run_.decay;
    ++state_.updates;
  }

  const Warp& warp_;
  const BatchArgs& args_;
  const RunData& run_;
  RunState& state_;
  const ListScratch& list_;
  // Of the query.
  const float* tiles_ = nullptr;
  std::uint64_t begin_ = 0;  // its first document
  std::uint32_t docs_ = 0;
  double inverse_ideal_ = 0;
  std::uint32_t shown_ = 0;
  std::uint32_t winner_count_ = 0;
  std::uint32_t loser_count_ = 0;
};

// The run at `place` of those that take part, until end_of_launch(), by a learner of its method.
template <typename MethodLearner>
[[gnu::always_inline]] inline void learn_run_by(const Warp& warp, const BatchArgs& args,
                                                std::uint32_t place, std::byte* shared,
                                                std::byte* spill) {
  const std::uint32_t which = args.which[place];
  RunState state = begin_launch(args, which);
  const WarpScratch scratch(args, which, shared, spill);
  const auto* run_words = reinterpret_cast<const std::uint32_t*>(args.runs + which);
  float* kept = args.weights + std::uint64_t{which} * args.width;
  warp.each([&](unsigned lane) {
    for (std::uint32_t at = lane; at < args.width; at += kWarpLanes) {
      scratch.list.weights[at] = kept[at];
    }
    for (std::uint32_t at = lane; at < sizeof(RunData) / 4; at += kWarpLanes) {
      scratch.list.run[at] = run_words[at];
    }
  });
  const auto& run = *reinterpret_cast<const RunData*>(scratch.list.run);
  MethodLearner(warp, args, run, state, scratch).learn(end_of_launch(args, state));
  warp.each([&](unsigned lane) {
    for (std::uint32_t at = lane; at < args.width; at += kWarpLanes) {
      kept[at] = scratch.list.weights[at];
    }
    if (lane == 0) args.states[which] = end_launch(state);
  });
}

}  // namespace plackett::gpu
