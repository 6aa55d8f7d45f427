#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "report/numbers.h"
#include "report/text.h"

namespace plackett::command {
namespace {

constexpr auto kBetweenDraws = std::chrono::milliseconds(100);
constexpr double kSpeedMemorySeconds = 10;
constexpr std::size_t kBarColumns = 20;
constexpr std::size_t kLeastLabel = 8;

// "0:07", "12:40", "3:05:00".
std::string clock_text(double seconds) {
  if (!(seconds < 1000.0 * 3600)) return "long";
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
}

// In steps of half a column.
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
    if (written <= 0) return;  // work goes on without the terminal
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t columns) {
  const std::uint64_t done = std::min(state.impressions, state.total_impressions);
  const double share = static_cast<double>(done) /
                       static_cast<double>(std::max<std::uint64_t>(1, state.total_impressions));
  const double speed = state.impressions_per_second;
  const std::string left =
      speed > 0 ? clock_text(static_cast<double>(state.total_impressions - done) / speed) : "-:--";
  // Rounded down: 100% only after the last impression.
  std::string line = report::shorten(fmt::format("{:3}%", static_cast<int>(share * 100)), columns);
  std::vector<std::string> parts{
      bar(share), fmt::format("ETA {}", left),
      fmt::format("{}/{} run{}", state.runs, state.total_runs, state.total_runs == 1 ? "" : "s")};
  if (speed > 0) parts.push_back(fmt::format("{} impressions/s", report::compact(speed)));
  for (const std::string& part : parts) {
    if (report::display_width(line) + 2 + report::display_width(part) > columns) return line;
    line += "  " + part;
  }
  const std::size_t used = report::display_width(line) + 2;
  if (!state.label.empty() &&
      used + std::min(kLeastLabel, report::display_width(state.label)) <= columns) {
    line += "  " + report::shorten(state.label, columns - used);
  }
  return line;
}

Standing::Standing(Names names)
    : names_(std::move(names)), sums_(names_.methods.size() * names_.click_models.size()) {}

void Standing::add(std::size_t method, std::size_t click_model, double value) {
  Sum& sum = sums_[method * names_.click_models.size() + click_model];
  sum.total += value;
  ++sum.count;
}

std::string Standing::mean(std::size_t method, std::size_t click_model) const {
  const Sum& sum = sums_[method * names_.click_models.size() + click_model];
  return sum.count == 0 ? "-" : fmt::format("{:.3f}", sum.total / static_cast<double>(sum.count));
}

std::vector<std::string> Standing::lines(const TerminalSize& size) const {
  std::vector<std::vector<TableCell>> rows{{{names_.title}}};
  for (const std::string& name : names_.methods) rows.push_back({{name}});
  for (std::size_t column = 0; column < names_.click_models.size(); ++column) {
    rows[0].push_back({names_.click_models[column]});
    std::string best = "-";
    for (std::size_t method = 0; method < names_.methods.size(); ++method) {
      best = std::max(best, mean(method, column));
    }
    for (std::size_t method = 0; method < names_.methods.size(); ++method) {
      std::string text = mean(method, column);
      const bool bold = text == best && text != "-" && names_.methods.size() > 1;
      rows[method + 1].push_back({std::move(text), bold});
    }
  }
  return table_lines(rows, {.size = size});
}

Progress::Output Progress::standard_error() {
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return {.descriptor = STDERR_FILENO, .visible = isatty(STDERR_FILENO) == 1 && !dumb};
}

Progress::Progress(const Work& total, const Output& output)
    : total_(total), output_(output), measured_at_(Clock::now()) {}

Watch Progress::watch() {
  Watch watch;
  watch.run_started = [this](const SimulationSpec& spec) {
    set_label(fmt::format("{}, {}", spec.label, spec.click_model));
  };
  watch.advanced = [this](std::uint64_t impressions) { advance(impressions); };
  watch.run_done = [this] { run_done(); };
  return watch;
}

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
  const std::lock_guard lock(mutex_);
  label_ = label;
}

void Progress::show(Standing standing) {
  const std::lock_guard lock(mutex_);
  standing_ = std::move(standing);
}

void Progress::score(std::size_t method, std::size_t click_model, double value) {
  const std::lock_guard lock(mutex_);
  standing_.add(method, click_model, value);
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_.exchange(true) || !drawn_) return;
  write_all(output_.descriptor, drawn_below_ ? "\r\x1b[J" : "\r\x1b[K");
}

void Progress::draw_if_due() {
  if (!output_.visible || finished_.load(std::memory_order_relaxed)) return;
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < next_draw_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || finished_) return;  // another thread draws
  if (now.time_since_epoch().count() < next_draw_.load(std::memory_order_relaxed)) return;
  next_draw_ = (now + kBetweenDraws).time_since_epoch().count();
  draw(now);
}

void Progress::draw(Clock::time_point now) {
  const std::uint64_t done = impressions_.load(std::memory_order_relaxed);
  const double seconds = std::chrono::duration<double>(now - measured_at_).count();
  // Runs report in bursts, so a shorter interval says little.
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
  // The last column stays free: a terminal may wrap after writing to it.
  TerminalSize size = terminal_size(output_.descriptor);
  --size.columns;
  std::string text = "\r" + progress_line(state, size.columns) + "\x1b[K";
  size.rows = size.rows > 3 ? size.rows - 2 : 0;
  const std::vector<std::string> below = standing_.lines(size);
  for (const std::string& line : below) text += "\n" + line + "\x1b[K";
  if (drawn_below_ || !below.empty()) text += "\x1b[J";
  if (!below.empty()) text += fmt::format("\x1b[{}A", below.size());
  write_all(output_.descriptor, text);
  drawn_below_ = drawn_below_ || !below.empty();
  drawn_ = true;
}

}  // namespace plackett::command
