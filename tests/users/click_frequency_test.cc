// Clicks as drawn against clicks as computed: over all patterns of five documents, chi-square,
// alpha 1e-6 a case, fixed seeds.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "plackett/make_user.h"
#include "support/chi_square.h"

namespace plackett {
namespace {

using testing::chi_square_p;
using testing::kFalseAlarmRate;

constexpr std::uint64_t kImpressions = 200'000;

struct Case {
  std::string model;
  UserOptions options;
  std::vector<std::uint8_t> labels;  // by document; shown in reverse order
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string_view model : click_model_names()) {
    for (const StopRule rule : {StopRule::kAfterClick, StopRule::kAfterAnyDocument}) {
      cases.push_back({std::string(model), {.grade_count = 2, .stop_rule = rule}, {0, 1, 1, 0, 1}});
      cases.push_back({std::string(model), {.grade_count = 3, .stop_rule = rule}, {2, 0, 1, 0, 1}});
      cases.push_back({std::string(model), {.grade_count = 5, .stop_rule = rule}, {3, 0, 2, 4, 1}});
    }
  }
  cases.push_back({"position-based", {.grade_count = 5, .eta = 0.5}, {3, 0, 2, 4, 1}});
  cases.push_back({"position-based", {.grade_count = 5, .eta = 0}, {3, 0, 2, 4, 1}});
  return cases;
}

std::vector<Doc> reversed_docs(std::size_t count) {
  std::vector<Doc> shown;
  for (std::size_t left = count; left > 0; --left) {
    shown.push_back(Doc{static_cast<std::uint32_t>(left - 1)});
  }
  return shown;
}

std::vector<std::uint64_t> drawn_patterns(const User& user, std::span<const std::uint8_t> labels,
                                          std::span<const Doc> shown) {
  std::vector<std::uint64_t> counts(std::size_t{1} << shown.size());
  std::vector<std::uint8_t> clicks(shown.size());
  for (std::uint64_t impression = 0; impression < kImpressions; ++impression) {
    Rng rng({.seed = 20, .impression = impression, .purpose = Purpose::kClicks});
    user.click(shown, Judgments(labels), rng, clicks);
    std::size_t pattern = 0;
    for (std::size_t rank = 0; rank < clicks.size(); ++rank) {
      pattern |= std::size_t{clicks[rank]} << rank;
    }
    ++counts[pattern];
  }
  return counts;
}

std::vector<double> computed_patterns(const User& user, std::span<const std::uint8_t> labels,
                                      std::span<const Doc> shown) {
  std::vector<std::uint8_t> shown_labels;
  for (const Doc doc : shown) shown_labels.push_back(labels[index(doc)]);
  std::vector<double> probabilities(std::size_t{1} << shown.size());
  std::vector<std::uint8_t> clicks(shown.size());
  for (std::size_t pattern = 0; pattern < probabilities.size(); ++pattern) {
    for (std::size_t rank = 0; rank < clicks.size(); ++rank) {
      clicks[rank] = static_cast<std::uint8_t>(pattern >> rank & 1);
    }
    probabilities[pattern] = user.pattern_probability(shown_labels, clicks);
  }
  return probabilities;
}

TEST(Users, DrawnPatternsMatchPatternProbability) {
  for (const Case& test : all_cases()) {
    const auto user = make_user(test.model, test.options);
    ASSERT_TRUE(user.ok()) << user.error().message;
    const std::vector<Doc> shown = reversed_docs(test.labels.size());
    EXPECT_GT(chi_square_p(drawn_patterns(**user, test.labels, shown),
                           computed_patterns(**user, test.labels, shown)),
              kFalseAlarmRate)
        << test.model << ", " << test.options.grade_count << " grades";
  }
}

// The planted faults below must be seen by the very same check.
TEST(Users, FrequencyCheckRejectsTheOtherStopRule) {
  const std::vector<std::uint8_t> labels = {3, 0, 2, 4, 1};
  const std::vector<Doc> shown = reversed_docs(labels.size());
  for (const std::string_view model : {"navigational", "informational", "almost-random"}) {
    const auto drawn = make_user(model, {.stop_rule = StopRule::kAfterClick});
    const auto computed = make_user(model, {.stop_rule = StopRule::kAfterAnyDocument});
    EXPECT_LT(chi_square_p(drawn_patterns(**drawn, labels, shown),
                           computed_patterns(**computed, labels, shown)),
              kFalseAlarmRate)
        << model;
  }
}

// All of these but trust-bias click examined documents as informational does.
TEST(Users, FrequencyCheckRejectsAnotherModel) {
  const std::vector<std::uint8_t> labels = {3, 0, 2, 4, 1};
  const std::vector<Doc> shown = reversed_docs(labels.size());
  const std::vector<std::string> models = {"informational", "position-based", "dependent-click",
                                           "user-browsing", "trust-bias"};
  for (const std::string& drawn : models) {
    const auto counts = drawn_patterns(**make_user(drawn, {}), labels, shown);
    for (const std::string& computed : models) {
      const double p =
          chi_square_p(counts, computed_patterns(**make_user(computed, {}), labels, shown));
      EXPECT_EQ(p > kFalseAlarmRate, drawn == computed) << drawn << " as " << computed;
    }
  }
}

TEST(Users, FrequencyCheckRejectsTwoSwappedDocuments) {
  const std::vector<std::uint8_t> labels = {3, 0, 2, 4, 1};
  std::vector<Doc> shown = reversed_docs(labels.size());
  for (const std::string_view model : {"perfect", "almost-random", "position-based",
                                       "dependent-click", "user-browsing", "trust-bias"}) {
    const auto user = make_user(model, {});
    const std::vector<std::uint64_t> counts = drawn_patterns(**user, labels, shown);
    std::swap(shown[0], shown[1]);
    EXPECT_LT(chi_square_p(counts, computed_patterns(**user, labels, shown)), kFalseAlarmRate)
        << model;
    std::swap(shown[0], shown[1]);
  }
}

TEST(Users, FrequencyCheckRejectsAClickProbabilityOffByOneInFifty) {
  const std::vector<double> click = {.5};
  const std::vector<double> faulty = {.51};
  const std::vector<double> stop = {0};
  const CascadeUser right({.name = "right", .click = click, .stop = stop});
  const CascadeUser wrong({.name = "wrong", .click = faulty, .stop = stop});
  const std::vector<std::uint8_t> labels = {0, 0, 0, 0, 0};
  const std::vector<Doc> shown = reversed_docs(labels.size());
  EXPECT_LT(
      chi_square_p(drawn_patterns(wrong, labels, shown), computed_patterns(right, labels, shown)),
      kFalseAlarmRate);
}

TEST(Users, ClicksAreAFunctionOfTheStream) {
  const std::vector<std::uint8_t> labels = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
  const std::vector<Doc> shown = reversed_docs(labels.size());
  for (const std::string_view model : click_model_names()) {
    const auto user = make_user(model, {});
    std::vector<std::uint8_t> first(shown.size());
    std::vector<std::uint8_t> second(shown.size(), 1);  // what was there must not matter
    for (std::uint64_t impression = 0; impression < 100; ++impression) {
      const Rng stream({.seed = 7, .impression = impression, .purpose = Purpose::kClicks});
      Rng rng = stream;
      (*user)->click(shown, Judgments(labels), rng, first);
      rng = stream;
      (*user)->click(shown, Judgments(labels), rng, second);
      ASSERT_EQ(first, second) << model;
    }
  }
}

TEST(Users, EndsDecideAsClickDoes) {
  constexpr std::uint32_t kShown = 12;
  std::vector<std::uint8_t> labels;
  std::vector<Doc> shown;
  for (std::uint32_t doc = 0; doc < kShown; ++doc) {
    labels.push_back(static_cast<std::uint8_t>(doc * 7 % 5));
    shown.push_back(Doc{doc});
  }
  for (const std::string_view name : click_model_names()) {
    SCOPED_TRACE(name);
    const auto user = make_user(name, {}).value();
    for (std::uint32_t run = 0; run < 300; ++run) {
      const Rng::Stream stream{.seed = 3, .run = run};
      std::vector<std::uint8_t> clicks(kShown);
      Rng rng(stream);
      user->click(shown, Judgments(labels), rng, clicks);
      std::vector<std::uint8_t> expected(kShown);
      Rng again(stream);
      std::uint32_t below_click = 0;
      for (std::uint32_t rank = 0; rank < kShown; ++rank) {
        const ClickEnds ends = user->ends(rank, below_click, labels[rank]).value();
        const std::uint64_t draw = again.next_u32();
        expected[rank] = draw < ends.click ? 1 : 0;
        if (expected[rank] != 0) below_click = rank + 1;
        if (draw < (expected[rank] != 0 ? ends.click_and_stop : ends.click_or_stop)) break;
      }
      ASSERT_EQ(clicks, expected);
    }
  }
}

TEST(Users, PositionBasedUserHandlesListsBeyondItsTable) {
  const std::vector<std::uint8_t> labels(300, 4);
  const std::vector<Doc> shown = reversed_docs(labels.size());
  const auto user = make_user("position-based", {});
  std::vector<std::uint64_t> clicked(shown.size());
  std::vector<std::uint8_t> clicks(shown.size());
  for (std::uint64_t impression = 0; impression < 20'000; ++impression) {
    Rng rng({.seed = 3, .impression = impression, .purpose = Purpose::kClicks});
    (*user)->click(shown, Judgments(labels), rng, clicks);
    for (std::size_t rank = 0; rank < clicks.size(); ++rank) clicked[rank] += clicks[rank];
  }
  // Ranks 200..299: 0.9 * sum of 1 / r for r = 201..300 = 0.3640 clicks an impression, a sum of
  // independent draws with standard deviation below sqrt(20,000 * 0.364) = 86; five of them.
  std::uint64_t deep = 0;
  for (std::size_t rank = 200; rank < 300; ++rank) deep += clicked[rank];
  EXPECT_NEAR(static_cast<double>(deep), 7281, 430);
}

}  // namespace
}  // namespace plackett
