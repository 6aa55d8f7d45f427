#include "dry_run.h"

#include "command.h"
#include "report/numbers.h"
#include "report/text.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

void print_cells(const Plan::Dataset& planned, std::uint64_t impressions) {
  const OutputStyle style = standard_output();
  std::vector<std::vector<TableCell>> rows{
      {{"  method"}, {"click model"}, {"runs"}, {"impressions/s"}, {"per run"}}};
  for (const Plan::Cell& cell : planned.cells) {
    rows.push_back({{"  " + cell.label},
                    {cell.click_model},
                    {report::grouped(cell.runs)},
                    {report::rate(static_cast<double>(impressions) / cell.run_seconds)},
                    {report::duration(cell.run_seconds)}});
  }
  const TableFit fit{.size = {style.columns, rows.size()}, .names = 2};
  for (const std::string& line : table_lines(rows, fit)) {
    fmt::print("{}\n", style.ascii ? report::in_ascii(line) : line);
  }
}

}  // namespace

void print_plan(const ComparisonSpec& spec, const std::string& folder, const RunOptions& options) {
  const Plan plan = take(plan_comparison(spec, folder, options));
  const std::uint64_t total = run_count(spec);
  fmt::print("{} x {} x {} x {} = {} of {}\n", counted(spec.datasets.size(), "dataset"),
             counted(spec.methods.size(), "method"),
             counted(spec.click_models.size(), "click model"), counted(spec.common.runs, "run"),
             counted(total, "run"), counted(spec.common.impressions, "impression"));
  fmt::print("{} protocol, seed {}; results go to {}, where {} of the runs are done\n",
             name_of(spec.common.protocol), spec.common.seed, report::printable(folder),
             report::grouped(plan.finished_runs));
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    const std::string name = report::printable(spec.datasets[number].name);
    const Plan::Dataset& planned = plan.datasets[number];
    if (planned.cells.empty()) {
      fmt::print("\n{}: all runs are done\n", name);
    } else {
      fmt::print("\n{}, read in {}\n", name, report::duration(planned.load_seconds));
      print_cells(planned, spec.common.impressions);
    }
  }
  fmt::print("\n{} left, about {} on {}; nothing was run or written\n",
             counted(total - plan.finished_runs, "run"), report::duration(plan.seconds),
             counted(options.threads, "thread"));
}

}  // namespace plackett::command
