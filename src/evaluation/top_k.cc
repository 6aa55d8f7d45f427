#include "plackett/top_k.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/aligned.h"
#include "base/kernels.h"

namespace plackett {
namespace {

void shuffle(std::span<Doc> docs, Rng& rng) {
  for (std::size_t left = docs.size(); left > 1; --left) {
    std::swap(docs[left - 1], docs[rng.below(static_cast<std::uint32_t>(left))]);
  }
}

// Fills `places` with documents of that score, each equally likely (reservoir sampling). Draws only
// if there are more documents than places.
void draw_tied(std::span<const float> scores, float score, Rng& rng, std::span<Doc> places) {
  std::uint32_t seen = 0;
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) {
    if (scores[doc] != score) continue;
    const std::uint32_t place = seen < places.size() ? seen : rng.below(seen + 1);
    if (place < places.size()) places[place] = Doc{doc};
    ++seen;
  }
}

// Lists up to this long are kept sorted as documents come; longer ones as a heap.
constexpr std::size_t kShort = 16;

// Best first; ties at the cut go to the earlier document.
void select_short(std::span<const float> scores, std::span<Doc> out) {
  std::array<float, kShort> kept;  // kept[rank] is the score of out[rank]
  std::size_t count = 0;
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) {
    const float score = scores[doc];
    if (count == out.size()) {
      if (!(score > kept[count - 1])) continue;
    } else {
      ++count;
    }
    std::size_t rank = count - 1;
    for (; rank > 0 && score > kept[rank - 1]; --rank) {
      kept[rank] = kept[rank - 1];
      out[rank] = out[rank - 1];
    }
    kept[rank] = score;
    out[rank] = Doc{doc};
  }
}

// The same, by a heap with the worst of the best so far on top.
void select_long(std::span<const float> scores, std::span<Doc> out) {
  const auto better = [scores](Doc a, Doc b) { return scores[index(a)] > scores[index(b)]; };
  const auto k = static_cast<std::uint32_t>(out.size());
  for (std::uint32_t doc = 0; doc < k; ++doc) out[doc] = Doc{doc};
  if (k < scores.size()) {
    std::make_heap(out.begin(), out.end(), better);
    float worst = scores[index(out.front())];
    for (std::uint32_t doc = k; doc < scores.size(); ++doc) {
      if (!(scores[doc] > worst)) continue;
      std::pop_heap(out.begin(), out.end(), better);
      out.back() = Doc{doc};
      std::push_heap(out.begin(), out.end(), better);
      worst = scores[index(out.front())];
    }
  }
  std::sort(out.begin(), out.end(), better);
}

// Longer lists are ranked by counting up to this many documents: the count is quadratic.
constexpr std::size_t kMostCounted = 512;

// The documents of the first `count` of `scores`: doc_at(c) is that of scores[c]. If no two scores
// are equal, puts the best into `out`; else returns false and leaves `out` as it was. Requires:
// out.size() <= count; scores has room for count rounded up to kLanes.
template <std::size_t kRoom, typename DocAt>
bool place_distinct(std::array<float, kRoom>& scores, std::size_t count, DocAt doc_at,
                    std::span<Doc> out) {
  const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
  std::fill(scores.data() + count, scores.data() + padded, std::numeric_limits<float>::infinity());
  alignas(kAlignment) std::array<std::uint32_t, kRoom> above;
  if (kernels().count_above(scores.data(), count, above.data()) != count * (count - 1) / 2) {
    return false;
  }
  for (std::uint32_t at = 0; at < count; ++at) {
    if (above[at] < out.size()) out[above[at]] = doc_at(at);
  }
  return true;
}

// Puts the best documents into `out` if their order needs no draw and is quickly found; else
// returns false and leaves `out` as it was. Requires: 0 < out.size() <= scores.size().
bool select_distinct(std::span<const float> scores, std::span<Doc> out) {
  if (out.size() > kLanes) {
    if (scores.size() > kMostCounted) return false;
    alignas(kAlignment) std::array<float, kMostCounted> all;
    std::copy(scores.begin(), scores.end(), all.begin());
    return place_distinct(
        all, scores.size(), [](std::uint32_t at) { return Doc{at}; }, out);
  }
  constexpr std::size_t kRoom = kMostKept + kLanes;
  alignas(kAlignment) std::array<float, kRoom> kept;
  std::array<std::uint32_t, kRoom> positions;
  const std::size_t count =
      kernels().keep_best(scores.data(), scores.size(), out.size(), kept.data(), positions.data());
  if (count == 0) return false;
  return place_distinct(
      kept, count, [&positions](std::uint32_t at) { return Doc{positions[at]}; }, out);
}

}  // namespace

void top_k(std::span<const float> scores, Rng& rng, std::span<Doc> out) {
  assert(out.size() <= scores.size());
  if (out.empty()) return;
  if (select_distinct(scores, out)) return;
  if (out.size() <= kShort) {
    select_short(scores, out);
  } else {
    select_long(scores, out);
  }

  // Each run of equal scores in random order; the last run may continue beyond the cut.
  const float last = scores[index(out.back())];
  for (std::size_t begin = 0; begin < out.size();) {
    const float score = scores[index(out[begin])];
    std::size_t end = begin + 1;
    while (end < out.size() && scores[index(out[end])] == score) ++end;
    const std::span<Doc> tied = out.subspan(begin, end - begin);
    if (score == last && out.size() < scores.size()) draw_tied(scores, score, rng, tied);
    shuffle(tied, rng);
    begin = end;
  }
}

}  // namespace plackett
