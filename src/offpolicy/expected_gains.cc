#include "offpolicy/expected_gains.h"

namespace plackett {

void ExpectedGains::add(const LoggedList& list, std::span<const double> gains) {
  means_.add(list, gains);
  regression_.add(list, gains);
}

void ExpectedGains::merge(const ExpectedGains& other) {
  means_.merge(other.means_);
  regression_.merge(other.regression_);
}

void ExpectedGains::solve() {
  regression_.solve();
  for (std::size_t fold = 0; fold < RankMeans::kFolds; ++fold) {
    rank_means_[fold] = means_.outside(fold);
  }
}

GainModel ExpectedGains::of(const LoggedList& list, std::size_t ranks, Scratch& scratch) const {
  auto& [base, factor, values, later] = scratch;
  regression_.predict(list, values);
  base.resize(ranks);
  later.resize(ranks);
  while (factor.size() < ranks) factor.push_back(GainRegression::factor(factor.size()));
  const auto& means = rank_means_[RankMeans::fold_of(list)];
  double below = 0;
  for (std::size_t rank = ranks; rank-- > 0;) {
    base[rank] = regression_.base(list, rank);
    later[rank] = below;
    below += rank < means.size() ? means[rank] : 0.0;
  }
  return {base, factor, values, later};
}

}  // namespace plackett
