// plackett report: tables, curves and pages from a results folder.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "command.h"
#include "plackett/results.h"
#include "plackett/simulate.h"
#include "report/numbers.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"
#include "report/write.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

struct ReportOptions {
  std::vector<std::filesystem::path> folders;
  std::optional<std::filesystem::path> out;
  std::string format;
  ComparisonSpec reporting;  // baselines and test
};

const std::vector<std::string> kFormats{"markdown", "latex",  "csv",      "tests",
                                        "runs",     "curves", "scorecard"};

// Empty for a scorecard of results that the paper has not.
std::string formatted(const std::string& format, const StoredResults& stored) {
  if (format == "curves") {
    const Compared made = compared(stored);
    return report::csv_curves(made.comparison, made.runs);
  }
  const Comparison comparison = assemble(stored);
  if (format == "markdown") return report::markdown_table(comparison);
  if (format == "latex") return report::latex_table(comparison);
  if (format == "csv") return report::csv_table(comparison);
  if (format == "tests") return report::csv_tests(comparison);
  if (format == "runs") return report::csv_runs(comparison);
  return report::markdown_scorecard(comparison);
}

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) names.push_back(path.string());
  return names;
}

// As one word of a shell command.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+=:,@%-";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char character : text) word += character == '\'' ? "'\\''" : std::string(1, character);
  return word + "'";
}

// That make the results again in one folder.
std::string commands_of(const StoredResults& stored) {
  std::vector<std::string> commands;
  for (const std::string& spec : stored.specs) {
    commands.push_back(fmt::format("plackett compare --spec {} --out RESULTS", shell_word(spec)));
  }
  return fmt::format("{}", fmt::join(commands, "\n"));
}

void report(const CLI::App& command, const ReportOptions& options) {
  StoredResults stored = take(read_results(options.folders));
  const std::string names = fmt::format("{}", fmt::join(names_of(options.folders), ", "));
  warn_of_damage(stored, "left out");
  if (stored.empty()) fail(Error{fmt::format("{}: no run is finished yet", names)});
  copy_report_options(command, options.reporting, stored.spec);
  take(name_cells(stored));
  if (!options.format.empty()) {
    const std::string text = formatted(options.format, stored);
    if (text.empty()) {
      fail(Error{fmt::format("{}: nothing that the paper also ran", names)});
    }
    return fmt::print("{}", text);
  }
  auto out = options.out;
  if (!out && options.folders.size() == 1) out = options.folders.front();
  report_results(stored, out);
  if (stored.finished() < stored.asked()) {
    fmt::print("unfinished: {}\n", runs_kept(stored, names));
  }
  if (out) fmt::print("report: {}/report.html\n", out->string());
}

}  // namespace

void add_report_options(CLI::App& command, ComparisonSpec& given) {
  add_list(command, "--baselines", given.baselines,
           "methods that the others are tested against, as entries of --methods or by their "
           "labels (default: as the experiment says, or dbgd, mgd and pairwise)")
      ->default_str("");
  add_options(command, report_options(), given);
}

void copy_report_options(const CLI::App& command, const ComparisonSpec& given,
                         ComparisonSpec& spec) {
  if (command.count("--baselines") > 0) spec.baselines = given.baselines;
  copy_given(command, report_options(), given, spec);
}

void report_results(const StoredResults& stored,
                    const std::optional<std::filesystem::path>& folder) {
  const OutputStyle style = standard_output();
  const Comparison comparison = assemble(stored);
  fmt::print("{}\n", report::terminal_table(
                         comparison,
                         {.ansi = style.terminal, .width = style.columns, .ascii = style.ascii}));
  const std::string card = report::terminal_scorecard(
      comparison, {.ansi = style.terminal, .width = style.columns, .ascii = style.ascii});
  if (!card.empty()) fmt::print("{}\n", card);
  std::fflush(stdout);
  if (!folder) return;

  // The same for everyone who runs the experiment: no times, no options of this command.
  const report::PageOptions options{.command = commands_of(stored)};
  if (auto done = report::write_report(comparison, *folder, options); !done) {
    // A report may be written to another folder than that of its runs.
    std::error_code error;
    const bool beside = std::filesystem::exists(*folder / "runs.jsonl", error);
    fail(Error{fmt::format("{}; {}", done.error().message,
                           beside ? runs_kept(stored, *folder) : "no run is lost")});
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
  const std::uint64_t all = stored.asked();
  return fmt::format("{} of {} {} in {}", report::grouped(stored.finished()), report::grouped(all),
                     all == 1 ? "run is" : "runs are", folder.string());
}

void warn_of_damage(const StoredResults& stored, const std::string& consequence) {
  if (stored.damaged.empty()) return;
  fmt::print(stderr, "plackett: {}: incomplete or damaged; {}\n", fmt::join(stored.damaged, ", "),
             consequence);
}

void add_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "Tables, curves and report from results folders");
  command
      ->add_option("folders", options->folders,
                   "what plackett compare wrote, finished or not; several are shown as one")
      ->required();
  command->add_option("--out", options->out,
                      "where to write the report (default: the folder; of several, nowhere)");
  command
      ->add_option("--format", options->format,
                   fmt::format("print only this and write nothing: {}", fmt::join(kFormats, ", ")))
      ->check(CLI::IsMember(kFormats))
      ->excludes("--out");
  add_report_options(*command, options->reporting);
  command->get_option("--test")->default_str("the experiment's");
  command->callback([command, options] { report(*command, *options); });
}

}  // namespace plackett::command
