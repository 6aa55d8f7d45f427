#include "print_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <vector>

#include "command.h"
#include "plackett/results.h"
#include "report/numbers.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"
#include "report/write.h"
#include "terminal_text.h"

namespace plackett::command {

void report_results(const StoredResults& stored, const std::filesystem::path& folder,
                    report::SignificanceTest test) {
  const OutputStyle style = standard_output();
  const Comparison comparison = assemble(stored);
  fmt::print("{}\n", report::terminal_table(comparison, {.ansi = style.terminal,
                                                         .width = style.columns,
                                                         .ascii = style.ascii,
                                                         .test = test}));
  const std::string card = report::terminal_scorecard(
      comparison, {.ansi = style.terminal, .width = style.columns, .ascii = style.ascii});
  if (!card.empty()) fmt::print("{}\n", card);
  std::fflush(stdout);

  // The same for everyone who runs the experiment: no times, no options of this command.
  const report::PageOptions options{
      .command = "plackett compare --spec experiment.toml --out RESULTS", .test = test};
  if (auto done = report::write_report(comparison, folder, options); !done) {
    // A report may be written to another folder than that of its runs.
    std::error_code error;
    const bool beside = std::filesystem::exists(folder / "runs.jsonl", error);
    fail(Error{fmt::format("{}; {}", done.error().message,
                           beside ? runs_kept(stored, folder) : "no run is lost")});
  }
}

void print_speeds(const StoredResults& stored) {
  struct Speed {
    std::string label;
    double impressions = 0;
    double seconds = 0;
  };
  std::vector<Speed> speeds;
  for (const CellSummary& cell : assemble_with_times(stored).cells) {
    auto found = std::find_if(speeds.begin(), speeds.end(),
                              [&](const Speed& speed) { return speed.label == cell.label; });
    if (found == speeds.end()) found = speeds.insert(found, {.label = cell.label});
    found->impressions += cell.seconds * cell.impressions_per_second;
    found->seconds += cell.seconds;
  }
  std::vector<std::string> parts;
  for (const Speed& speed : speeds) {
    if (speed.seconds <= 0) continue;
    parts.push_back(fmt::format("{} {}", report::printable(speed.label),
                                report::rate(speed.impressions / speed.seconds)));
  }
  if (!parts.empty()) fmt::print("impressions/s: {}\n", fmt::join(parts, ", "));
}

std::string runs_kept(const StoredResults& stored, const std::filesystem::path& folder) {
  const std::uint64_t all = run_count(stored.spec);
  return fmt::format("{} of {} {} in {}", report::grouped(stored.runs.size()), report::grouped(all),
                     all == 1 ? "run is" : "runs are", folder.string());
}

void warn_of_damage(const StoredResults& stored, const std::filesystem::path& folder,
                    const std::string& consequence) {
  if (stored.damaged.empty()) return;
  fmt::print(stderr, "plackett: {}: line{} {}: incomplete or damaged; {}\n",
             (folder / "runs.jsonl").string(), stored.damaged.size() == 1 ? "" : "s",
             fmt::join(stored.damaged, ", "), consequence);
}

}  // namespace plackett::command
