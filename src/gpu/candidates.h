// Candidate rankers: the current one, moved along random directions, with the bits of Candidates
// (learner/candidates.h).
#pragma once

#include "base/philox.h"
#include "base/portable_normals.h"
#include "gpu/block.h"
#include "gpu/duel_data.h"
#include "gpu/run_data.h"
#include "gpu/score.h"
#include "gpu/score_rankers.h"
#include "gpu/warp.h"
#include "plackett/rng.h"

namespace plackett::gpu {

// Philox blocks that the directions take of the ranking's stream.
constexpr std::uint32_t direction_blocks(std::uint32_t candidates, std::uint32_t width) {
  return (candidates * width + 63) / 64 * 16;
}

// The normals of one such block. Of a group of 64 they are those at block % 16, and 16, 32 and 48
// later.
[[gnu::always_inline]] inline Quad normals_of_block(const RunData& run, std::uint64_t impression,
                                                    std::uint32_t block) {
  std::uint32_t words[4] = {block, static_cast<std::uint32_t>(impression), run.run,
                            static_cast<std::uint32_t>(Purpose::kRanking) |
                                (static_cast<std::uint32_t>(impression >> 32) << 8)};
  philox_block(words, static_cast<std::uint32_t>(run.seed),
               static_cast<std::uint32_t>(run.seed >> 32));
  const auto root = [](float x) { return square_root(x); };
  const NormalPair one = portable_normals(words[0], words[1], root);
  const NormalPair other = portable_normals(words[2], words[3], root);
  return {{one.cosine, one.sine, other.cosine, other.sine}};
}

// directions[candidate][width]: normals, padded with zeros. lengths[candidate] = 1 / their length.
template <typename Team>
[[gnu::always_inline]] inline void draw_directions(const Team& team, const RunData& run,
                                                   std::uint64_t impression, float* directions,
                                                   float* lengths) {
  const std::uint32_t width = run.train.width;
  const std::uint32_t count = run.duels.candidates * width;
  const std::uint32_t blocks = direction_blocks(run.duels.candidates, width);
  team.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      PLACKETT_UNROLL(2)
      for (std::uint32_t block = number * kWarpLanes + lane; block < blocks;
           block += team.warps() * kWarpLanes) {
        const Quad normals = normals_of_block(run, impression, block);
        // The last group may be cut short.
        const std::uint32_t at = block / 16 * 64 + block % 16;
        if (at < count) directions[at] = normals.values[0];
        if (at + 16 < count) directions[at + 16] = normals.values[1];
        if (at + 32 < count) directions[at + 32] = normals.values[2];
        if (at + 48 < count) directions[at + 48] = normals.values[3];
      }
    });
  });
  // Half a warp for a candidate, in the order of Kernels::dot_rows.
  team.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    for (std::uint32_t first = 2 * number; first < run.duels.candidates;
         first += 2 * team.warps()) {
      PerLane<float> squares;
      warp.compute([&](unsigned lane) PLACKETT_INLINE {
        squares[lane] = 0;
        const std::uint32_t candidate = first + lane / 16;
        if (candidate >= run.duels.candidates) return;
        float* direction = directions + std::size_t{candidate} * width;
        std::uint32_t at = lane % 16;
        PLACKETT_UNROLL(4)
        for (; at < run.duels.parameters; at += 16) {
          squares[lane] = multiply_add(direction[at], direction[at], squares[lane]);
        }
        for (; at < width; at += 16) direction[at] = 0;
      });
      for (unsigned distance = 8; distance > 0; distance /= 2) {
        add_at_distance(warp, squares, distance);
      }
      warp.compute([&](unsigned lane) {
        const std::uint32_t candidate = first + lane / 16;
        if (lane % 16 != 0 || candidate >= run.duels.candidates) return;
        lengths[candidate] = squares[lane] > 0 ? 1.0F / square_root(squares[lane]) : 0.0F;
      });
    }
  });
}

// A candidate's score, of its direction's and of the current ranker's.
inline float moved_score(float own, float length, float of_direction) {
  return own + length * of_direction;
}

// table[ranker][stride] = the scores, followed by -infinity up to the stride. False if one is not
// finite. `rankers` are the current weights and the direction of DBGD's candidate.
[[gnu::always_inline]] inline bool score_pair(const Alone& team, const RunData& run,
                                              const float* tiles, std::uint32_t docs,
                                              float* rankers, const float* lengths, float* table,
                                              std::uint32_t stride) {
  const std::uint32_t width = run.train.width;
  const std::uint32_t count = run.duels.candidates + 1;
  team.each_warp([&](const Warp& warp, unsigned) PLACKETT_INLINE {
    Scored scored[kDuelGroup];
    const RankersScratch scratch = {
        .weights = rankers, .weight_stride = width, .scores = table, .score_stride = stride};
    score_docs<kDuelGroup, read_quad>(warp, tiles, docs, width, scratch, scored);
  });
  return !team.any_warp([&](const Warp& warp, unsigned) PLACKETT_INLINE {
    PerLane<bool> bad;
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      bad[lane] = false;
      for (std::uint32_t doc = lane; doc < stride; doc += kWarpLanes) {
        const bool is_doc = doc < docs;
        const float own = is_doc ? table[doc] : -__builtin_inff();
        if (!is_doc) table[doc] = own;
        bad[lane] = bad[lane] || (is_doc && 0.0F * own != 0.0F);
        PLACKETT_UNROLL(4)
        for (std::uint32_t ranker = 1; ranker < count; ++ranker) {
          float& score = table[std::size_t{ranker} * stride + doc];
          const float moved = is_doc ? moved_score(own, lengths[ranker - 1], score) : own;
          score = moved;
          bad[lane] = bad[lane] || (is_doc && 0.0F * moved != 0.0F);
        }
      }
    });
    return warp.any(bad);
  });
}

// table[ranker][stride]: scores.
struct ScoreTable {
  float* table = nullptr;
  std::uint32_t stride = 0;
  std::uint32_t docs = 0;
  std::uint32_t rankers = 0;
};

// Candidates' scores in place of their directions', followed by -infinity up to the stride. False
// if one is not finite.
[[gnu::always_inline]] inline bool move_scores(const Block& block, const ScoreTable& scores,
                                               const float* lengths) {
  return !block.any_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    PerLane<bool> bad;
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      bad[lane] = false;
      // The current ranker's own scores no warp changes.
      for (std::uint32_t ranker = number; ranker < scores.rankers; ranker += block.warps()) {
        float* row = scores.table + std::size_t{ranker} * scores.stride;
        const float length = ranker == 0 ? 0.0F : lengths[ranker - 1];
        PLACKETT_UNROLL(4)
        for (std::uint32_t doc = lane; doc < scores.docs; doc += kWarpLanes) {
          float score = scores.table[doc];
          if (ranker > 0) row[doc] = score = moved_score(score, length, row[doc]);
          bad[lane] = bad[lane] || 0.0F * score != 0.0F;
        }
        for (std::uint32_t doc = scores.docs + lane; doc < scores.stride; doc += kWarpLanes) {
          row[doc] = -__builtin_inff();
        }
      }
    });
    return warp.any(bad);
  });
}

// weights += the sum over candidates of factors[at] * the direction of which[at], in that order.
template <typename Team>
[[gnu::always_inline]] inline void add_directions(const Team& team, const float* directions,
                                                  std::uint32_t width, const std::uint32_t* which,
                                                  const float* factors, std::uint32_t count,
                                                  float* weights) {
  team.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      for (std::uint32_t at = (number * kWarpLanes + lane) * 2; at < width;
           at += team.warps() * kWarpLanes * 2) {
        Pair& sum = *reinterpret_cast<Pair*>(weights + at);
        Pair value = sum;
        PLACKETT_UNROLL(4)
        for (std::uint32_t place = 0; place < count; ++place) {
          const Pair direction = read_pair(directions + std::size_t{which[place]} * width + at);
          const float factor = factors[place];
          for (unsigned part = 0; part < 2; ++part) {
            value.values[part] += factor * direction.values[part];
          }
        }
        sum = value;
      }
    });
  });
}

}  // namespace plackett::gpu
