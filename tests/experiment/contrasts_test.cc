#include "experiment/contrasts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "evaluation/t_test.h"

namespace plackett {
namespace {

CellSummary cell(std::string label, std::string click_model, bool baseline) {
  CellSummary made;
  made.label = std::move(label);
  made.baseline = baseline;
  made.click_model = std::move(click_model);
  made.dataset = "MQ2007";
  made.protocol = "described";
  made.runs = 125;
  made.offline = {0.5, 0.02};
  made.online = {700, 20};
  return made;
}

std::vector<std::pair<std::size_t, std::size_t>> pairs(const Comparison& comparison) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const Contrast& contrast : comparison.contrasts) {
    found.emplace_back(contrast.cell, contrast.baseline);
  }
  return found;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(Contrasts, PairEveryCellWithTheBaselinesOfItsBlock) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("MGD", "perfect", true),
                      cell("PDGD", "perfect", false), cell("DBGD", "random", true),
                      cell("PDGD", "random", false)};
  add_contrasts(comparison);
  EXPECT_EQ(pairs(comparison), (Pairs{{0, 1}, {1, 0}, {2, 0}, {2, 1}, {4, 3}}));
  add_contrasts(comparison);
  EXPECT_EQ(comparison.contrasts.size(), 5U);
}

TEST(Contrasts, KeepDatasetsAndProtocolsApart) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("PDGD", "perfect", false),
                      cell("PDGD", "perfect", false)};
  comparison.cells[1].dataset = "MQ2008";
  comparison.cells[2].protocol = "published";
  add_contrasts(comparison);
  EXPECT_TRUE(comparison.contrasts.empty());
}

TEST(Contrasts, NoBaselineMeansNone) {
  Comparison comparison;
  comparison.cells = {cell("PDGD", "perfect", false), cell("other", "perfect", false)};
  add_contrasts(comparison);
  EXPECT_TRUE(comparison.contrasts.empty());
}

TEST(Contrasts, HoldBothTestsOfBothMeasures) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("PDGD", "perfect", false)};
  comparison.cells[1].offline = {0.51, 0.01};
  comparison.cells[1].online = {650, 60};
  comparison.cells[1].runs = 25;
  add_contrasts(comparison);
  ASSERT_EQ(comparison.contrasts.size(), 1U);
  const Contrast& contrast = comparison.contrasts[0];
  EXPECT_EQ(contrast.offline.student.p, student_t_test({0.51, 0.01, 25}, {0.5, 0.02, 125}).p);
  EXPECT_EQ(contrast.offline.welch.p, welch_t_test({0.51, 0.01, 25}, {0.5, 0.02, 125}).p);
  EXPECT_EQ(contrast.online.welch.degrees, welch_t_test({650, 60, 25}, {700, 20, 125}).degrees);
  EXPECT_GT(contrast.offline.welch.t, 0);
  EXPECT_LT(contrast.online.student.t, 0);
}

}  // namespace
}  // namespace plackett
