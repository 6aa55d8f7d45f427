// PDGD's and the pairwise baseline's impressions with a network: a block does a run, with the bits
// of Simulation::run for a neural or a linear+neural ranker of one hidden layer and for each of
// PDGD's steps (ranker/neural.cc, learner/optimiser.cc). All warps score and step; the first one
// draws the list, watches the clicks and weighs the documents. The parameters are in shared memory.
#pragma once

#include "gpu/block.h"
#include "gpu/few_docs.h"
#include "gpu/learn.h"
#include "gpu/pairwise.h"

namespace plackett::gpu {

// What the first warp tells the others.
struct BlockState {
  const float* tiles = nullptr;       // of the query that is scored next
  const float* step_tiles = nullptr;  // of the one that the step is for
  std::uint32_t docs = 0;             // of the query that is scored next
  std::uint32_t goes_on = 0;          // whether there is one
  std::uint32_t has_step = 0;
  std::uint32_t step_had_few = 0;  // whether the step's query has few documents
  std::uint32_t step_docs = 0;     // that step: the first ones of losers, as rows, and of scales
  float rate = 0;                  // of the step
};
static_assert(sizeof(BlockState) <= kBlockStateBytes);

// A block's scratch besides a warp's.
struct NetworkScratch {
  // `spill` is the block's own.
  NetworkScratch(const BatchArgs& args, std::byte* shared, std::byte* spill)
      : state(at_offset<BlockState>(shared, args.network.block_state)),
        hidden(
            at_offset<float>(args.network.hidden_is_spilled ? spill : shared, args.network.hidden)),
        deltas(hidden + args.network.hidden_floats),
        given(at_offset<float>(shared, unknown(args.network.given))) {}

  BlockState* state;
  float* hidden;  // [place][padded unit]
  float* deltas;  // likewise
  float* given;   // [doc][padded unit], of a query with few documents
};

// Method: PdgdLearner or PairwiseLearner.
template <typename Method>
class NetworkLearner : Method {
 public:
  // `squares`: AdaGrad's sums, for each parameter of the network, or null.
  NetworkLearner(const Block& block, const Warp& warp, const BatchArgs& args, const RunData& run,
                 RunState& state, WarpScratch& scratch, float* squares)
      : Method(warp, args, run, state, scratch),
        block_(block),
        own_scratch_(scratch),
        network_(scratch.list.weights, args.network.layout),
        of_network_(args, scratch.shared, scratch.spill),
        squares_(squares) {}

  [[gnu::always_inline]] void learn(std::uint64_t until) {
    block_.first_warp([&](const Warp& warp) PLACKETT_INLINE {
      if (run_.impressions < until) until = run_.impressions;
      const bool goes_on = state_.done < until && state_.is_not_finite == 0;
      if (goes_on) {
        this->find_query(draw_query(run_.seed, run_.run, state_.done, run_.train.query_count));
      }
      tell(warp, {.tiles = tiles_, .docs = docs_, .goes_on = goes_on ? 1U : 0U});
    });
    while (block_state().goes_on != 0) {
      // Read here: after the scores the first warp may have told of the next query already.
      const bool few = has_few(block_state().docs);
      find_scratch();
      block_.each_warp([&](const Warp& warp, unsigned number)
                           PLACKETT_INLINE { score(warp, number); });
      if (few) {
        find_scratch();
        block_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
          sum_share(warp, number, block_.warps(), scored_query(), network_);
        });
      }
      find_scratch();
      block_.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
        if (number == 0) {
          tell(warp, impression(until));
        } else {
          this->fetch_next(warp, number - 1, block_.warps() - 1);
        }
      });
      if (block_state().has_step == 0) continue;
      find_scratch();
      block_.each_warp([&](const Warp& warp, unsigned number)
                           PLACKETT_INLINE { go_back(warp, number); });
      find_scratch();
      block_.each_warp([&](const Warp& warp, unsigned number)
                           PLACKETT_INLINE { step(warp, number); });
    }
  }

 private:
  [[gnu::always_inline]] void find_scratch() {
    own_scratch_.find_again(args_);
    network_ = Network(own_scratch_.list.weights, args_.network.layout);
    of_network_ = NetworkScratch(args_, own_scratch_.shared, own_scratch_.spill);
  }
  [[nodiscard]] BlockState& block_state() const { return *of_network_.state; }

  void tell(const Warp& warp, const BlockState& state) {
    warp.each([&](unsigned lane) {
      if (lane == 0) block_state() = state;
    });
  }

  [[nodiscard]] bool has_few(std::uint32_t docs) const { return docs <= args_.network.few_docs; }

  [[nodiscard]] [[gnu::always_inline]] ScoredQuery scored_query() const {
    const std::uint32_t docs = block_state().docs;
    return {.tiles = block_state().tiles,
            .docs = docs,
            .features = run_.features,
            .scores = scratch_.of(docs).scores,
            .has_few = has_few(docs),
            .given = of_network_.given};
  }

  // The first warp draws the impression's numbers, too.
  [[gnu::always_inline]] void score(const Warp& warp, unsigned number) {
    score_share(warp, number, block_.warps(), scored_query(), network_);
    if (number == 0) this->draw_numbers(this->blocks_of_list());
  }

  // From the scores to the weights of documents, and the next query.
  [[gnu::always_inline]] BlockState impression(std::uint64_t until) {
    const double inverse_ideal = inverse_ideal_;
    const float* tiles = tiles_;
    const std::uint32_t docs = docs_;
    typename Method::Rest rest;
    // Where the scratch is known to be shared memory, it is reached faster.
    const bool is_finite =
        docs_ <= scratch_.small_docs ? show(scratch_.small, rest) : show(scratch_.large, rest);
    if (!is_finite) {
      state_.is_not_finite = 1;
      return {};
    }
    this->find_query(*list_.query);
    this->click();
    state_.online.add(this->ndcg(inverse_ideal));
    BlockState told = {.tiles = tiles_, .step_tiles = tiles, .docs = docs_};
    if (this->has_pairs()) {
      told.has_step = 1;
      told.step_had_few = has_few(docs) ? 1 : 0;
      told.rate = static_cast<float>(state_.learning_rate);
      told.step_docs = this->weigh_docs(rest, 1);
      find_rows(told.step_docs);
      this->count_step();
    }
    ++state_.done;
    told.goes_on = state_.done < until ? 1 : 0;
    return told;
  }

  // The list of the scored documents; false if a score is not finite.
  [[gnu::always_inline]] bool show(const DocScratch& of_docs, typename Method::Rest& rest) {
    const Scored scored = look_at_scores(warp_, of_docs.scores, docs_);
    if (!scored.finite) return false;
    rest = this->draw_shown(of_docs, scored.highest);
    return true;
  }

  // Where the rows of the documents that step begin, in place of their numbers.
  void find_rows(std::uint32_t docs) {
    warp_.each([&](unsigned lane) {
      for (std::uint32_t place = lane; place < docs; place += kWarpLanes) {
        list_.losers[place] =
            static_cast<std::uint32_t>(feature_place(list_.losers[place], 0, network_.width));
      }
    });
  }

  // As NeuralRanker::backward: what the units give for the documents that step, and the deltas.
  [[gnu::always_inline]] void go_back(const Warp& warp, unsigned number) {
    if (block_state().step_had_few != 0) {
      look_up_given(warp, number);
    } else {
      go_forward_again(warp, number);
    }
  }

  // What the units gave when few documents were scored.
  [[gnu::always_inline]] void look_up_given(const Warp& warp, unsigned number) {
    const std::uint32_t quads = network_.padded_units / 4;
    const bool is_padded = run_.features < network_.width;
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      for (std::uint32_t at = number * kWarpLanes + lane; at < block_state().step_docs * quads;
           at += block_.warps() * kWarpLanes) {
        const std::uint32_t place = at / quads;
        const std::uint32_t unit = at % quads * 4;
        const std::uint32_t doc = doc_of_row(list_.losers[place], network_.width);
        Quad given = quad_at(of_network_.given + std::size_t{doc} * network_.padded_units + unit);
        // The engine goes forward again with the padded features, whose weights are 0, or NaN after
        // a step that was not finite.
        const float* padding =
            network_.weights + std::size_t{run_.features} * network_.padded_units + unit;
        for (unsigned of_four = 0; of_four < 4; ++of_four) {
          if (is_padded && unit + of_four < network_.units) {
            given.values[of_four] += 0.0F * padding[of_four];
          }
        }
        keep_given(place, unit, given);
      }
    });
  }

  [[gnu::always_inline]] void keep_given(std::uint32_t place, std::uint32_t unit,
                                         const Quad& given) {
    const Quad output = quad_at(network_.output + unit);
    Quad deltas;
    PLACKETT_UNROLL_ALL
    for (unsigned of_four = 0; of_four < 4; ++of_four) {
      deltas.values[of_four] = list_.scales[place] * output.values[of_four] *
                               activation_slope(network_.activation, given.values[of_four]);
    }
    const std::size_t to = std::size_t{place} * network_.padded_units + unit;
    quad_at(of_network_.hidden + to) = given;
    quad_at(of_network_.deltas + to) = deltas;
  }

  [[gnu::always_inline]] void go_forward_again(const Warp& warp, unsigned number) {
    const std::uint32_t docs = block_state().step_docs;
    const std::uint32_t chunks = network_.padded_units / 16;
    const std::uint32_t parts = batches_of(docs) * chunks;
    for (std::uint32_t part = number; part < parts; part += block_.warps()) {
      const std::uint32_t first = part / chunks * kBatchDocs;
      const std::uint32_t first_unit = part % chunks * 16;
      warp.compute([&](unsigned lane) PLACKETT_INLINE {
        const auto place_of = [&](unsigned at) {
          return first + at * kTileDocs + lane / kLanesPerDoc;
        };
        const float* rows[kDocsPerLane];
        PLACKETT_UNROLL_ALL
        for (unsigned at = 0; at < kDocsPerLane; ++at) {
          const std::uint32_t place = place_of(at);
          rows[at] = step_row(place < docs ? place : first);
        }
        Quad sums[kDocsPerLane][1];
        multiply_units<0>(rows, network_.width, network_, first_unit, lane, sums);
        activate_units(network_, first_unit, lane, sums);
        PLACKETT_UNROLL_ALL
        for (unsigned at = 0; at < kDocsPerLane; ++at) {
          const std::uint32_t place = place_of(at);
          if (place < docs) keep_given(place, first_unit + unit_of(lane), sums[at][0]);
        }
      });
    }
  }

  [[gnu::always_inline]] void step(const Warp& warp, unsigned number) {
    const std::uint32_t threads = block_.warps() * kWarpLanes;
    const std::uint32_t quads = network_.padded_units / 4;
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      const std::uint32_t thread = number * kWarpLanes + lane;
      for (std::uint32_t at = thread; at < network_.width / 4 * quads; at += threads) {
        step_weights(at / quads * 4, at % quads * 4);
      }
      for (std::uint32_t at = thread; at < quads; at += threads) step_unit(at * 4);
      if (network_.linear == nullptr) return;
      for (std::uint32_t at = thread; at < network_.width / 4; at += threads) {
        step_linear(at * 4);
      }
    });
  }

  static Quad& quad_at(float* from) { return *reinterpret_cast<Quad*>(from); }

  [[nodiscard]] const float* step_row(std::uint32_t place) const {
    return block_state().step_tiles + list_.losers[place];
  }
  static std::size_t place_of_feature(std::uint32_t feature) {
    return std::size_t{feature / 16} * (kTileDocs * 16) + feature % 16;
  }

  // As add_outer: of four features and four units.
  [[gnu::always_inline]] void step_weights(std::uint32_t feature, std::uint32_t unit) {
    Quad sums[4] = {};
    const std::uint32_t docs = block_state().step_docs;
    PLACKETT_UNROLL(2)
    for (std::uint32_t place = 0; place < docs; ++place) {
      const Quad row = load_quad(step_row(place) + place_of_feature(feature));
      const Quad deltas =
          quad_at(of_network_.deltas + std::size_t{place} * network_.padded_units + unit);
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < 4; ++at) {
        PLACKETT_UNROLL_ALL
        for (unsigned of_four = 0; of_four < 4; ++of_four) {
          float& sum = sums[at].values[of_four];
          sum = multiply_add(row.values[at], deltas.values[of_four], sum);
        }
      }
    }
    float* weights = network_.weights + std::size_t{feature} * network_.padded_units + unit;
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < 4; ++at, weights += network_.padded_units) {
      if (squares_ == nullptr) {
        Quad& target = quad_at(weights);
        Quad stepped = target;
        PLACKETT_UNROLL_ALL
        for (unsigned of_four = 0; of_four < 4; ++of_four) {
          stepped.values[of_four] =
              multiply_add(block_state().rate, sums[at].values[of_four], stepped.values[of_four]);
        }
        target = stepped;
      } else if (feature + at < run_.features) {
        Quad gradient;
        PLACKETT_UNROLL_ALL
        for (unsigned of_four = 0; of_four < 4; ++of_four) {
          gradient.values[of_four] = multiply_add(1.0F, sums[at].values[of_four], 0.0F);
        }
        adagrad(weights, gradient);
      }
    }
  }

  // As add_scaled_rows: of four units, their biases and the output's weights.
  [[gnu::always_inline]] void step_unit(std::uint32_t unit) {
    float* biases = network_.biases + unit;
    float* output = network_.output + unit;
    const bool is_constant = squares_ == nullptr;
    const float rate = is_constant ? block_state().rate : 1.0F;
    Quad of_biases = {};
    Quad of_output = {};
    if (is_constant) {
      of_biases = quad_at(biases);
      of_output = quad_at(output);
    }
    const std::uint32_t docs = block_state().step_docs;
    for (std::uint32_t place = 0; place < docs; ++place) {
      const std::size_t from = std::size_t{place} * network_.padded_units + unit;
      const Quad deltas = quad_at(of_network_.deltas + from);
      const Quad hidden = quad_at(of_network_.hidden + from);
      const float scale = rate * list_.scales[place];
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < 4; ++at) {
        of_biases.values[at] = multiply_add(rate, deltas.values[at], of_biases.values[at]);
        of_output.values[at] = multiply_add(scale, hidden.values[at], of_output.values[at]);
      }
    }
    if (is_constant) {
      quad_at(biases) = of_biases;
      quad_at(output) = of_output;
    } else {
      adagrad(biases, of_biases);
      adagrad(output, of_output);
    }
  }

  // Of the linear part's weights of four features. Their steps are constant; those of AdaGrad are
  // rounded once more.
  [[gnu::always_inline]] void step_linear(std::uint32_t feature) {
    const bool is_constant = squares_ == nullptr;
    const float rate = is_constant ? block_state().rate : 1.0F;
    const Quad before = quad_at(network_.linear + feature);
    Quad sum = {};
    if (is_constant) sum = before;
    const std::uint32_t docs = block_state().step_docs;
    for (std::uint32_t place = 0; place < docs; ++place) {
      const Quad row = load_quad(step_row(place) + place_of_feature(feature));
      const float scale = rate * list_.scales[place];
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < 4; ++at) {
        sum.values[at] = multiply_add(scale, row.values[at], sum.values[at]);
      }
    }
    if (!is_constant) {
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < 4; ++at) {
        sum.values[at] = before.values[at] + block_state().rate * sum.values[at];
      }
    }
    quad_at(network_.linear + feature) = sum;
  }

  // As adagrad_step: of four parameters of the network.
  [[gnu::always_inline]] void adagrad(float* parameters, const Quad& gradient) {
    constexpr float kLeastRoot = 1e-6F;
    Quad& target = quad_at(parameters);
    Quad& squares_target = quad_at(squares_ + (parameters - network_.weights));
    Quad stepped = target;
    Quad squares = squares_target;
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < 4; ++at) {
      const float slope = gradient.values[at];
      const float square = run_.kept * squares.values[at] + slope * slope;
      squares.values[at] = square;
      stepped.values[at] += block_state().rate * slope / (square_root(square) + kLeastRoot);
    }
    squares_target = squares;
    target = stepped;
  }

  using Method::args_;
  using Method::docs_;
  using Method::inverse_ideal_;
  using Method::list_;
  using Method::run_;
  using Method::scratch_;
  using Method::state_;
  using Method::tiles_;
  using Method::warp_;

  const Block& block_;
  WarpScratch& own_scratch_;
  Network network_;
  NetworkScratch of_network_;
  float* squares_;
};

// As learn_run_by, with a block's scratch.
template <typename Method>
[[gnu::always_inline]] inline void learn_network_run(const Block& block, const BatchArgs& args,
                                                     std::uint32_t place, std::byte* shared,
                                                     std::byte* spill) {
  const std::uint32_t which = args.which[place];
  RunState state = begin_launch(args, which);  // the first warp's counts
  WarpScratch scratch(args, which, shared, spill);
  float* kept = args.weights + std::uint64_t{which} * args.network.layout.size;
  float* squares =
      args.network.squares == nullptr
          ? nullptr
          : args.network.squares + std::uint64_t{which} * args.network.layout.square_count();
  load_run(block, args, which, kept, args.network.layout.size, scratch.list);
  const auto& run = *reinterpret_cast<const RunData*>(scratch.list.run);
  NetworkLearner<Method>(block, block.warp(), args, run, state, scratch, squares)
      .learn(end_of_launch(args, state));
  copy_floats(block, scratch.list.weights, args.network.layout.size, kept);
  block.first_warp([&](const Warp& warp) {
    warp.each([&](unsigned lane) {
      if (lane == 0) args.states[which] = end_launch(state);
    });
  });
}

}  // namespace plackett::gpu
