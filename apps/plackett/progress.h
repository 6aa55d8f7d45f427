// How far long work is, on one line of a terminal, and how good the results are so far, below it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plackett/simulation.h"
#include "terminal_text.h"

namespace plackett::command {

// What the line shows at one moment.
struct ProgressState {
  std::uint64_t impressions = 0;
  std::uint64_t total_impressions = 0;
  std::uint64_t runs = 0;
  std::uint64_t total_runs = 0;
  double impressions_per_second = 0;  // 0: not known yet
  std::string label;                  // what is running: "PDGD (linear), perfect"
};

// The line, without a line break, at most `columns` wide: percentage, bar, time left, runs, speed
// and label. To fit, the label is shortened first, then parts are dropped from the right.
std::string progress_line(const ProgressState& state, std::size_t columns);

// The mean of each method under each click model so far.
struct Standing {
  std::string title;  // of the column of methods
  std::vector<std::string> methods;
  std::vector<std::string> click_models;
  // Sum and number of the values of each cell, by method, then click model.
  std::vector<std::pair<double, std::uint64_t>> sums = {};

  void add(std::size_t method, std::size_t click_model, double value);

  // A header and one line per method, the best of each column in bold.
  [[nodiscard]] std::vector<std::string> lines(const TerminalSize& size) const;
};

// Draws in place on standard error, at most ten times a second, and clears its lines when it is
// finished or destroyed. Silent if standard error is not a terminal (or a dumb one). Has no thread
// of its own: calls draw when it is time to. All calls may come from any thread.
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
  ~Progress() { finish(); }

  // Tells it of runs. It must outlive the watch.
  Watch watch();

  // Replaces the total.
  void expect(const Work& total);
  void advance(std::uint64_t impressions);
  void run_done();
  // Work that was finished before: counts as done, but not towards the speed.
  void skip(const Work& done);
  void set_label(std::string_view label);
  // What is below the line from now on; score() adds to it.
  void show(Standing standing);
  void score(std::size_t method, std::size_t click_model, double value);
  // Clears the lines; later calls draw nothing.
  void finish();

  // Visible if it is a terminal that can clear a line.
  static Output standard_error();

 private:
  using Clock = std::chrono::steady_clock;

  void draw_if_due();  // requires: mutex_ held

  Output output_;
  std::mutex mutex_;  // guards what follows, and the terminal
  ProgressState state_;
  Clock::time_point next_draw_;
  Clock::time_point measured_at_;
  std::uint64_t measured_ = 0;  // impressions at that time
  bool drawn_ = false;
  bool drawn_below_ = false;
  Standing standing_;
};

// How far work is, as text on one line of standard error, if that is a terminal; cleared at the
// end. One call at a time.
class StatusLine {
 public:
  StatusLine() = default;
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { show(""); }

  void show(const std::string& text) const;

 private:
  bool visible_ = Progress::standard_error().visible;
};

}  // namespace plackett::command
