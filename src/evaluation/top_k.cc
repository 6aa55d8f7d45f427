#include "evaluation/top_k.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

namespace plackett {
namespace {

void shuffle(std::span<Doc> docs, Rng& rng) {
  for (std::size_t left = docs.size(); left > 1; --left) {
    std::swap(docs[left - 1], docs[rng.below(static_cast<std::uint32_t>(left))]);
  }
}

// Fills `places` with documents of that score, each such document as likely as another
// (reservoir sampling). Draws only where they are more than the places.
void draw_tied(std::span<const float> scores, float score, Rng& rng, std::span<Doc> places) {
  std::uint32_t seen = 0;
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) {
    if (scores[doc] != score) continue;
    const std::uint32_t place = seen < places.size() ? seen : rng.below(seen + 1);
    if (place < places.size()) places[place] = Doc{doc};
    ++seen;
  }
}

}  // namespace

void top_k(std::span<const float> scores, Rng& rng, std::span<Doc> out) {
  assert(out.size() <= scores.size());
  if (out.empty()) return;
  const auto better = [scores](Doc a, Doc b) { return scores[index(a)] > scores[index(b)]; };

  // A heap with the worst of the best so far on top; ties at its edge are settled below.
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

  const float last = scores[index(out.back())];
  for (std::size_t begin = 0; begin < out.size();) {
    const float score = scores[index(out[begin])];
    std::size_t end = begin + 1;
    while (end < out.size() && scores[index(out[end])] == score) ++end;
    const std::span<Doc> tied = out.subspan(begin, end - begin);
    if (score == last && k < scores.size()) draw_tied(scores, score, rng, tied);
    shuffle(tied, rng);
    begin = end;
  }
}

}  // namespace plackett
