#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "report/text.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr auto kBetweenDraws = milliseconds(100);
constexpr double kSpeedMemorySeconds = 10;
constexpr std::size_t kBarColumns = 20;
constexpr std::size_t kLeastLabel = 8;
constexpr std::array<const char*, 5> kUnits{"", "k", "M", "B", "T"};

std::string count(double value) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g}{}", value, kUnits[unit]);
}

// "0:07", "12:40", "3:05:00".
std::string clock_text(double seconds) {
  if (!(seconds < 1000.0 * 3600)) return "long";
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
}

// Twice as fine as the columns it takes.
std::string bar(double share) {
  const auto halves = static_cast<std::size_t>(share * 2 * kBarColumns);
  std::string out;
  for (std::size_t column = 0; column < kBarColumns; ++column) {
    out += 2 * column + 1 < halves ? "━" : 2 * column < halves ? "╸" : "·";
  }
  return out;
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written <= 0) return;  // a terminal that went away is no reason to stop working
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t columns) {
  const bool known = state.total_impressions > 0;
  const double share = known ? std::min(1.0, static_cast<double>(state.impressions) /
                                                 static_cast<double>(state.total_impressions))
                             : 0;
  std::vector<std::string> parts;
  // Never 100% before the last impression.
  parts.push_back(known ? fmt::format("{:3}%", static_cast<int>(share * 100))
                        : count(static_cast<double>(state.impressions)));
  if (known) parts.push_back(bar(share));
  if (known && state.impressions_per_second > 0) {
    const auto left = static_cast<double>(state.total_impressions -
                                          std::min(state.impressions, state.total_impressions));
    parts.push_back(fmt::format("ETA {}", clock_text(left / state.impressions_per_second)));
  } else if (known) {
    parts.emplace_back("ETA -:--");
  }
  if (state.total_runs > 0) {
    parts.push_back(
        fmt::format("{}/{} run{}", state.runs, state.total_runs, state.total_runs == 1 ? "" : "s"));
  }
  if (state.impressions_per_second > 0) {
    parts.push_back(fmt::format("{} impressions/s", count(state.impressions_per_second)));
  }

  std::string line = report::shorten(parts.front(), columns);
  for (std::size_t part = 1; part < parts.size(); ++part) {
    if (report::display_width(line) + 2 + report::display_width(parts[part]) > columns) return line;
    line += "  " + parts[part];
  }
  const std::size_t used = report::display_width(line) + 2;
  if (!state.label.empty() &&
      used + std::min(kLeastLabel, report::display_width(state.label)) <= columns) {
    line += "  " + report::shorten(state.label, columns - used);
  }
  return line;
}

Progress::Output Progress::standard_error() {
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return {.descriptor = STDERR_FILENO, .visible = isatty(STDERR_FILENO) == 1 && !dumb};
}

Progress::Progress(const Work& total, const Output& output)
    : total_(total), output_(output), measured_at_(Clock::now()) {}

Progress::~Progress() { finish(); }

void Progress::advance(std::uint64_t impressions) {
  impressions_.fetch_add(impressions, std::memory_order_relaxed);
  draw_if_due();
}

void Progress::run_done() {
  runs_.fetch_add(1, std::memory_order_relaxed);
  draw_if_due();
}

void Progress::skip(const Work& done) {
  skipped_.fetch_add(done.impressions, std::memory_order_relaxed);
  runs_.fetch_add(done.runs, std::memory_order_relaxed);
  draw_if_due();
}

void Progress::set_label(std::string_view label) {
  if (!output_.visible) return;
  const std::lock_guard lock(mutex_);
  label_ = label;
}

void Progress::finish() {
  if (!output_.visible) return;
  const std::lock_guard lock(mutex_);
  if (finished_.exchange(true) || !drawn_) return;
  write_all(output_.descriptor, drawn_below_ ? "\r\x1b[J" : "\r\x1b[K");
}

void Progress::show(Standing standing) {
  if (!output_.visible) return;
  const std::lock_guard lock(mutex_);
  standing_ = std::move(standing);
}

void Progress::score(std::size_t method, std::size_t click_model, double offline) {
  if (!output_.visible) return;
  const std::lock_guard lock(mutex_);
  standing_.add(method, click_model, offline);
}

void Progress::draw_if_due() {
  if (!output_.visible || finished_.load(std::memory_order_relaxed)) return;
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < next_draw_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || finished_) return;  // another thread is at it
  if (now.time_since_epoch().count() < next_draw_.load(std::memory_order_relaxed)) return;
  next_draw_ = (now + kBetweenDraws).time_since_epoch().count();
  draw(now);
}

void Progress::draw(Clock::time_point now) {
  const std::uint64_t done = impressions_.load(std::memory_order_relaxed);
  const double seconds = duration<double>(now - measured_at_).count();
  // Calls come in bursts when runs report rarely: wait for a stretch that says something.
  if (done > measured_ && seconds >= 0.2) {
    const double recent = static_cast<double>(done - measured_) / seconds;
    const double weight = speed_ > 0 ? 1 - std::exp(-seconds / kSpeedMemorySeconds) : 1;
    speed_ += weight * (recent - speed_);
    measured_ = done;
    measured_at_ = now;
  }
  const ProgressState state{.impressions = done + skipped_.load(std::memory_order_relaxed),
                            .total_impressions = total_.impressions,
                            .runs = runs_.load(std::memory_order_relaxed),
                            .total_runs = total_.runs,
                            .impressions_per_second = speed_,
                            .label = label_};
  // The last column stays free: a terminal may wrap when it is written.
  TerminalSize room = terminal_size(output_.descriptor);
  --room.columns;
  std::string text = "\r" + progress_line(state, room.columns) + "\x1b[K";
  room.rows = room.rows > 3 ? room.rows - 2 : 0;
  const std::vector<std::string> below = standing_.lines(room);
  for (const std::string& line : below) text += "\n" + line + "\x1b[K";
  if (drawn_below_ || !below.empty()) text += "\x1b[J";
  if (!below.empty()) text += fmt::format("\x1b[{}A", below.size());
  write_all(output_.descriptor, text);
  drawn_below_ = drawn_below_ || !below.empty();
  drawn_ = true;
}

}  // namespace plackett::command
