#include "offpolicy/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cholesky.h"

namespace plackett {

void ExaminationSums::grow(std::size_t ranks) {
  if (ranks <= ranks_) return;
  std::vector<Pair> grown(ranks * ranks);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    std::copy_n(pairs_.begin() + static_cast<std::ptrdiff_t>(rank * ranks_), ranks_,
                grown.begin() + static_cast<std::ptrdiff_t>(rank * ranks));
  }
  pairs_ = std::move(grown);
  ranks_ = ranks;
}

void ExaminationSums::add(const LoggedList& list, const PlaceChances& places) {
  grow(list.pinned.size());
  std::uint32_t place = 0;
  for (std::size_t rank = 0; rank < list.pinned.size(); ++rank) {
    if (list.pinned[rank] != 0) continue;
    const std::uint32_t doc = place++;  // documents come in the order of their places
    if (list.clicked[rank] == 0) continue;
    const double here = places.at(doc, doc);
    std::uint32_t other_place = 0;
    for (std::size_t other = 0; other < list.pinned.size(); ++other) {
      if (list.pinned[other] != 0) continue;
      const double there = places.at(doc, other_place++);
      // Where one of them is rare, its clicks would be missing more often than not. It is the same
      // items that count on both sides.
      constexpr double kLeastChance = 0.01;
      if (other == rank || std::min(here, there) < kLeastChance) continue;
      const double weight = there / (here + there) / list.keep;
      Pair& pair = pairs_[rank * ranks_ + other];
      pair.clicks += weight;
      pair.squares += weight * weight;
    }
  }
}

void ExaminationSums::merge(const ExaminationSums& other) {
  grow(other.ranks_);
  for (std::size_t rank = 0; rank < other.ranks_; ++rank) {
    for (std::size_t at = 0; at < other.ranks_; ++at) {
      pairs_[rank * ranks_ + at].clicks += other.pairs_[rank * other.ranks_ + at].clicks;
      pairs_[rank * ranks_ + at].squares += other.pairs_[rank * other.ranks_ + at].squares;
    }
  }
}

// Least squares of log e_k - log e_l = log(clicks_kl / clicks_lk), each pair by the inverse of its
// variance; log e_1 = 0.
Result<std::vector<double>> ExaminationSums::solve(std::uint32_t ranks) const {
  if (ranks_ == 0) return Error{"no list with its other candidates has a click"};
  const std::size_t count = ranks;
  const std::size_t unknown = count - 1;
  std::vector<double> matrix(unknown * unknown);
  std::vector<double> logs(unknown);
  std::vector<std::size_t> reached{0};
  std::vector<std::uint8_t> is_reached(count);
  is_reached[0] = 1;
  const auto known = [&](std::size_t rank, std::size_t other) {
    return std::max(rank, other) < ranks_ && pairs_[rank * ranks_ + other].clicks > 0 &&
           pairs_[other * ranks_ + rank].clicks > 0;
  };
  for (std::size_t at = 0; at < reached.size(); ++at) {
    for (std::size_t other = 0; other < count; ++other) {
      if (is_reached[other] != 0 || other == reached[at] || !known(reached[at], other)) continue;
      is_reached[other] = 1;
      reached.push_back(other);
    }
  }
  for (std::size_t rank = 0; rank < count; ++rank) {
    if (is_reached[rank] != 0) continue;
    return Error{fmt::format(
        "examination of rank {} is unknown: no clicks of items that could have been there and at "
        "a higher rank; the log is too small or explores too little",
        rank + 1)};
  }
  for (std::size_t rank = 0; rank < count; ++rank) {
    for (std::size_t other = rank + 1; other < count; ++other) {
      if (!known(rank, other)) continue;
      const Pair& here = pairs_[rank * ranks_ + other];
      const Pair& there = pairs_[other * ranks_ + rank];
      const double weight = 1 / (here.squares / (here.clicks * here.clicks) +
                                 there.squares / (there.clicks * there.clicks));
      const double ratio = std::log(here.clicks / there.clicks);
      const std::size_t lower = other - 1;
      matrix[lower * unknown + lower] += weight;
      logs[lower] -= weight * ratio;
      if (rank == 0) continue;
      const std::size_t upper = rank - 1;
      matrix[upper * unknown + upper] += weight;
      matrix[lower * unknown + upper] -= weight;
      logs[upper] += weight * ratio;
    }
  }
  if (unknown > 0) {
    factorise(matrix, unknown);
    solve_lower(matrix, logs);
    solve_upper(matrix, logs);
  }
  // The inverse of the matrix is the covariance of the logarithms.
  constexpr double kMostError = 0.2;
  std::vector<double> column;
  for (std::size_t at = 0; at < unknown; ++at) {
    column.assign(unknown, 0);
    column[at] = 1;
    solve_lower(matrix, column);
    const double error =
        std::sqrt(std::inner_product(column.begin(), column.end(), column.begin(), 0.0));
    if (!(error <= kMostError)) {
      return Error{fmt::format(
          "examination of rank {} is known to within {:.0f} % only; at most {:.0f} % are needed: "
          "the "
          "log has too few clicks of items that could have been there and at another rank",
          at + 2, 100 * error, 100 * kMostError)};
    }
  }
  std::vector<double> examination{1};
  for (const double log : logs) examination.push_back(std::exp(log));
  return examination;
}

}  // namespace plackett
