#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "facade/same.h"
#include "plackett/make_user.h"
#include "plackett/simulate.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

// A built-in user under another name; counts the lists that it saw.
class Renamed final : public User {
 public:
  Renamed(std::string name, std::string_view model)
      : name_(std::move(name)), user_(make_user(model, {.grade_count = 5}).value()) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::uint32_t grade_count() const override { return user_->grade_count(); }
  void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
             std::span<std::uint8_t> clicks) const override {
    ++seen_;
    user_->click(shown, judgments, rng, clicks);
  }
  [[nodiscard]] int seen() const { return seen_; }

 private:
  std::string name_;
  std::unique_ptr<User> user_;
  mutable std::atomic<int> seen_ = 0;
};

const Dataset& dataset() {
  static const Dataset data = load_dataset("synthetic", {}).value();
  return data;
}

TEST(OwnUser, TakesThePlaceOfTheClickModelInASimulation) {
  SimulationSpec spec;
  spec.runs = 3;
  spec.impressions = 200;
  spec.click_model = "navigational";
  const Simulated by_name = simulate(dataset(), spec).value();
  const auto user = std::make_shared<Renamed>("visitors", "navigational");
  spec.user = user;
  spec.click_model = "perfect";  // nobody asks
  for (const unsigned threads : {1U, 3U}) {
    const Simulated own = simulate(dataset(), spec, {.threads = threads}).value();
    testing::expect_same_runs(own.runs, by_name.runs);
    EXPECT_EQ(own.summary.click_model, "visitors");
  }
  EXPECT_EQ(user->seen(), 2 * 3 * 200);
}

ComparisonSpec small_spec() {
  ComparisonSpec spec;
  spec.methods = {{.entry = parse_method_entry("dbgd").value()},
                  {.entry = parse_method_entry("pdgd").value()}};
  spec.click_models = {"perfect", "visitors"};
  spec.users = {std::make_shared<Renamed>("visitors", "navigational")};
  spec.common.runs = 2;
  spec.common.impressions = 100;
  return spec;
}

TEST(OwnUser, StandsAmongTheClickModelsOfAComparison) {
  const std::array data{dataset()};
  ComparisonSpec spec = small_spec();
  const Compared own = compare(spec, data).value();
  spec.users.clear();
  spec.click_models = {"perfect", "navigational"};
  const Compared by_name = compare(spec, data).value();
  ASSERT_EQ(own.runs.size(), 4U);
  for (std::size_t cell = 0; cell < 4; ++cell) {
    testing::expect_same_runs(own.runs[cell], by_name.runs[cell]);
  }
  EXPECT_EQ(own.comparison.cells[2].click_model, "visitors");
  EXPECT_EQ(own.comparison.contrasts.size(), by_name.comparison.contrasts.size());
}

TEST(OwnUser, IsRefusedInAFolderWhichIsLeftAlone) {
  ComparisonSpec spec = small_spec();
  spec.datasets = {{.name = "synthetic", .path = "synthetic"}};
  const testing::TemporaryFolder folder;
  EXPECT_THAT(compare(spec, std::filesystem::path(folder / "a")).error().message,
              HasSubstr("click model \"visitors\" is a user of this program's own"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

TEST(OwnUser, IsRefusedWhereItCantTakePart) {
  const std::array data{dataset()};
  const auto message = [&](std::vector<std::shared_ptr<const User>> users) {
    ComparisonSpec spec = small_spec();
    spec.users = std::move(users);
    return compare(spec, data).error().message;
  };
  const auto named = [](const char* name) { return std::make_shared<Renamed>(name, "random"); };
  EXPECT_EQ(message({nullptr}), "users: one is null");
  EXPECT_EQ(message({named("")}), "users: \"\": a user needs a name");
  EXPECT_EQ(message({named("perfect")}), "users: \"perfect\": a click model of that name exists");
  EXPECT_EQ(message({named("visitors"), named("visitors")}),
            "users: \"visitors\": two have that name; names must differ");
  EXPECT_EQ(message({named("visitors"), named("readers")}),
            "users: \"readers\": not among the click models, so it would take no part");
  EXPECT_THAT(message({}), HasSubstr("click model \"visitors\"; known: perfect"));

  // A file's user of the same name, before it and after it.
  const testing::TemporaryFolder folder;
  const std::string file = folder / "file.toml";
  std::ofstream(file) << "kind = \"position-based\"\nname = \"visitors\"\n"
                         "click = [0.1, 0.2, 0.4, 0.7, 0.9]\n";
  for (const auto& click_models :
       {std::vector<std::string>{file, "visitors"}, std::vector<std::string>{"visitors", file}}) {
    ComparisonSpec both = small_spec();
    both.click_models = click_models;
    both.users = {named("visitors")};
    EXPECT_EQ(compare(both, data).error().message,
              "two click models are called \"visitors\"; names must differ");
  }

  Dataset six = dataset();
  six.max_label = 5;
  SimulationSpec spec;
  spec.user = named("visitors");
  EXPECT_EQ(simulate(six, spec).error().message,
            "user \"visitors\" knows 5 grades; synthetic has labels up to 5");
}

}  // namespace
}  // namespace plackett
