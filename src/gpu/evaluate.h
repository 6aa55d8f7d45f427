// Offline performance: mean NDCG@10 over a split's queries, with the bits of SplitEvaluator and
// top_k (plackett/split_evaluator.h, evaluation/top_k.cc). Equal scores are ordered by one stream
// of random numbers that all queries share, so queries without them are measured side by side, and
// the others, in order, when the values are summed.
#pragma once

#include "gpu/learn.h"

namespace plackett::gpu {

// The best documents of a query. Equal scores: the earlier document first.
struct BestDocs {
  std::uint32_t docs[kCut] = {};
  std::uint32_t count = 0;
  bool tied = false;  // equal scores among them, or of the last one and one that is left out
};

inline BestDocs best_docs(const Warp& warp, const float* scores, std::uint32_t docs) {
  BestDocs best;
  best.count = docs < kCut ? docs : kCut;
  float score = __builtin_inff();  // of the document found last
  std::uint32_t doc = 0;
  bool is_first = true;
  const std::uint32_t asked = docs > kCut ? kCut + 1 : docs;
  for (std::uint32_t rank = 0; rank < asked; ++rank) {
    PerLane<float> found;
    PerLane<std::uint32_t> found_at;
    warp.compute([&](unsigned lane) {
      found[lane] = -__builtin_inff();
      found_at[lane] = ~std::uint32_t{0};
      for (std::uint32_t at = lane; at < docs; at += kWarpLanes) {
        const float one = scores[at];
        const bool is_left = is_first || one < score || (one == score && at > doc);
        if (!is_left || !(one > found[lane])) continue;
        found[lane] = one;
        found_at[lane] = at;
      }
    });
    for (unsigned distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      const PerLane<float> others = warp.exchanged(found, distance);
      const PerLane<std::uint32_t> others_at = warp.exchanged(found_at, distance);
      warp.compute([&](unsigned lane) {
        const bool takes = others[lane] > found[lane] ||
                           (others[lane] == found[lane] && others_at[lane] < found_at[lane]);
        if (!takes) return;
        found[lane] = others[lane];
        found_at[lane] = others_at[lane];
      });
    }
    if (!is_first && found[0] == score) best.tied = true;
    score = found[0];
    doc = found_at[0];
    is_first = false;
    for (std::uint32_t at = 0; at < kCut; ++at) {
      if (at == rank) best.docs[at] = doc;
    }
  }
  return best;
}

// Orders equal scores at random, as top_k does.
inline void break_ties(const float* scores, std::uint32_t docs, Stream& stream, BestDocs& best) {
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

class SplitMeasure {
 public:
  SplitMeasure(const Warp& warp, const BatchArgs& args, const SplitData& split,
               const WarpScratch& scratch)
      : warp_(warp), args_(args), split_(split), scratch_(scratch) {}

  // The query's best documents; false in `finite` if a score is not.
  BestDocs rank(std::uint32_t query, bool& finite) {
    const std::uint64_t begin = split_.query_begin[query];
    docs_ = static_cast<std::uint32_t>(split_.query_begin[query + 1] - begin);
    scores_ = scratch_.of(docs_).scores;
    score_docs(warp_, split_.rows + split_.first_tiles[query] * tile_size(split_.width), docs_,
               split_.width, scratch_.list.weights, scores_, finite);
    return finite ? best_docs(warp_, scores_, docs_) : BestDocs{};
  }
  // Of those that rank() gave last.
  void order_ties(Stream& stream, BestDocs& best) const {
    break_ties(scores_, docs_, stream, best);
  }

  [[nodiscard]] double ndcg(std::uint32_t query, const BestDocs& best) const {
    const std::uint8_t* labels = split_.labels + split_.query_begin[query];
    double dcg = 0;
    for (std::uint32_t rank = 0; rank < best.count; ++rank) {
      dcg += gain_of(labels[best.docs[rank]]) * args_.discounts[rank];
    }
    return dcg * split_.inverse_ideals[query];
  }

 private:
  const Warp& warp_;
  const BatchArgs& args_;
  const SplitData& split_;
  const WarpScratch& scratch_;
  float* scores_ = nullptr;
  std::uint32_t docs_ = 0;
};

inline constexpr double kTied = -1;  // in place of a value: its ties are not yet broken

inline void load_weights(const Warp& warp, const BatchArgs& args, std::uint32_t which,
                         const WarpScratch& scratch) {
  const float* weights = args.weights + std::uint64_t{which} * args.width;
  warp.each([&](unsigned lane) {
    for (std::uint32_t at = lane; at < args.width; at += kWarpLanes) {
      scratch.list.weights[at] = weights[at];
    }
  });
}

// The values of some queries of the run at `place` of those that take part.
inline void measure_queries(const Warp& warp, const BatchArgs& args, std::uint32_t place,
                            std::uint32_t first_query, std::byte* shared, std::byte* spill) {
  const std::uint32_t which = args.which[place];
  const SplitData split = args.runs[which].measured;
  const WarpScratch scratch(args, shared, spill);
  load_weights(warp, args, which, scratch);
  SplitMeasure measure(warp, args, split, scratch);
  double* values = args.values + std::uint64_t{place} * args.value_stride;
  for (std::uint32_t at = 0; at < args.queries_per_warp; ++at) {
    const std::uint32_t query = first_query + at;
    if (query >= split.query_count) return;
    if (!(split.inverse_ideals[query] > 0)) continue;
    bool finite = true;
    const BestDocs best = measure.rank(query, finite);
    const double value = !finite || best.tied ? kTied : measure.ndcg(query, best);
    warp.each([&](unsigned lane) {
      if (lane == 0) values[query] = value;
      if (lane == 0 && !finite) args.states[which].is_not_finite = 1;
    });
  }
}

// Breaks ties and sums the values of the run at `place`, in the order of the queries.
inline void sum_queries(const Warp& warp, const BatchArgs& args, std::uint32_t place,
                        std::byte* shared, std::byte* spill) {
  const std::uint32_t which = args.which[place];
  const RunData run = args.runs[which];
  if (args.states[which].is_not_finite != 0) return;
  const WarpScratch scratch(args, shared, spill);
  load_weights(warp, args, which, scratch);
  SplitMeasure measure(warp, args, run.measured, scratch);
  const double* values = args.values + std::uint64_t{place} * args.value_stride;
  Stream ties(run.seed, run.run, args.states[which].done, Purpose::kTieBreak);
  double sum = 0;
  for (std::uint32_t query = 0; query < run.measured.query_count; ++query) {
    if (!(run.measured.inverse_ideals[query] > 0)) {
      sum += run.without_relevant;
      continue;
    }
    double value = values[query];
    if (value == kTied) {
      bool finite = true;
      BestDocs best = measure.rank(query, finite);
      measure.order_ties(ties, best);
      value = measure.ndcg(query, best);
      warp.sync();
    }
    sum += value;
  }
  const double offline = run.counted == 0 ? 0 : sum / run.counted;
  warp.each([&](unsigned lane) {
    if (lane == 0) args.states[which].offline = offline;
  });
}

}  // namespace plackett::gpu
