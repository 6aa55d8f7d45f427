// How long ago a model's impressions were shown, by a clock that nobody sets. The system's clock
// may step, so the times in the store serve at a start only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace plackett::serving {

class ShownMarks {
 public:
  explicit ShownMarks(std::int64_t open_ms) : step_(open_ms / 256) {}

  // The impressions below number `end` were shown by `time`. Times don't fall. Close marks are
  // merged, which makes impressions younger by 1/256 of the open time at most.
  void add(std::uint64_t end, std::int64_t time) {
    if (!marks_.empty() && end <= marks_.back().end) return;
    const std::size_t size = marks_.size();
    if (size > 1 && time - marks_[size - 2].time <= step_) marks_.pop_back();
    marks_.push_back({end, time});
  }

  // The number below which all were shown at `time` or before. Forgets their marks.
  std::uint64_t take_until(std::int64_t time) {
    while (!marks_.empty() && marks_.front().time <= time) {
      taken_ = std::max(taken_, marks_.front().end);
      marks_.pop_front();
    }
    return taken_;
  }

  [[nodiscard]] bool empty() const { return marks_.empty(); }

 private:
  struct Mark {
    std::uint64_t end;
    std::int64_t time;
  };
  std::int64_t step_;
  std::uint64_t taken_ = 0;
  std::deque<Mark> marks_;
};

}  // namespace plackett::serving
