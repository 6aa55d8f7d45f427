// Whether two results are one and the same, their times apart.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/ranker.h"
#include "plackett/record.h"

namespace plackett::testing {

inline std::vector<float> parameters_of(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  return parameters;
}

inline void expect_same_runs(const std::vector<RunRecord>& a, const std::vector<RunRecord>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t run = 0; run < a.size(); ++run) {
    EXPECT_EQ(a[run].run, b[run].run);
    EXPECT_EQ(a[run].fold, b[run].fold);
    ASSERT_EQ(a[run].curve.size(), b[run].curve.size());
    for (std::size_t point = 0; point < a[run].curve.size(); ++point) {
      EXPECT_EQ(a[run].curve[point].impression, b[run].curve[point].impression);
      EXPECT_EQ(a[run].curve[point].offline, b[run].curve[point].offline);
      EXPECT_EQ(a[run].curve[point].online, b[run].curve[point].online);
    }
  }
}

inline void expect_same_moments(const Moments& a, const Moments& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_TRUE(a.std == b.std || (std::isnan(a.std) && std::isnan(b.std))) << a.std << ", " << b.std;
}

inline void expect_same_cell(const CellSummary& a, const CellSummary& b) {
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.baseline, b.baseline);
  EXPECT_EQ(a.as_in_paper, b.as_in_paper);
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.ranker, b.ranker);
  EXPECT_EQ(a.click_model, b.click_model);
  EXPECT_EQ(a.dataset, b.dataset);
  EXPECT_EQ(a.protocol, b.protocol);
  EXPECT_EQ(a.runs, b.runs);
  EXPECT_EQ(a.impressions, b.impressions);
  EXPECT_EQ(a.seed, b.seed);
  expect_same_moments(a.offline, b.offline);
  expect_same_moments(a.online, b.online);
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (std::size_t at = 0; at < a.metrics.size(); ++at) {
    EXPECT_EQ(a.metrics[at].name, b.metrics[at].name);
    expect_same_moments(a.metrics[at].final, b.metrics[at].final);
  }
  ASSERT_EQ(a.curve.size(), b.curve.size());
  for (std::size_t point = 0; point < a.curve.size(); ++point) {
    EXPECT_EQ(a.curve[point].impression, b.curve[point].impression);
    expect_same_moments(a.curve[point].offline, b.curve[point].offline);
    expect_same_moments(a.curve[point].online, b.curve[point].online);
  }
}

inline void expect_same_comparison(const Comparison& a, const Comparison& b) {
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.version, b.version);
  ASSERT_EQ(a.cells.size(), b.cells.size());
  for (std::size_t cell = 0; cell < a.cells.size(); ++cell) {
    expect_same_cell(a.cells[cell], b.cells[cell]);
  }
  ASSERT_EQ(a.contrasts.size(), b.contrasts.size());
  for (std::size_t at = 0; at < a.contrasts.size(); ++at) {
    EXPECT_EQ(a.contrasts[at].cell, b.contrasts[at].cell);
    EXPECT_EQ(a.contrasts[at].baseline, b.contrasts[at].baseline);
    EXPECT_EQ(a.contrasts[at].offline.paired.p, b.contrasts[at].offline.paired.p);
    EXPECT_EQ(a.contrasts[at].offline.welch.holm, b.contrasts[at].offline.welch.holm);
    EXPECT_EQ(a.contrasts[at].online.student.t, b.contrasts[at].online.student.t);
  }
}

}  // namespace plackett::testing
