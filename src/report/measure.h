// The two things that are measured, and what every kind of output needs to know of each.
#pragma once

#include <array>
#include <limits>

#include "plackett/record.h"
#include "report/numbers.h"

namespace plackett::report {

enum class Metric { kOffline, kOnline };

struct Measure {
  Metric metric;
  const char* name;   // "offline", for keys and for the middle of a sentence
  const char* title;  // "Offline NDCG@10"
  int digits;         // the paper's precision
  Moments CellSummary::*final;
  Moments CurveSummary::*curve;
  MeasureTests Contrast::*tests;
};

inline constexpr Measure kOffline{Metric::kOffline,      "offline",
                                  "Offline NDCG@10",     kOfflineDigits,
                                  &CellSummary::offline, &CurveSummary::offline,
                                  &Contrast::offline};
inline constexpr Measure kOnline{
    Metric::kOnline,       "online",         "Online NDCG@10", kOnlineDigits, &CellSummary::online,
    &CurveSummary::online, &Contrast::online};

inline constexpr std::array<const Measure*, 2> kMeasures{&kOffline, &kOnline};

// A cell's moments at its last impression, to be shown: a single run has a mean and no deviation,
// which is NaN here.
inline Moments shown(const CellSummary& cell, const Measure& measure) {
  Moments moments = cell.*measure.final;
  if (cell.runs < 2) moments.std = std::numeric_limits<double>::quiet_NaN();
  return moments;
}

}  // namespace plackett::report
