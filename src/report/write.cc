#include "report/write.h"

#include <fmt/format.h>

#include <system_error>

#include "base/file.h"
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
  if (auto done = write_file(folder / "tables.csv", csv_table(comparison)); !done) return done;
  if (auto done = write_file(folder / "tables.md", markdown_table(comparison)); !done) return done;
  if (auto done = write_file(folder / "curves.svg", curves_svg(comparison)); !done) return done;
  return write_file(folder / "report.html", html_report(comparison, options));
}

}  // namespace plackett
