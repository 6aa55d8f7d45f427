#include "plackett/cascade_user.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {
namespace {

// How many 32-bit values mean "yes": `rng.next_u32() < draw_threshold(p)` has probability p to
// within 2^-33, and exactly for 0 and 1. Requires: 0 <= p <= 1.
std::uint64_t draw_threshold(double probability) {
  assert(probability >= 0 && probability <= 1);
  return static_cast<std::uint64_t>(std::llround(probability * 0x1p32));
}

}  // namespace

CascadeUser::CascadeUser(const Spec& spec)
    : last_rank_(spec.go_on.empty() ? 0 : spec.go_on.size() - 1),
      grade_count_(static_cast<std::uint32_t>(spec.click.size())),
      name_(spec.name) {
  const bool by_rank = !spec.go_on.empty();
  const bool after_any = spec.stop_rule == StopRule::kAfterAnyDocument && !by_rank;
  assert(by_rank || spec.click.size() == spec.stop.size());
  assert(!spec.click.empty() && spec.click.size() <= kMaxLabel + 1);
  for (std::size_t rank = 0; rank <= last_rank_; ++rank) {
    for (std::size_t label = 0; label < spec.click.size(); ++label) {
      const double click = spec.click[label];
      const double stop = by_rank ? 1 - spec.go_on[rank] : spec.stop[label];
      const double stop_unclicked = after_any ? stop : 0;
      const Outcomes outcomes{.click_stop = click * stop,
                              .click_go = click * (1 - stop),
                              .skip_stop = (1 - click) * stop_unclicked,
                              .skip_go = (1 - click) * (1 - stop_unclicked)};
      outcomes_.push_back(outcomes);
      ends_.push_back({.click_and_stop = draw_threshold(click * stop),
                       .click = draw_threshold(click),
                       .click_or_stop = draw_threshold(std::min(1.0, click + outcomes.skip_stop))});
    }
  }
}

void CascadeUser::click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
                        std::span<std::uint8_t> clicks) const {
  assert(clicks.size() == shown.size());
  std::size_t rank = 0;
  while (rank < shown.size()) {
    const ClickEnds& ends = ends_[at(rank, judgments.label(shown[rank]))];
    const std::uint64_t draw = rng.next_u32();
    const bool clicked = draw < ends.click;
    clicks[rank++] = clicked ? 1 : 0;
    if (draw < (clicked ? ends.click_and_stop : ends.click_or_stop)) break;
  }
  std::fill(clicks.begin() + static_cast<std::ptrdiff_t>(rank), clicks.end(), std::uint8_t{0});
}

double CascadeUser::pattern_probability(std::span<const std::uint8_t> labels,
                                        std::span<const std::uint8_t> clicks) const {
  assert(clicks.size() == labels.size());
  std::size_t clicks_left = 0;
  for (const std::uint8_t clicked : clicks) clicks_left += clicked;

  // `reading` is the probability that the pattern is matched so far and the user reads on;
  // `stopped` that they left at an earlier document and the whole pattern is matched.
  double reading = 1;
  double stopped = 0;
  for (std::size_t rank = 0; rank < labels.size(); ++rank) {
    const Outcomes& outcomes = outcomes_[at(rank, labels[rank])];
    const bool clicked = clicks[rank] != 0;
    if (clicked) --clicks_left;
    if (clicks_left == 0) stopped += reading * (clicked ? outcomes.click_stop : outcomes.skip_stop);
    reading *= clicked ? outcomes.click_go : outcomes.skip_go;
  }
  return stopped + reading;
}

bool CascadeUser::alike(std::uint8_t label, std::uint8_t other) const {
  for (std::size_t rank = 0; rank <= last_rank_; ++rank) {
    if (outcomes_[at(rank, label)] != outcomes_[at(rank, other)]) return false;
  }
  return true;
}

}  // namespace plackett
