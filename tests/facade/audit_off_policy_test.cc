#include "plackett/audit_off_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "plackett/make_user.h"

namespace plackett::audit {
namespace {

OffPolicyCase drawn(std::uint64_t number) {
  Rng rng({.seed = 11, .impression = number});
  return draw_off_policy_case({.max_docs = 4}, 3, rng);
}

double largest_bias(const OffPolicyCase& one, const User& user, Estimator estimator) {
  Rng rng({.seed = 12});
  double largest = 0;
  for (const Bias& bias : audit_off_policy(one, user, rng)) {
    if (bias.estimator != estimator) continue;
    largest = std::max(largest, std::abs(bias.expected - bias.value));
  }
  return largest;
}

TEST(OffPolicyAudit, FindsNoBiasWhereClicksDependOnRanksAbove) {
  for (const std::string_view name : click_model_names()) {
    const auto user = *make_user(std::string(name), {.grade_count = 3});
    for (std::uint64_t number = 0; number < 30; ++number) {
      const OffPolicyCase one = drawn(number);
      EXPECT_TRUE(clicks_look_up(one.logged, *user)) << name;
      EXPECT_LT(largest_bias(one, *user, Estimator::kPrefixIps), kBiasTolerance) << name;
      EXPECT_LT(largest_bias(one, *user, Estimator::kDoublyRobust), kBiasTolerance) << name;
    }
  }
}

TEST(OffPolicyAudit, FindsNoBiasOfExposureWithPositionBasedUsers) {
  for (const double eta : {0.5, 1.0, 2.5}) {
    const auto user = *make_user("position-based", {.grade_count = 3, .eta = eta});
    for (std::uint64_t number = 0; number < 30; ++number) {
      const OffPolicyCase one = drawn(number);
      EXPECT_TRUE(clicks_by_position(one.logged, *user));
      EXPECT_LT(largest_bias(one, *user, Estimator::kExposure), kBiasTolerance);
    }
  }
}

// Clicks the first document if a better one is below it: what prefix IPS does not allow.
class LooksDown final : public User {
 public:
  [[nodiscard]] std::string_view name() const override { return "looks-down"; }
  [[nodiscard]] std::uint32_t grade_count() const override { return 3; }
  void click(std::span<const Doc>, const Judgments&, Rng&,
             std::span<std::uint8_t> clicks) const override {
    std::fill(clicks.begin(), clicks.end(), 0);
  }
  [[nodiscard]] double pattern_probability(std::span<const std::uint8_t> labels,
                                           std::span<const std::uint8_t> clicks) const override {
    const bool clicked = labels[1] > labels[0];
    for (std::size_t rank = 1; rank < clicks.size(); ++rank) {
      if (clicks[rank] != 0) return 0;
    }
    return (clicks[0] != 0) == clicked ? 1 : 0;
  }
};

// Proves that the audit can fail.
TEST(OffPolicyAudit, FindsTheBiasWhereAnAssumptionIsBroken) {
  OffPolicyCase one;
  one.logged = {.scores = {0, 0.5, 1}, .labels = {0, 1, 2}, .k = 2};
  one.target = {2, 0, 1};
  const LooksDown user;
  EXPECT_FALSE(clicks_look_up(one.logged, user));
  EXPECT_GT(largest_bias(one, user, Estimator::kPrefixIps), 0.01);
  EXPECT_GT(largest_bias(one, user, Estimator::kDoublyRobust), 0.01);

  const auto cascade = *make_user("navigational", {.grade_count = 3});
  EXPECT_FALSE(clicks_by_position(one.logged, *cascade));
  EXPECT_GT(largest_bias(one, *cascade, Estimator::kExposure), 0.01);
}

TEST(OffPolicyCoverage, IsNearTheLevel) {
  std::vector<CoverageCase> cases;
  const std::shared_ptr<const User> user = *make_user("informational", {.grade_count = 3});
  OffPolicyCase one;
  one.logged = {.scores = {0, 0.5, 1, 0.2}, .labels = {0, 1, 2, 1}, .k = 3};
  one.target = {0, 1.2, 2, 0.5};
  cases.push_back({one, user});
  CoverageOptions options{.logs = 400, .lists = 600, .seed = 4};
  options.estimate.bootstraps = 200;
  const auto coverage = measure_coverage(cases, options);
  ASSERT_TRUE(coverage.ok());
  ASSERT_EQ(coverage->size(), 3U);
  for (const Coverage& found : *coverage) {
    // A mean weight that is low by chance is refused.
    EXPECT_EQ(found.logs + found.refused, 400U);
    EXPECT_LE(found.refused, 8U);
    EXPECT_LT(std::abs(found.bias), 0.01) << name_of(found.estimator);
    // 374 with this seed. With others and 95 % coverage, fewer than 370 of 400 have a chance of
    // 1.2 %; with 90 % coverage, 370 or more have one of 5 %.
    EXPECT_GE(found.bootstrap, 370U) << name_of(found.estimator);
    EXPECT_LT(found.bootstrap, found.logs) << name_of(found.estimator);
    if (found.estimator != Estimator::kSelfNormalised) {
      EXPECT_GE(found.bernstein, found.logs - 20);
    }
  }
  // Proves that the check can fail: an interval that is too narrow for its level.
  options.estimate.level = 0.5;
  const auto narrow = measure_coverage(cases, options);
  ASSERT_TRUE(narrow.ok());
  EXPECT_LT(narrow->front().bootstrap, 300U);
}

}  // namespace
}  // namespace plackett::audit
