// How far long work is, on one line of a terminal, and how well it does, on the lines below.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "standing.h"

namespace plackett::command {

// What the line shows at one moment.
struct ProgressState {
  std::uint64_t impressions = 0;
  std::uint64_t total_impressions = 0;  // 0: unknown
  std::uint64_t runs = 0;
  std::uint64_t total_runs = 0;       // 0: runs are not shown
  double impressions_per_second = 0;  // 0: not known yet
  std::string label;                  // what is running: "PDGD (linear), perfect"
};

// The line, without a line break, at most `columns` wide: bar, percent, runs, speed, time left and
// label. Where it is too narrow the label is cut first, then parts fall away from the right; the
// percentage stays.
std::string progress_line(const ProgressState& state, std::size_t columns);

// Draws in place on standard error, at most ten times a second, and takes its lines away when it
// is finished or destroyed. Says nothing at all where standard error is no terminal (or a dumb
// one). Has no thread of its own: calls draw when it is time to. All calls may come from any
// thread; advance() takes no lock unless it draws, so a worker may call it every few hundred
// impressions.
class Progress {
 public:
  struct Work {
    std::uint64_t impressions = 0;
    std::uint64_t runs = 0;
  };
  struct Output {
    int descriptor = 2;
    bool visible = true;  // false: silent
  };

  explicit Progress(const Work& total) : Progress(total, standard_error()) {}
  Progress(const Work& total, const Output& output);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void advance(std::uint64_t impressions);
  void run_done();
  // Work that an earlier command left finished: counts as done, but not towards the speed.
  void skip(const Work& done);
  void set_label(std::string_view label);
  // What stands below the line from now on; a run's result goes into it with score().
  void show(Standing standing);
  void score(std::size_t method, std::size_t click_model, double offline);
  // Takes the lines away for good; later calls draw nothing.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  static Output standard_error();
  void draw_if_due();
  void draw(Clock::time_point now);  // requires: mutex_ held

  const Work total_;
  const Output output_;
  std::atomic<std::uint64_t> impressions_{0};
  std::atomic<std::uint64_t> runs_{0};
  std::atomic<std::uint64_t> skipped_{0};
  std::atomic<Clock::rep> next_draw_{0};
  std::atomic<bool> finished_{false};

  std::mutex mutex_;  // guards what follows, and the terminal
  std::string label_;
  double speed_ = 0;  // a moving average over about the last ten seconds
  Clock::time_point measured_at_;
  std::uint64_t measured_ = 0;
  bool drawn_ = false;
  Standing standing_;
  bool drawn_below_ = false;
};

}  // namespace plackett::command
