// plackett report: tables, curves and pages from a results folder.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "plackett/results.h"
#include "print_results.h"
#include "report/scorecard.h"
#include "report/table.h"

namespace plackett::command {
namespace {

struct ReportOptions {
  std::string folder;
  std::optional<std::string> out;
  std::string format;
  std::string test = "welch";
};

struct Format {
  const char* name;
  std::string (*make)(const Comparison&, report::SignificanceTest);
};

const std::array kFormats{
    Format{"markdown", report::markdown_table}, Format{"latex", report::latex_table},
    Format{"csv", [](const Comparison& comparison,
                     report::SignificanceTest) { return report::csv_table(comparison); }},
    Format{"tests", [](const Comparison& comparison,
                       report::SignificanceTest) { return report::csv_tests(comparison); }},
    Format{"scorecard", [](const Comparison& comparison, report::SignificanceTest) {
             return report::markdown_scorecard(comparison);
           }}};

void report(const ReportOptions& options) {
  const auto stored = take(read_results(options.folder));
  if (!stored) {
    fail(Error{ErrorCode::kNotFound,
               fmt::format("{}: no results; plackett compare makes them", options.folder)});
  }
  warn_of_damage(*stored, options.folder, "left out");
  if (stored->runs.empty()) fail(Error{fmt::format("{}: no run is finished yet", options.folder)});
  const report::SignificanceTest test = options.test == "student"
                                            ? report::SignificanceTest::kStudent
                                            : report::SignificanceTest::kWelch;
  for (const Format& format : kFormats) {
    if (format.name != options.format) continue;
    const std::string text = format.make(assemble(*stored), test);
    if (text.empty()) {
      fail(Error{fmt::format("{}: nothing that the paper also ran", options.folder)});
    }
    fmt::print("{}", text);
    return;
  }
  const std::string& out = options.out.value_or(options.folder);
  report_results(*stored, out, test);
  if (stored->runs.size() < run_count(stored->spec)) {
    fmt::print("unfinished: {}\n", runs_kept(*stored, options.folder));
  }
  fmt::print("report: {}/report.html\n", out);
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "Tables, curves and report from a results folder");
  command->add_option("folder", options->folder, "what plackett compare wrote, finished or not")
      ->required();
  command->add_option("--out", options->out, "where to write the report (default: the folder)");
  std::vector<std::string> names;
  names.reserve(kFormats.size());
  for (const Format& format : kFormats) names.emplace_back(format.name);
  command
      ->add_option(
          "--format", options->format,
          "print only this and write nothing: " + fmt::format("{}", fmt::join(names, ", ")))
      ->check(CLI::IsMember(names))
      ->excludes("--out");
  command->add_option("--test", options->test, "the t-test of the marks: welch or student")
      ->check(CLI::IsMember({"welch", "student"}));
  command->callback([options] { report(*options); });
}

}  // namespace plackett::command
