// From the finished runs of a folder to the cells that reports show.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "plackett/results.h"
#include "small_experiment.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::go_on;
using testing::small_spec;
using testing::TemporaryFolder;

TEST(Assemble, IsAFunctionOfSpecAndRunsAlone) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 2, 1000);
  const auto stored = read_results(folder / "a").value().value();
  const Comparison plain = assemble(stored);
  ASSERT_EQ(plain.cells.size(), 4U);
  for (const CellSummary& cell : plain.cells) {
    EXPECT_EQ(cell.runs, 3U);
    EXPECT_EQ(cell.seconds, 0);
    EXPECT_EQ(cell.impressions_per_second, 0);
  }
  EXPECT_EQ(plain.cells[1].label, "PDGD (linear, learning-rate 0.01)");
  EXPECT_EQ(plain.cells[2].click_model, "navigational");
  const Comparison timed = assemble_with_times(stored);
  EXPECT_GT(timed.cells[0].impressions_per_second, 0);
  EXPECT_EQ(timed.threads, 2U);
}

TEST(Assemble, LeavesOutCellsWithoutARun) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 3);
  const Comparison comparison = assemble(read_results(folder / "a").value().value());
  ASSERT_EQ(comparison.cells.size(), 3U);
  EXPECT_EQ(comparison.cells[2].runs, 1U);
}

// Labels with surroundings: "PDGD (linear) | shown 3".
std::vector<std::string> rows(const StoredResults& stored) {
  std::vector<std::string> found;
  for (const CellSummary& cell : assemble(stored).cells) {
    std::string row = cell.label;
    for (const auto& [name, value] : cell.surroundings) row += fmt::format(" | {} {}", name, value);
    found.push_back(row);
  }
  return found;
}

TEST(Assemble, TellsCellsOfSeveralCommandsApartByWhatDiffers) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  spec.click_models = {"perfect"};
  spec.methods = {{.entry = parse_method_entry("pdgd:neural").value()},
                  {.entry = parse_method_entry("mgd").value()}};
  go_on(folder / "a", spec, 2, 1000);
  spec.methods.pop_back();
  spec.common.ranker.hidden = {8};
  go_on(folder / "a", spec, 2, 1000);
  EXPECT_THAT(rows(read_results(folder / "a").value().value()),
              ElementsAre("PDGD (neural, hidden 64)", "MGD (linear)", "PDGD (neural, hidden 8)"));
  spec.common.shown = 3;
  go_on(folder / "a", spec, 2, 1000);
  const auto grown = read_results(folder / "a").value().value();
  EXPECT_THAT(
      rows(grown),
      ElementsAre("PDGD (neural, hidden 64) | shown 10", "MGD (linear) | shown 10",
                  "PDGD (neural, hidden 8) | shown 10", "PDGD (neural, hidden 8) | shown 3"));
  // MGD ran beside two of the cells only.
  const Comparison comparison = assemble(grown);
  ASSERT_EQ(comparison.contrasts.size(), 2U);
  EXPECT_EQ(comparison.contrasts[0].cell, 0U);
  EXPECT_EQ(comparison.contrasts[1].cell, 2U);
}

TEST(Assemble, AValueThatJoinsASweepIsOneOfItsValues) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  spec.methods.pop_back();
  spec.click_models = {"perfect"};
  spec.sweeps = {{"learning-rate", {"0.003", "0.1"}}};
  go_on(folder / "a", spec, 2, 1000);
  spec.sweeps = {{"learning-rate", {"0.3"}}};
  go_on(folder / "a", spec, 2, 1000);
  const Comparison comparison = assemble(read_results(folder / "a").value().value());
  ASSERT_EQ(comparison.cells.size(), 3U);
  const std::vector<std::string> values{"0.003", "0.1", "0.3"};
  for (std::size_t at = 0; at < values.size(); ++at) {
    EXPECT_EQ(comparison.cells[at].family, "PDGD (linear)");
    EXPECT_EQ(comparison.cells[at].swept, (std::vector<SweptValue>{{"learning-rate", values[at]}}));
  }
}

TEST(Assemble, OneNameForTwoMethodsIsToldApart) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  spec.click_models = {"perfect"};
  spec.methods = {{.entry = parse_method_entry("pdgd").value(), .label = "Ours"}};
  go_on(folder / "a", spec, 2, 1000);
  spec.methods[0].entry = parse_method_entry("mgd").value();
  go_on(folder / "a", spec, 2, 1000);
  EXPECT_THAT(rows(read_results(folder / "a").value().value()),
              ElementsAre("Ours [pdgd]", "Ours [mgd]"));
}

// Cells of one method and four runs in two folds, with these validation numbers.
StoredResults validated(const std::vector<std::vector<double>>& cells) {
  StoredResults stored;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    const std::string value = fmt::format("{}", 0.001 * static_cast<double>(at + 1));
    StoredCell& cell = stored.cells.emplace_back();
    cell.dataset.name = "data";
    cell.simulation.settings = {{"learning-rate", value}};
    cell.simulation.click_model = "perfect";
    cell.simulation.validate = true;
    cell.sweeps = {"learning-rate"};
    for (std::uint32_t run = 0; run < cells[at].size(); ++run) {
      FinishedRun& made = cell.runs[run];
      made.record = {.run = run,
                     .fold = run % 2,
                     .curve = {{1, 0.1 * static_cast<double>(at + 1), 1}},
                     .validation = cells[at][run]};
    }
  }
  EXPECT_TRUE(name_cells(stored).ok());
  return stored;
}

std::vector<double> offline_of(const CellSummary& cell) {
  std::vector<double> found;
  for (const RunFinal& final : cell.finals) found.push_back(final.offline);
  return found;
}

TEST(Assemble, ChoosesSettingsForEachFoldByItsOwnValidation) {
  // Over all folds the first is best (2.4 against 2.2), in fold 1 the second.
  const Comparison both = assemble(validated({{0.9, 0.3, 0.9, 0.3}, {0.5, 0.6, 0.5, 0.6}}));
  ASSERT_EQ(both.cells.size(), 1U);
  const CellSummary& cell = both.cells[0];
  EXPECT_TRUE(cell.selected);
  EXPECT_EQ(cell.label, "PDGD (linear)");
  EXPECT_EQ(offline_of(cell), (std::vector<double>{0.1, 0.2, 0.1, 0.2}));
  EXPECT_EQ(cell.swept,
            (std::vector<SweptValue>{{"learning-rate", "0.001 in 1 fold, 0.002 in 1"}}));
  const Comparison one = assemble(validated({{0.9, 0.3, 0.9, 0.3}, {0.5, 0.2, 0.5, 0.2}}));
  ASSERT_EQ(one.cells.size(), 1U);
  EXPECT_EQ(one.cells[0].swept, (std::vector<SweptValue>{{"learning-rate", "0.001"}}));
}

TEST(Assemble, ChoosesByTheRunsThatAllValuesHave) {
  // The first has its best run only; over the runs that both have, the second is better.
  const Comparison comparison = assemble(validated({{0.7}, {0.8, 0.1, 0.2, 0.1}}));
  ASSERT_EQ(comparison.cells.size(), 1U);
  EXPECT_EQ(offline_of(comparison.cells[0]), (std::vector<double>{0.2}));
}

TEST(Assemble, ChoosesAmongComparableCellsThatWereValidatedAlone) {
  StoredResults stored = validated({{0.9, 0.9}, {0.5, 0.5}, {0.4, 0.4}});
  stored.cells[0].simulation.impressions = 7;
  ASSERT_TRUE(name_cells(stored).ok());
  Comparison comparison = assemble(stored);
  ASSERT_EQ(comparison.cells.size(), 2U);  // that of other impressions, and the choice of two
  EXPECT_FALSE(comparison.cells[0].selected);
  EXPECT_EQ(comparison.cells[0].label, "PDGD (linear, learning-rate 0.001)");
  EXPECT_TRUE(comparison.cells[1].selected);
  stored = validated({{0.9, 0.9}, {0.5, 0.5}, {0.4, 0.4}});
  for (auto& [number, run] : stored.cells[0].runs) run.record.validation = std::nan("");
  stored.cells[0].simulation.validate = false;
  comparison = assemble(stored);
  ASSERT_EQ(comparison.cells.size(), 2U);
  EXPECT_EQ(comparison.cells[0].label, "PDGD (linear, learning-rate 0.001)");
  EXPECT_EQ(offline_of(comparison.cells[1]), (std::vector<double>{0.2, 0.2}));
}

}  // namespace
}  // namespace plackett
