// Offline performance: mean NDCG@10 over a split's queries, with the bits of SplitEvaluator and
// top_k (plackett/split_evaluator.h, evaluation/top_k.cc). Equal scores are ordered by one stream
// of random numbers that all queries share, so queries without them are measured side by side, and
// the others, in order, when the values are summed.
#pragma once

#include "gpu/run_learner.h"
#include "gpu/score.h"

namespace plackett::gpu {

// The best documents of a query. Equal scores: the earlier document first.
struct BestDocs {
  std::uint32_t docs[kCut] = {};
  std::uint32_t count = 0;
  bool tied = false;  // equal scores among them, or of the last one and one that is left out
};

// Ordered as the scores are; -0 as 0. Requires: not NaN.
inline std::uint32_t order_key(float score) {
  const auto bits = __builtin_bit_cast(std::uint32_t, score + 0.0F);
  return bits ^ ((bits >> 31) != 0 ? ~std::uint32_t{0} : std::uint32_t{1} << 31);
}

// The best documents, with each lane's documents, doc % 32 == lane, in order and in registers.
template <unsigned kPerLane>
[[gnu::always_inline]] inline BestDocs best_of_few(const Warp& warp, const float* scores,
                                                   std::uint32_t docs) {
  PerLane<std::uint32_t> keys[kPerLane];
  PerLane<std::uint32_t> at[kPerLane];
  warp.compute([&](unsigned lane) {
    for (unsigned own = 0; own < kPerLane; ++own) {
      const std::uint32_t doc = own * kWarpLanes + lane;
      keys[own][lane] = doc < docs ? order_key(scores[doc]) : 0;
      at[own][lane] = doc;
    }
    for (unsigned end = kPerLane; end > 1; --end) {
      for (unsigned own = 0; own + 1 < end; ++own) {
        const std::uint32_t key = keys[own][lane];
        const std::uint32_t below = keys[own + 1][lane];
        const std::uint32_t doc = at[own][lane];
        const std::uint32_t doc_below = at[own + 1][lane];
        const bool swaps = below > key;
        keys[own][lane] = swaps ? below : key;
        keys[own + 1][lane] = swaps ? key : below;
        at[own][lane] = swaps ? doc_below : doc;
        at[own + 1][lane] = swaps ? doc : doc_below;
      }
    }
  });
  BestDocs best;
  best.count = docs < kCut ? docs : kCut;
  std::uint32_t last = ~std::uint32_t{0};
  for (std::uint32_t rank = 0; rank < kCut + 1; ++rank) {
    if (rank >= docs) break;
    const std::uint32_t highest = warp.largest(keys[0]);
    PerLane<std::uint32_t> candidates;
    warp.compute([&](unsigned lane) {
      candidates[lane] = keys[0][lane] == highest ? at[0][lane] : ~std::uint32_t{0};
    });
    const std::uint32_t doc = warp.least(candidates);
    warp.compute([&](unsigned lane) {
      if (candidates[lane] != doc) return;
      for (unsigned own = 0; own + 1 < kPerLane; ++own) {
        keys[own][lane] = keys[own + 1][lane];
        at[own][lane] = at[own + 1][lane];
      }
      keys[kPerLane - 1][lane] = 0;
    });
    best.tied = best.tied || highest == last;
    last = highest;
    if (rank < kCut) best.docs[rank] = doc;
  }
  return best;
}

[[gnu::noinline]] inline BestDocs best_of_many(Warp warp, const float* scores, std::uint32_t docs) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};  // above all keys and documents
  BestDocs best;
  best.count = docs < kCut ? docs : kCut;
  std::uint32_t key = kNone;  // of the document found last
  std::uint32_t doc = 0;
  const std::uint32_t asked = docs > kCut ? kCut + 1 : docs;
  for (std::uint32_t rank = 0; rank < asked; ++rank) {
    PerLane<std::uint32_t> found;
    PerLane<std::uint32_t> found_at;
    warp.compute([&](unsigned lane) {
      found[lane] = 0;
      found_at[lane] = kNone;
      for (std::uint32_t at = lane; at < docs; at += kWarpLanes) {
        const std::uint32_t own = order_key(scores[at]);
        const bool is_left = own < key || (own == key && at > doc);
        if (!is_left || own <= found[lane]) continue;
        found[lane] = own;
        found_at[lane] = at;
      }
    });
    const std::uint32_t highest = warp.largest(found);
    warp.compute([&](unsigned lane) {
      if (found[lane] != highest) found_at[lane] = kNone;
    });
    if (highest == key) best.tied = true;
    key = highest;
    doc = warp.least(found_at);
    for (std::uint32_t at = 0; at < kCut; ++at) {
      if (at == rank) best.docs[at] = doc;
    }
  }
  return best;
}

inline BestDocs best_docs(const Warp& warp, const float* scores, std::uint32_t docs) {
  if (docs <= kWarpLanes) return best_of_few<1>(warp, scores, docs);
  if (docs <= 4 * kWarpLanes) return best_of_few<4>(warp, scores, docs);
  return best_of_many(warp, scores, docs);
}

// Orders equal scores at random, as top_k does.
[[gnu::noinline]] inline void break_ties(const float* scores, std::uint32_t docs, Stream& stream,
                                         BestDocs& best) {
  const float last = scores[best.docs[best.count - 1]];
  for (std::uint32_t begin = 0; begin < best.count;) {
    const float score = scores[best.docs[begin]];
    std::uint32_t end = begin + 1;
    while (end < best.count && scores[best.docs[end]] == score) ++end;
    const std::uint32_t places = end - begin;
    if (score == last && best.count < docs) {
      std::uint32_t seen = 0;
      for (std::uint32_t doc = 0; doc < docs; ++doc) {
        if (scores[doc] != score) continue;
        const std::uint32_t place = seen < places ? seen : stream.below(seen + 1);
        if (place < places) best.docs[begin + place] = doc;
        ++seen;
      }
    }
    for (std::uint32_t left = places; left > 1; --left) {
      const std::uint32_t other = stream.below(left);
      const std::uint32_t doc = best.docs[begin + left - 1];
      best.docs[begin + left - 1] = best.docs[begin + other];
      best.docs[begin + other] = doc;
    }
    begin = end;
  }
}

inline double ndcg_of(const BatchArgs& args, const SplitData& split, std::uint32_t query,
                      const BestDocs& best) {
  const std::uint8_t* labels = split.labels + split.query_begin[query];
  double dcg = 0;
  for (std::uint32_t rank = 0; rank < kCut; ++rank) {
    if (rank < best.count) dcg += gain_of(labels[best.docs[rank]]) * args.discounts[rank];
  }
  return dcg * split.inverse_ideals[query];
}

// In place of a value: its ties are not yet broken.
inline constexpr double kTied = -1;
// Likewise, and all scores are equal: to break these ties nobody needs to know them.
inline constexpr double kAllTied = -2;

// Rankers that a warp measures together, so that what it reads of documents serves several.
inline constexpr unsigned kRankersPerWarp = 4;

// Of kRankersPerWarp rankers.
inline RankersScratch rankers_scratch(const BatchArgs& args, std::byte* shared) {
  return {.weights = at_offset<float>(shared, 0),
          .weight_stride = args.width,
          .scores = at_offset<float>(
              shared, kRankersPerWarp * args.width * static_cast<std::uint32_t>(sizeof(float))),
          .score_stride = args.measured_docs};
}

inline void load_weights(const Warp& warp, const BatchArgs& args, std::uint32_t which,
                         float* weights) {
  const float* from = args.weights + std::uint64_t{which} * args.width;
  warp.each([&](unsigned lane) {
    for (std::uint32_t at = lane; at < args.width; at += kWarpLanes) weights[at] = from[at];
  });
}

// The values of the queries from `first_query` to `last_query` of the runs from place `first` to
// `last` of those that take part, kRankersPerWarp at most, which are measured on the same split.
[[gnu::always_inline]] inline void measure_together(const Warp& warp, const BatchArgs& args,
                                                    std::uint32_t first, std::uint32_t last,
                                                    std::uint32_t first_query,
                                                    std::uint32_t last_query, std::byte* shared) {
  const SplitData split = args.runs[args.which[first]].measured;
  const RankersScratch scratch = rankers_scratch(args, shared);
  for (std::uint32_t ranker = 0; ranker < kRankersPerWarp; ++ranker) {
    // Without one of its own it does the last one again.
    const std::uint32_t place = first + ranker < last ? first + ranker : last - 1;
    load_weights(warp, args, args.which[place],
                 scratch.weights + std::size_t{ranker} * scratch.weight_stride);
  }
  if (last_query > split.query_count) last_query = split.query_count;
  for (std::uint32_t query = first_query; query < last_query; ++query) {
    if (!(split.inverse_ideals[query] > 0)) continue;
    const std::uint64_t begin = split.query_begin[query];
    const auto docs = static_cast<std::uint32_t>(split.query_begin[query + 1] - begin);
    Scored scored[kRankersPerWarp];
    score_docs(warp, split.rows + split.first_tiles[query] * tile_size(split.width), docs,
               split.width, scratch, scored);
    for (std::uint32_t ranker = 0; ranker < kRankersPerWarp && first + ranker < last; ++ranker) {
      bool finite = true;
      for (unsigned at = 0; at < kRankersPerWarp; ++at) {
        if (at == ranker) finite = scored[at].finite;
      }
      double value = kTied;
      if (finite) {
        const BestDocs best =
            best_docs(warp, scratch.scores + std::size_t{ranker} * scratch.score_stride, docs);
        if (!best.tied) value = ndcg_of(args, split, query, best);
      }
      warp.compute([&](unsigned lane) {
        const std::uint32_t place = first + ranker;
        if (lane == 0) args.values[std::uint64_t{place} * args.value_stride + query] = value;
        if (lane == 0 && !finite) args.states[args.which[place]].is_not_finite = 1;
      });
    }
    warp.sync();
  }
}

// The same for the runs of a warp, whatever they are measured on.
[[gnu::always_inline]] inline void measure_queries(const Warp& warp, const BatchArgs& args,
                                                   std::uint32_t number, std::uint32_t first_query,
                                                   std::byte* shared) {
  const std::uint32_t end = (number + 1) * kRankersPerWarp;
  const std::uint32_t last = end < args.count ? end : args.count;
  for (std::uint32_t first = number * kRankersPerWarp; first < last;) {
    const float* rows = args.runs[args.which[first]].measured.rows;
    std::uint32_t next = first + 1;
    while (next < last && args.runs[args.which[next]].measured.rows == rows) ++next;
    measure_together(warp, args, first, next, first_query, first_query + args.queries_per_warp,
                     shared);
    first = next;
  }
}

// Breaks ties and sums the values of the run at `place`, in the order of the queries.
// score(split, query, docs, value) gives the query's scores, or any that are equal for kAllTied.
template <typename Score>
[[gnu::always_inline]] inline void sum_queries_by(const Warp& warp, const BatchArgs& args,
                                                  std::uint32_t place, const Score& score) {
  const std::uint32_t which = args.which[place];
  const RunData run = args.runs[which];
  if (args.states[which].is_not_finite != 0) return;
  const SplitData& split = run.measured;
  const double* values = args.values + std::uint64_t{place} * args.value_stride;
  Stream ties(run.seed, run.run, args.states[which].done, Purpose::kTieBreak);
  double sum = 0;
  for (std::uint32_t query = 0; query < split.query_count; ++query) {
    if (!(split.inverse_ideals[query] > 0)) {
      sum += run.without_relevant;
      continue;
    }
    double value = values[query];
    if (value == kTied || value == kAllTied) {
      const std::uint64_t begin = split.query_begin[query];
      const auto docs = static_cast<std::uint32_t>(split.query_begin[query + 1] - begin);
      const float* scores = score(split, query, docs, value);
      BestDocs best = best_docs(warp, scores, docs);
      break_ties(scores, docs, ties, best);
      value = ndcg_of(args, split, query, best);
      warp.sync();
    }
    sum += value;
  }
  const double offline = run.counted == 0 ? 0 : sum / run.counted;
  warp.each([&](unsigned lane) {
    if (lane == 0) args.states[which].offline = offline;
  });
}

inline void sum_queries(const Warp& warp, const BatchArgs& args, std::uint32_t place,
                        std::byte* shared) {
  const RankersScratch scratch = rankers_scratch(args, shared);
  load_weights(warp, args, args.which[place], scratch.weights);
  sum_queries_by(warp, args, place,
                 [&](const SplitData& split, std::uint32_t query, std::uint32_t docs, double) {
                   Scored scored[1];
                   score_docs(warp, split.rows + split.first_tiles[query] * tile_size(split.width),
                              docs, split.width, scratch, scored);
                   return scratch.scores;
                 });
}

}  // namespace plackett::gpu
