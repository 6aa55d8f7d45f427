// Offline performance: mean NDCG@10 over a split's queries, with the bits of SplitEvaluator and
// top_k (plackett/split_evaluator.h, evaluation/top_k.cc). Equal scores are ordered by one stream
// of random numbers that all queries share, so queries without them are measured side by side, and
// the others, in order, when the values are summed.
#pragma once

#include "gpu/best_of_lanes.h"
#include "gpu/block.h"
#include "gpu/run_learner.h"
#include "gpu/sort.h"

namespace plackett::gpu {

// A query's scores.
struct DocScores {
  const float* first = nullptr;

  float operator[](std::uint32_t doc) const { return first[std::size_t{doc} * kScoreRow]; }
};

// The best documents of a query. Equal scores: the earlier document first.
struct BestDocs {
  std::uint32_t docs[kCut] = {};
  std::uint32_t count = 0;
};

// Ordered as the scores are; -0 as 0. Requires: not NaN.
inline std::uint32_t order_key(float score) {
  const auto bits = __builtin_bit_cast(std::uint32_t, score + 0.0F);
  return bits ^ ((bits >> 31) != 0 ? ~std::uint32_t{0} : std::uint32_t{1} << 31);
}

[[gnu::noinline]] inline BestDocs best_docs(Warp warp, DocScores scores, std::uint32_t docs) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};  // above all keys and documents
  BestDocs best;
  best.count = docs < kCut ? docs : kCut;
  std::uint32_t key = kNone;  // of the document found last
  std::uint32_t doc = 0;
  for (std::uint32_t rank = 0; rank < best.count; ++rank) {
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
    key = highest;
    doc = warp.least(found_at);
    for (std::uint32_t at = 0; at < kCut; ++at) {
      if (at == rank) best.docs[at] = doc;
    }
  }
  return best;
}

// Orders equal scores at random, as top_k does.
template <typename Scores, typename Numbers>
[[gnu::noinline]] void break_ties(Scores scores, std::uint32_t docs, Numbers& numbers,
                                  BestDocs& best) {
  Numbers stream = numbers;  // in registers
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
  numbers = stream;
}

inline double ndcg_of(const double* discounts, const SplitData& split, std::uint32_t query,
                      const BestDocs& best) {
  const std::uint8_t* labels = split.labels + split.query_begin[query];
  double dcg = 0;
  for (std::uint32_t rank = 0; rank < kCut; ++rank) {
    if (rank < best.count) dcg += gain_of(labels[best.docs[rank]]) * discounts[rank];
  }
  return dcg * split.inverse_ideals[query];
}

[[gnu::noinline]] inline double ndcg_with_ties(Warp warp, const double* discounts,
                                               const SplitData& split, std::uint32_t query,
                                               DocScores scores, Stream& ties) {
  const auto docs =
      static_cast<std::uint32_t>(split.query_begin[query + 1] - split.query_begin[query]);
  BestDocs best = best_docs(warp, scores, docs);
  break_ties(scores, docs, ties, best);
  return ndcg_of(discounts, split, query, best);
}

// The scores of a ranker that has learned nothing.
struct EqualScores {
  float operator[](std::uint32_t /*doc*/) const { return 0; }
};

// A number for each word of a stream, as long as it refuses none.
struct NumberPerWord {
  std::uint32_t below(std::uint32_t bound) { return stream.below_by_one_word(bound, is_refused); }

  Stream stream;
  bool is_refused = false;
};

// The values of kWarpLanes queries from `first` on, of those that are tied, if all scores are
// equal: side by side, since a query takes a word for each document but one. False, with nothing
// changed, if a word was refused: then nobody knows before which words the later ones take.
[[gnu::noinline]] inline bool measure_equals(Warp warp, const double* discounts,
                                             const SplitData& split, std::uint32_t first,
                                             const PerLane<bool>& tied, Stream& ties,
                                             PerLane<double>& values) {
  PerLane<std::uint32_t> docs;
  PerLane<std::uint32_t> words;
  warp.compute([&](unsigned lane) {
    docs[lane] = 0;
    words[lane] = 0;
    if (!tied[lane]) return;
    const std::uint64_t* begin = split.query_begin + first + lane;
    docs[lane] = static_cast<std::uint32_t>(begin[1] - begin[0]);
    words[lane] = docs[lane] - 1;
  });
  PerLane<std::uint32_t> ends = words;
  add_those_before(warp, ends);
  PerLane<double> own;
  PerLane<bool> refused;
  warp.compute([&](unsigned lane) {
    refused[lane] = false;
    if (!tied[lane]) return;
    NumberPerWord numbers = {.stream = ties};
    numbers.stream.skip_words(ends[lane] - words[lane]);
    BestDocs best;
    best.count = docs[lane] < kCut ? docs[lane] : kCut;
    for (std::uint32_t at = 0; at < best.count; ++at) best.docs[at] = at;
    break_ties(EqualScores(), docs[lane], numbers, best);
    own[lane] = ndcg_of(discounts, split, first + lane, best);
    refused[lane] = numbers.is_refused;
  });
  if (warp.any(refused)) return false;
  warp.compute([&](unsigned lane) {
    if (tied[lane]) values[lane] = own[lane];
  });
  ties.skip_words(warp.from(ends, kWarpLanes - 1));
  return true;
}

// Whether a run has a linear ranker whose weights are all 0, which gives equal scores.
[[gnu::always_inline]] inline bool is_blank(const Warp& warp, const BatchArgs& args,
                                            std::uint32_t which) {
  if (args.network.layout.exists()) return false;
  const float* weights = args.weights + std::uint64_t{which} * args.weight_stride;
  PerLane<bool> has_weight;
  warp.compute([&](unsigned lane) {
    has_weight[lane] = false;
    for (std::uint32_t at = lane; at < args.width; at += kWarpLanes) {
      has_weight[lane] = has_weight[lane] || weights[at] != 0;
    }
  });
  return !warp.any(has_weight);
}

// Calls look(doc, number among these, scores) for each of a query's documents, kTogether of whose
// scores are read before the first is looked at, and after(). A lane's scores begin at `own`.
template <unsigned kTogether, typename Look, typename After>
[[gnu::always_inline]] inline void each_score(const Warp& warp, const PerLane<const float*>& own,
                                              std::uint32_t docs, const Look& look,
                                              const After& after) {
  const auto some = [&](std::uint32_t first, std::uint32_t count) PLACKETT_INLINE {
    PerLane<float> scores[kTogether];
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      const float* from = own[lane] + std::size_t{first} * kScoreRow;
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < kTogether; ++at) {
        scores[at][lane] = 0;
        if (at < count) scores[at][lane] = from[at * kScoreRow];
      }
    });
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kTogether; ++at) {
      if (at < count) look(first + at, at, scores[at]);
    }
    after();
  };
  std::uint32_t first = 0;
  for (; first + kTogether <= docs; first += kTogether) some(first, kTogether);
  if (first < docs) some(first, docs - first);
}

// The value of a query for kWarpLanes of the runs that take part, from place `first` on. First each
// lane finds a score that kCut + 1 documents reach at least, since so many groups of documents have
// one that does, but few more. Those that reach it are candidates, in shared memory.
[[gnu::always_inline]] inline void measure_query(const Warp& warp, const BatchArgs& args,
                                                 const SplitData& split, std::uint32_t query,
                                                 std::uint32_t first, Candidate* candidates) {
  const double inverse_ideal = split.inverse_ideals[query];
  if (!(inverse_ideal > 0)) return;
  const std::uint64_t begin = split.query_begin[query];
  const auto docs = static_cast<std::uint32_t>(split.query_begin[query + 1] - begin);
  PerLane<const float*> own;
  PerLane<float> highest[kScoreGroups];
  PerLane<float> zero;  // not if a score is not finite
  warp.compute([&](unsigned lane) {
    // Without a run of its own a lane does the first one's again.
    const std::uint32_t place = first + lane < args.count ? first + lane : first;
    own[lane] = scores_of(args, place, split.first_tiles[query]);
    PLACKETT_UNROLL_ALL
    for (auto& of_group : highest) of_group[lane] = -__builtin_inff();
    zero[lane] = 0;
  });
  each_score<kScoreGroups>(
      warp, own, docs,
      [&](std::uint32_t, unsigned at, const PerLane<float>& scores) PLACKETT_INLINE {
        warp.compute([&](unsigned lane) {
          highest[at][lane] = larger(highest[at][lane], scores[lane]);
          zero[lane] = multiply_add(0.0F, scores[lane], zero[lane]);
        });
      },
      [] {});
  sort_descending<1>(warp, highest);
  PerLane<float>& enough = highest[kCut];
  BestOfLanes best(warp);
  PerLane<std::uint32_t> end;  // of the lane's candidates, which lie kWarpLanes apart
  warp.compute([&](unsigned lane) { end[lane] = lane; });
  const auto add_candidates = [&]() PLACKETT_INLINE {
    const std::uint32_t most = warp.largest(end) / kWarpLanes * kWarpLanes;
    for (std::uint32_t row = 0; row < most; row += kWarpLanes) {
      PerLane<Candidate> next;
      warp.compute([&](unsigned lane) {
        next[lane] = candidates[row + lane];
        if (row + lane >= end[lane]) next[lane].score = -__builtin_inff();
      });
      best.add(next);
    }
    warp.compute([&](unsigned lane) {
      end[lane] = lane;
      enough[lane] = larger(enough[lane], best.least(lane));
    });
  };
  constexpr unsigned kTogether = 8;
  each_score<kTogether>(
      warp, own, docs,
      [&](std::uint32_t doc, unsigned, const PerLane<float>& scores) PLACKETT_INLINE {
        warp.compute([&](unsigned lane) {
          candidates[end[lane]] = {scores[lane], doc};  // the next one's place, if it is none
          end[lane] += scores[lane] >= enough[lane] ? kWarpLanes : 0;
        });
      },
      [&]() PLACKETT_INLINE {
        constexpr std::uint32_t kMost = (kCandidates - kTogether) * kWarpLanes;
        PerLane<bool> full;
        warp.compute([&](unsigned lane) { full[lane] = end[lane] > kMost + lane; });
        if (warp.any(full)) add_candidates();
      });
  add_candidates();
  warp.compute([&](unsigned lane) {
    const std::uint32_t place = first + lane;
    if (place >= args.count) return;
    const double dcg = best.dcg(lane, docs, split.labels + begin, args.discounts);
    args.values[std::uint64_t{place} * args.value_stride + query] =
        dcg == kTied ? kTied : dcg * inverse_ideal;
    if (zero[lane] != 0) args.states[args.which[place]].is_not_finite = 1;
  });
}

// The values of args.queries_each queries from `first_query` on for the runs that take part from
// place `first` on, kWarpLanes at most. All are measured on the same split.
[[gnu::always_inline]] inline void measure_queries(const Block& block, const BatchArgs& args,
                                                   std::uint32_t first, std::uint32_t first_query,
                                                   std::byte* shared) {
  const SplitData split = args.runs[args.which[first]].measured;
  std::uint32_t last_query = first_query + args.queries_each;
  if (last_query > split.query_count) last_query = split.query_count;
  block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    for (std::uint32_t query = first_query + number; query < last_query; query += kNetworkWarps) {
      measure_query(warp, args, split, query, first,
                    at_offset<Candidate>(shared, number * kCandidateBytes));
    }
  });
}

// Queries per lane.
inline constexpr unsigned kSummedTogether = 4;

// Breaks ties and sums the values of the run at `place` of those that take part, in the order of
// the queries.
[[gnu::always_inline]] inline void sum_queries(const Warp& warp, const BatchArgs& args,
                                               std::uint32_t place) {
  const std::uint32_t which = args.which[place];
  const RunData run = args.runs[which];
  if (args.states[which].is_not_finite != 0) return;
  const SplitData& split = run.measured;
  const double* values = args.values + std::uint64_t{place} * args.value_stride;
  Stream ties(run.seed, run.run, args.states[which].done, Purpose::kTieBreak);
  const bool all_equal = is_blank(warp, args, which);
  double sum = 0;
  PerLane<double> next[kSummedTogether];
  const auto read = [&](std::uint32_t first) PLACKETT_INLINE {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < kSummedTogether; ++at) {
        const std::uint32_t query = first + at * kWarpLanes + lane;
        next[at][lane] = 0;
        if (query >= split.query_count) continue;
        const double value = values[query];  // if it counts
        next[at][lane] = split.inverse_ideals[query] > 0 ? value : run.without_relevant;
      }
    });
  };
  read(0);
  constexpr std::uint32_t kStep = kSummedTogether * kWarpLanes;
  for (std::uint32_t first = 0; first < split.query_count; first += kStep) {
    PerLane<double> own[kSummedTogether];
    PerLane<bool> tied[kSummedTogether];
    warp.compute([&](unsigned lane) {
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < kSummedTogether; ++at) {
        own[at][lane] = next[at][lane];
        tied[at][lane] = own[at][lane] == kTied;
      }
    });
    read(first + kStep);  // while these are summed
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kSummedTogether; ++at) {
      std::uint32_t left = warp.mask(tied[at]);
      if (left != 0 && all_equal &&
          measure_equals(warp, args.discounts, split, first + at * kWarpLanes, tied[at], ties,
                         own[at])) {
        left = 0;
      }
      for (; left != 0; left &= left - 1) {
        const auto tied_lane = static_cast<unsigned>(__builtin_ctz(left));
        const std::uint32_t query = first + at * kWarpLanes + tied_lane;
        const DocScores scores = {scores_of(args, place, split.first_tiles[query])};
        const double value = ndcg_with_ties(warp, args.discounts, split, query, scores, ties);
        warp.compute([&](unsigned lane) {
          if (lane == tied_lane) own[at][lane] = value;
        });
      }
      PLACKETT_UNROLL(8)
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) sum += warp.from(own[at], lane);
    }
  }
  const double offline = run.counted == 0 ? 0 : sum / run.counted;
  warp.each([&](unsigned lane) {
    if (lane == 0) args.states[which].offline = offline;
  });
}

}  // namespace plackett::gpu
