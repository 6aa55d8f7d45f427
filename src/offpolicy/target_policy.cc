// The policies that can be evaluated without more than scores.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "plackett/off_policy.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

// An order of the candidates that does not depend on what was shown: by their ids, or by their
// features if they have none. A list begins with what was shown, so its own order would tell.
bool comes_before(const LoggedList& list, Doc left, Doc right) {
  if (!list.ids.empty()) return list.ids[index(left)] < list.ids[index(right)];
  return std::ranges::lexicographical_compare(list.docs.row(left), list.docs.row(right));
}

// Divides the choice's scores, or sorts by them. False if one is not finite.
bool apply_temperature(float temperature, const LoggedList& list, PolicyChoice& choice) {
  choice.sampled = temperature > 0;
  if (!all_finite(choice.scores)) return false;
  if (choice.sampled) {
    for (float& score : choice.scores) score /= temperature;
    return all_finite(choice.scores);
  }
  choice.order.resize(choice.scores.size());
  for (std::uint32_t doc = 0; doc < choice.order.size(); ++doc) choice.order[doc] = Doc{doc};
  std::stable_sort(choice.order.begin(), choice.order.end(), [&](Doc left, Doc right) {
    const float left_score = choice.scores[index(left)];
    const float right_score = choice.scores[index(right)];
    return left_score != right_score ? left_score > right_score : comes_before(list, left, right);
  });
  return true;
}

Error not_finite(const LoggedList& list) {
  return Error{"list " + std::string(list.name) +
               ": a score is not finite; the features are too large for the model"};
}

class RankerPolicy final : public TargetPolicy {
 public:
  RankerPolicy(std::unique_ptr<Ranker> ranker, float temperature)
      : ranker_(std::move(ranker)), temperature_(temperature) {}

  [[nodiscard]] std::unique_ptr<TargetPolicy> clone() const override {
    return std::make_unique<RankerPolicy>(ranker_->clone(), temperature_);
  }
  Result<void> choose(const LoggedList& list, PolicyChoice& choice) override {
    choice.scores.resize(list.docs.doc_count());
    ranker_->score(list.docs, choice.scores);
    if (!apply_temperature(temperature_, list, choice)) return not_finite(list);
    return {};
  }

 private:
  std::unique_ptr<Ranker> ranker_;
  float temperature_;
};

class LoggedPolicy final : public TargetPolicy {
 public:
  explicit LoggedPolicy(float temperature) : temperature_(temperature) {}

  [[nodiscard]] std::unique_ptr<TargetPolicy> clone() const override {
    return std::make_unique<LoggedPolicy>(temperature_);
  }
  Result<void> choose(const LoggedList& list, PolicyChoice& choice) override {
    choice.scores.assign(list.scores.begin(), list.scores.end());
    if (!apply_temperature(temperature_, list, choice)) return not_finite(list);
    return {};
  }

 private:
  float temperature_;
};

}  // namespace

std::unique_ptr<TargetPolicy> ranker_policy(const Ranker& ranker, float temperature) {
  assert(std::isfinite(temperature) && temperature >= 0);
  return std::make_unique<RankerPolicy>(ranker.clone(), temperature);
}

std::unique_ptr<TargetPolicy> logged_policy(float temperature) {
  assert(std::isfinite(temperature) && temperature >= 0);
  return std::make_unique<LoggedPolicy>(temperature);
}

}  // namespace plackett
