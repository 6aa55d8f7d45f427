// What is measured, and what every kind of output needs to know about each measure. A new measure
// is one more entry of kMeasures.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "plackett/record.h"

namespace plackett::report {

struct Measure {
  const char* name;   // "offline", for keys and in sentences
  const char* title;  // "Offline NDCG@10"
  const char* about;  // what a curve of it shows
  int digits;         // the paper's precision
  double largest;     // that a value can be; infinity if there is no bound
  bool from_zero;     // its axis starts at 0
  Moments CellSummary::*final;
  Moments CurveSummary::*curve;
  MeasureTests Contrast::*tests;
};

inline constexpr std::array<Measure, 2> kMeasures{{
    {"offline", "Offline NDCG@10", "NDCG@10 on the test queries", 3, 1, false,
     &CellSummary::offline, &CurveSummary::offline, &Contrast::offline},
    {"online", "Online NDCG@10", "Online NDCG@10, discounted sum", 1, HUGE_VAL, true,
     &CellSummary::online, &CurveSummary::online, &Contrast::online},
}};
inline constexpr const Measure& kOffline = kMeasures[0];
inline constexpr const Measure& kOnline = kMeasures[1];

// One value per measure.
template <typename T>
struct PerMeasure : std::array<T, kMeasures.size()> {
  using std::array<T, kMeasures.size()>::operator[];
  T& operator[](const Measure& measure) { return (*this)[index(measure)]; }
  const T& operator[](const Measure& measure) const { return (*this)[index(measure)]; }

 private:
  static std::size_t index(const Measure& measure) {
    return static_cast<std::size_t>(&measure - kMeasures.data());
  }
};

}  // namespace plackett::report
