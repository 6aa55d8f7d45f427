// The last list that a learner gave, for methods that learn from it alone, and once.
#pragma once

#include <vector>

#include "plackett/feature_view.h"
#include "plackett/ranking.h"
#include "plackett/rng.h"

namespace plackett {

class LastList {
 public:
  // `rng` as the list left it: what learning draws continues from there.
  void remember(const FeatureView& docs, const Ranking& ranking, const Rng& rng) {
    shown_ = ranking.shown;
    rows_ = docs.data();
    rng_ = rng;
  }
  // To be called before another list is chosen, which may fail.
  void forget() { shown_.clear(); }

  // Whether it is this one, of these documents. It is then forgotten.
  [[nodiscard]] bool take_if_same(const FeatureView& docs, const Ranking& ranking) {
    if (shown_.empty() || docs.data() != rows_ || ranking.shown != shown_) return false;
    forget();
    return true;
  }

  [[nodiscard]] Rng& rng() { return rng_; }

 private:
  std::vector<Doc> shown_;       // empty if there is none to learn from
  const float* rows_ = nullptr;  // of the documents that it was chosen from
  Rng rng_{{}};
};

}  // namespace plackett
