#include "report/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/embedded_file.h"
#include "base/file.h"
#include "report/figure.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett::report {
namespace {

constexpr std::string_view kMetricCurves = "curves_";  // a metric's figures: "curves_MAP.svg"

}  // namespace

// report.html, the style sheets and scripts in the order in which it needs them; made by
// cmake/embed.cmake.
std::span<const EmbeddedFile> embedded_files();

std::string html_report(const Comparison& comparison, const PageOptions& options) {
  // A module becomes a classic script, which sees what the scripts before it declare: without its
  // imports and without `export`. Both start a line, and an import ends in the next semicolon.
  static const std::regex kModuleSyntax("(^|\\n)(import [^;]*;|export )");
  std::string page, styles, scripts;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name.ends_with(".html")) page = file.bytes;
    if (file.name.ends_with(".css")) styles += fmt::format("<style>\n{}</style>\n", file.bytes);
    if (!file.name.ends_with(".js")) continue;
    scripts += fmt::format("<script>\n{}</script>\n",
                           std::regex_replace(std::string(file.bytes), kModuleSyntax, "$1"));
  }
  const std::string title = comparison.title.empty() ? "Comparison" : comparison.title;
  const auto fill = [&page](std::string_view place, const std::string& with) {
    page.replace(page.find(place), place.size(), with);
  };
  fill("{{scripts}}", scripts);
  fill("{{results}}", replaced(results_json(comparison, options), "<", "\\u003c"));
  fill("{{styles}}", styles);
  fill("{{title}}", markup(title));
  return page;
}

Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder,
                          const PageOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return system_error(folder, "can't create", error.value());
  std::vector<std::pair<std::string, std::string>> files{
      {"results.json", results_json(comparison, options)},
      {"tables.csv", csv_table(comparison)},
      {"tests.csv", csv_tests(comparison)},
      {"tables.md", markdown_table(comparison)},
      {"tables.tex", latex_table(comparison)},
      {"drift.csv", csv_drift(comparison)},
      {"scorecard.md", markdown_scorecard(comparison)},
      {"scorecard.csv", csv_scorecard(comparison)},
  };
  const Arrangement arrangement(comparison);
  for (const auto& [ending, format] :
       {std::pair{".svg", FigureFormat::kSvg}, {".pdf", FigureFormat::kPdf}}) {
    for (const Measure& measure : arrangement.measures) {
      const std::string name = measure.index == kOffline.index ? "curves"
                               : measure.index == kOnline.index
                                   ? "online"
                                   : fmt::format("{}{}", kMetricCurves, measure.name);
      auto drawn = draw_curves(comparison, measure, format);
      if (!drawn) return drawn.error();
      files.emplace_back(name + ending, std::move(*drawn));
    }
    auto sweep = draw_sweep(comparison, format);
    if (!sweep) return sweep.error();
    files.emplace_back(std::string("sweep") + ending, std::move(*sweep));
    auto windows = draw_windows(comparison, format);
    if (!windows) return windows.error();
    files.emplace_back(std::string("windows") + ending, std::move(*windows));
  }
  files.emplace_back("report.html", html_report(comparison, options));
  // An earlier report may have drawn other metrics.
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_new = std::any_of(files.begin(), files.end(),
                                    [&](const auto& file) { return file.first == name; });
    if (name.starts_with(kMetricCurves) && !is_new) files.emplace_back(name, "");
  }
  for (const auto& [name, content] : files) {
    const std::filesystem::path path = folder / name;
    if (!content.empty()) {
      if (auto done = write_file(path, content); !done) return done;
    } else if (std::filesystem::remove(path, error); error) {  // an earlier report's
      return system_error(path, "can't remove", error.value());
    }
  }
  return {};
}

}  // namespace plackett::report

plackett::Result<void> plackett::write_report(const Comparison& comparison,
                                              const std::filesystem::path& folder) {
  return report::write_report(comparison, folder, {});
}

std::string plackett::text_table(const Comparison& comparison, std::size_t columns) {
  return report::terminal_table(comparison, {.width = columns});
}

std::string plackett::html_table(const Comparison& comparison) {
  return report::embedded_table(comparison);
}

plackett::Result<std::string> plackett::curves_svg(const Comparison& comparison) {
  return report::draw_curves(comparison);
}
