#include "preferences.h"

#include <algorithm>

#include "background.h"

namespace plackett::python {
namespace {

// A winner's work, in steps of up to some nanoseconds: its losers, each at some distance.
std::uint64_t work_a_winner(std::uint32_t seen) { return std::uint64_t{seen} * seen; }

// Below this, some milliseconds at most, a thread is not worth it.
constexpr std::uint64_t kLongWork = 1'000'000;
// Between looks at whether to stop; a tenth of a second or so.
constexpr std::uint64_t kPartWork = 20'000'000;

// The winners in parts. infer() gives a part's pairs where the last click stays, which says how far
// the user saw; documents whose clicks were left out are no losers, and the last one's pairs belong
// to the last part.
std::vector<WeightedPair> in_parts(const Ranking& ranking, std::span<const std::uint8_t> clicks,
                                   const std::vector<std::uint32_t>& winners, std::size_t part,
                                   const Watch& watch) {
  std::vector<WeightedPair> pairs;
  PairInference inference;
  std::vector<std::uint8_t> some(clicks.size());
  for (std::size_t begin = 0; begin < winners.size() && !watch.stop(); begin += part) {
    const std::size_t end = std::min(begin + part, winners.size());
    std::fill(some.begin(), some.end(), std::uint8_t{0});
    some[winners.back()] = 1;
    for (std::size_t at = begin; at < end; ++at) some[winners[at]] = 1;
    for (const WeightedPair& pair : inference.infer(ranking, some)) {
      if (clicks[pair.loser_rank] == 0 && pair.winner_rank <= winners[end - 1]) {
        pairs.push_back(pair);
      }
    }
  }
  return pairs;
}

}  // namespace

std::vector<WeightedPair> inferred_pairs(const Ranking& ranking,
                                         std::span<const std::uint8_t> clicks) {
  std::vector<std::uint32_t> winners;
  for (std::uint32_t rank = 0; rank < clicks.size(); ++rank) {
    if (clicks[rank] != 0) winners.push_back(rank);
  }
  const std::uint64_t work = work_a_winner(seen_places(clicks));
  if (winners.size() * work < kLongWork) {
    PairInference inference;
    const auto pairs = inference.infer(ranking, clicks);
    return {pairs.begin(), pairs.end()};
  }
  const auto part = static_cast<std::size_t>(std::max<std::uint64_t>(kPartWork / work, 2));
  return in_background<std::vector<WeightedPair>>(
      [&](const Watch& watch) { return in_parts(ranking, clicks, winners, part, watch); }, {});
}

py::array_t<double> weights_by_doc(const Ranking& ranking, std::span<const std::uint8_t> clicks,
                                   std::size_t doc_count) {
  std::vector<double> by_rank(ranking.shown.size());
  sum_by_rank(inferred_pairs(ranking, clicks), by_rank);
  py::array_t<double> by_doc(static_cast<py::ssize_t>(doc_count));
  std::fill_n(by_doc.mutable_data(), doc_count, 0.0);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    by_doc.mutable_data()[index(ranking.shown[rank])] = by_rank[rank];
  }
  return by_doc;
}

}  // namespace plackett::python
