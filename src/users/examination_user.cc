#include "users/examination_user.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {
namespace {

constexpr std::size_t kTabulatedRanks = 128;  // lower ranks are computed on demand

double examined_by_rank(std::size_t rank, double eta) {
  return std::pow(static_cast<double>(rank + 1), -eta);
}

// How many values the first ranks have in Spec::examine.
constexpr std::size_t triangle(std::size_t ranks) { return ranks * (ranks + 1) / 2; }

double by_rank(std::span<const double> values, std::size_t rank, double otherwise) {
  return values.empty() ? otherwise : values[std::min(rank, values.size() - 1)];
}

}  // namespace

ExaminationUser::ExaminationUser(const Spec& spec)
    : eta_(spec.eta),
      by_distance_(!spec.examine.empty()),
      examined_(spec.examine.begin(), spec.examine.end()),
      clicked_ranks_(std::max({spec.relevant.size(), spec.irrelevant.size(), std::size_t{1}})),
      grade_count_(static_cast<std::uint32_t>(spec.click.size())),
      name_(spec.name) {
  assert(!spec.click.empty() && spec.click.size() <= kMaxLabel + 1);
  assert(std::isfinite(eta_) && eta_ >= 0);
  if (by_distance_) {
    while (triangle(examined_ranks_) < examined_.size()) ++examined_ranks_;
    assert(triangle(examined_ranks_) == examined_.size());
  } else {
    examined_ranks_ = kTabulatedRanks;
    for (std::size_t rank = 0; rank < kTabulatedRanks; ++rank) {
      examined_.push_back(examined_by_rank(rank, eta_));
    }
  }
  for (std::size_t rank = 0; rank < clicked_ranks_; ++rank) {
    const double irrelevant = by_rank(spec.irrelevant, rank, 0);
    const double more = by_rank(spec.relevant, rank, 1) - irrelevant;
    for (const double click : spec.click) clicked_.push_back(irrelevant + more * click);
  }
}

double ExaminationUser::chance(std::size_t rank, std::size_t below_click,
                               std::uint8_t label) const {
  assert(label < grade_count_);
  const double clicked = clicked_[std::min(rank, clicked_ranks_ - 1) * grade_count_ + label];
  if (by_distance_) {
    const std::size_t row = std::min(rank, examined_ranks_ - 1);
    const bool no_click = below_click == 0 || row == 0;
    const std::size_t column = no_click ? row : std::min(rank - below_click, row - 1);
    return examined_[triangle(row) + column] * clicked;
  }
  return (rank < examined_ranks_ ? examined_[rank] : examined_by_rank(rank, eta_)) * clicked;
}

void ExaminationUser::click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
                            std::span<std::uint8_t> clicks) const {
  assert(clicks.size() == shown.size());
  std::size_t below_click = 0;
  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    const double probability = chance(rank, below_click, judgments.label(shown[rank]));
    clicks[rank] = static_cast<double>(rng.next_u32()) < probability * 0x1p32 ? 1 : 0;
    if (clicks[rank] != 0) below_click = rank + 1;
  }
}

std::optional<ClickEnds> ExaminationUser::ends(std::size_t rank, std::size_t below_click,
                                               std::uint8_t label) const {
  // A draw is an integer: below x is below x rounded up.
  const auto click =
      static_cast<std::uint64_t>(std::ceil(chance(rank, below_click, label) * 0x1p32));
  return ClickEnds{.click_and_stop = 0, .click = click, .click_or_stop = click};
}

double ExaminationUser::pattern_probability(std::span<const std::uint8_t> labels,
                                            std::span<const std::uint8_t> clicks) const {
  assert(clicks.size() == labels.size());
  double product = 1;
  std::size_t below_click = 0;
  for (std::size_t rank = 0; rank < labels.size(); ++rank) {
    const double clicked = chance(rank, below_click, labels[rank]);
    product *= clicks[rank] != 0 ? clicked : 1 - clicked;
    if (clicks[rank] != 0) below_click = rank + 1;
  }
  return product;
}

bool ExaminationUser::alike(std::uint8_t label, std::uint8_t other) const {
  assert(label < grade_count_ && other < grade_count_);
  bool ever_clicks = !by_distance_;
  for (std::size_t ranks = 1; by_distance_ && ranks <= examined_ranks_; ++ranks) {
    ever_clicks = ever_clicks || examined_[triangle(ranks) - 1] > 0;  // without a click before
  }
  if (!ever_clicks) return true;
  for (std::size_t rank = 0; rank < clicked_ranks_; ++rank) {
    const std::size_t row = rank * grade_count_;
    if (clicked_[row + label] != clicked_[row + other]) return false;
  }
  return true;
}

}  // namespace plackett
