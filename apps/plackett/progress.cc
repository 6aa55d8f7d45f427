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

void Standing::add(std::size_t method, std::size_t click_model, double value) {
  sums.resize(methods.size() * click_models.size());
  auto& [sum, count] = sums[method * click_models.size() + click_model];
  sum += value;
  ++count;
}

std::vector<std::string> Standing::lines(const TerminalSize& size) const {
  std::vector<std::vector<TableCell>> rows{{{title}}};
  for (const std::string& name : methods) rows.push_back({{name}});
  for (std::size_t column = 0; column < click_models.size(); ++column) {
    rows[0].push_back({click_models[column]});
    std::string best = "-";
    for (std::size_t method = 0; method < methods.size(); ++method) {
      const std::size_t at = method * click_models.size() + column;
      const auto [sum, count] = at < sums.size() ? sums[at] : std::pair<double, std::uint64_t>();
      std::string mean = count > 0 ? fmt::format("{:.3f}", sum / static_cast<double>(count)) : "-";
      best = std::max(best, mean);
      rows[method + 1].push_back({std::move(mean)});
    }
    for (auto row = rows.begin() + 1; row != rows.end() && methods.size() > 1; ++row) {
      row->back().bold = row->back().text == best && best != "-";
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
    : output_(output), measured_at_(Clock::now()) {
  state_.total_impressions = total.impressions;
  state_.total_runs = total.runs;
}

Watch Progress::watch() {
  Watch watch;
  watch.run_started = [this](const SimulationSpec& spec) {
    set_label(fmt::format("{}, {}", spec.label, spec.click_model));
  };
  watch.advanced = [this](std::uint64_t impressions) { advance(impressions); };
  watch.run_done = [this] { run_done(); };
  return watch;
}

void Progress::expect(const Work& total) {
  const std::lock_guard lock(mutex_);
  state_.total_impressions = total.impressions;
  state_.total_runs = total.runs;
}

void Progress::advance(std::uint64_t impressions) {
  const std::lock_guard lock(mutex_);
  state_.impressions += impressions;
  draw_if_due();
}

void Progress::run_done() {
  const std::lock_guard lock(mutex_);
  ++state_.runs;
  draw_if_due();
}

void Progress::skip(const Work& done) {
  const std::lock_guard lock(mutex_);
  state_.impressions += done.impressions;
  measured_ += done.impressions;
  state_.runs += done.runs;
  draw_if_due();
}

void Progress::set_label(std::string_view label) {
  const std::lock_guard lock(mutex_);
  state_.label = label;
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
  if (output_.visible && drawn_) {
    write_all(output_.descriptor, drawn_below_ ? "\r\x1b[J" : "\r\x1b[K");
  }
  output_.visible = false;
}

void Progress::draw_if_due() {
  if (!output_.visible) return;
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + kBetweenDraws;
  const double seconds = std::chrono::duration<double>(now - measured_at_).count();
  // Runs report in bursts, so a shorter interval says little.
  if (state_.impressions > measured_ && seconds >= 0.2) {
    const double recent = static_cast<double>(state_.impressions - measured_) / seconds;
    double& speed = state_.impressions_per_second;
    speed += (speed > 0 ? 1 - std::exp(-seconds / kSpeedMemorySeconds) : 1) * (recent - speed);
    measured_ = state_.impressions;
    measured_at_ = now;
  }
  // The last column stays free: a terminal may wrap after writing to it.
  TerminalSize size = terminal_size(output_.descriptor);
  --size.columns;
  std::string text = "\r" + progress_line(state_, size.columns) + "\x1b[K";
  size.rows = size.rows > 3 ? size.rows - 2 : 0;
  const std::vector<std::string> below = standing_.lines(size);
  for (const std::string& line : below) text += "\n" + line + "\x1b[K";
  if (drawn_below_ || !below.empty()) text += "\x1b[J";
  if (!below.empty()) text += fmt::format("\x1b[{}A", below.size());
  write_all(output_.descriptor, text);
  drawn_below_ = drawn_below_ || !below.empty();
  drawn_ = true;
}

void StatusLine::show(const std::string& text) const {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
}

}  // namespace plackett::command
