// Whether a benchmark's runs are all there and right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plackett/record.h"

namespace plackett::bench {

// Whether records are the same but for their times.
inline bool same(const RunRecord& one, const RunRecord& other) {
  const auto same_point = [](const CurvePoint& point, const CurvePoint& others) {
    return point.impression == others.impression && point.online == others.online &&
           point.offline == others.offline;
  };
  return one.run == other.run && one.fold == other.fold &&
         std::equal(one.curve.begin(), one.curve.end(), other.curve.begin(), other.curve.end(),
                    same_point);
}

// How often each run was delivered.
class Delivered {
 public:
  explicit Delivered(std::uint32_t runs) : times_(runs) {}

  // Requires: run < runs.
  void add(std::uint32_t run) { ++times_[run]; }
  // The runs that came.
  [[nodiscard]] std::uint32_t runs() const {
    return static_cast<std::uint32_t>(times_.size()) - times_of(0);
  }
  [[nodiscard]] bool each_once() const { return times_of(1) == times_.size(); }

 private:
  [[nodiscard]] std::uint32_t times_of(std::uint32_t times) const {
    return static_cast<std::uint32_t>(std::count(times_.begin(), times_.end(), times));
  }

  std::vector<std::uint32_t> times_;
};

}  // namespace plackett::bench
