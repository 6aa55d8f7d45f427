#include "report/write.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "report/pdf.h"
#include "report/scorecard.h"
#include "report/svg.h"
#include "report/table.h"

namespace plackett {

Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder,
                          const HtmlOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Error{fmt::format("{}: can't make the folder: {}", folder.string(), error.message())};
  }
  using report::Metric;
  std::vector<std::pair<const char*, std::string>> files{
      {"tables.csv", csv_table(comparison)},
      {"tests.csv", csv_tests(comparison)},
      {"tables.md", markdown_table(comparison, options.test)},
      {"tables.tex", latex_table(comparison, options.test)},
      {"curves.svg", curves_svg(comparison, {.metric = Metric::kOffline})},
      {"online.svg", curves_svg(comparison, {.metric = Metric::kOnline})},
      {"curves.pdf", curves_pdf(comparison, {.metric = Metric::kOffline})},
      {"online.pdf", curves_pdf(comparison, {.metric = Metric::kOnline})},
  };
  if (std::string card = markdown_scorecard(comparison); !card.empty()) {
    files.emplace_back("scorecard.md", std::move(card));
    files.emplace_back("scorecard.csv", csv_scorecard(comparison));
  } else {
    for (const char* stale : {"scorecard.md", "scorecard.csv"}) {
      std::filesystem::remove(folder / stale, error);
      if (error) {
        return Error{
            fmt::format("{}: can't remove: {}", (folder / stale).string(), error.message())};
      }
    }
  }
  files.emplace_back("report.html", html_report(comparison, options));
  for (const auto& [name, content] : files) {
    if (auto done = write_file(folder / name, content); !done) return done;
  }
  return {};
}

Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder) {
  return write_report(comparison, folder, HtmlOptions{});
}

}  // namespace plackett
