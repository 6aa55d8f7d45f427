#include "report/write.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/file.h"
#include "report/figure.h"
#include "report/scorecard.h"
#include "report/table.h"

namespace plackett {
Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder,
                          const PageOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: can't make the folder: {}", folder.string(), error.message())};
  }
  std::vector<std::pair<const char*, std::string>> files{
      {"results.json", results_json(comparison, options)},
      {"tables.csv", csv_table(comparison)},
      {"tests.csv", csv_tests(comparison)},
      {"tables.md", markdown_table(comparison, options.test)},
      {"tables.tex", latex_table(comparison, options.test)},
      {"scorecard.md", markdown_scorecard(comparison)},
      {"scorecard.csv", csv_scorecard(comparison)},
  };
  for (const auto& [name, measure, format] :
       {std::tuple{"curves.svg", &report::kOffline, FigureFormat::kSvg},
        {"curves.pdf", &report::kOffline, FigureFormat::kPdf},
        {"online.svg", &report::kOnline, FigureFormat::kSvg},
        {"online.pdf", &report::kOnline, FigureFormat::kPdf}}) {
    auto drawn = draw_curves(comparison, {.measure = measure, .format = format});
    if (!drawn) return drawn.error();
    files.emplace_back(name, std::move(*drawn));
  }
  files.emplace_back("report.html", html_report(comparison, options));
  for (const auto& [name, content] : files) {
    const std::filesystem::path path = folder / name;
    if (!content.empty()) {
      if (auto done = write_file(path, content); !done) return done;
    } else if (std::filesystem::remove(path, error); error) {  // an earlier scorecard
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{}: can't remove: {}", path.string(), error.message())};
    }
  }
  return {};
}

Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder) {
  return write_report(comparison, folder, PageOptions{});
}

}  // namespace plackett
