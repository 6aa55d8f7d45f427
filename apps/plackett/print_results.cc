#include "print_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>

#include "command.h"
#include "experiment/comparison.h"
#include "experiment/results_names.h"
#include "report/numbers.h"
#include "report/table.h"
#include "report/write.h"

namespace plackett::command {

void report_results(const StoredResults& stored, const std::filesystem::path& folder) {
  // The same for everyone who runs the experiment: neither times nor this command's words.
  const HtmlOptions options{.command =
                                fmt::format("plackett compare --spec {} --out RESULTS", kSpecName)};
  take(write_report(assemble(stored), folder, options));
  TableStyle style;
  style.ansi = ::isatty(STDOUT_FILENO) == 1;
  fmt::print("{}\n", terminal_table(assemble_with_times(stored), style));
}

std::string runs_kept(const StoredResults& stored, const std::filesystem::path& folder) {
  return fmt::format("{} of {} runs are in {}", report::grouped(stored.runs.size()),
                     report::grouped(run_count(stored.spec)), folder.string());
}

void warn_of_damage(const StoredResults& stored, const std::filesystem::path& folder,
                    const std::string& consequence) {
  if (stored.damaged.empty()) return;
  fmt::print(stderr, "plackett: {}: line{} {}: cut or damaged; {}\n", (folder / kRunsName).string(),
             stored.damaged.size() == 1 ? "" : "s", fmt::join(stored.damaged, ", "), consequence);
}

}  // namespace plackett::command
