#include <fmt/format.h>

#include <span>
#include <string_view>

#include "base/embedded_file.h"
#include "report/text.h"
#include "report/write.h"

namespace plackett {
namespace report {

// report.html, the style sheets and scripts in the order in which it needs them; made by
// cmake/embed.cmake.
std::span<const EmbeddedFile> embedded_files();

}  // namespace report
namespace {

// A module as a classic script, which sees what the scripts before it declare: without its imports
// and without `export`. Both start a line, and an import ends in the next semicolon.
std::string as_script(std::string_view module) {
  std::string out;
  while (!module.empty()) {
    const bool is_import = module.starts_with("import ");
    std::string_view taken = module.substr(0, module.find(is_import ? ';' : '\n') + 1);
    if (taken.empty()) taken = module;
    module.remove_prefix(taken.size());
    if (taken.starts_with("export ")) taken.remove_prefix(7);
    if (!is_import) out += taken;
  }
  return out;
}

}  // namespace

std::string html_report(const Comparison& comparison, const PageOptions& options) {
  std::string page, styles, scripts;
  for (const EmbeddedFile& file : report::embedded_files()) {
    if (file.name.ends_with(".html")) page = file.bytes;
    if (file.name.ends_with(".css")) styles += fmt::format("<style>\n{}</style>\n", file.bytes);
    if (!file.name.ends_with(".js")) continue;
    scripts += fmt::format("<script>\n{}</script>\n", as_script(file.bytes));
  }
  std::string data = results_json(comparison, options);
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;) {
    data.replace(at, 1, "\\u003c");
  }
  const std::string title = comparison.title.empty() ? "Comparison" : comparison.title;
  const auto fill = [&page](std::string_view place, const std::string& with) {
    page.replace(page.find(place), place.size(), with);
  };
  fill("{{scripts}}", scripts);
  fill("{{results}}", data);
  fill("{{styles}}", styles);
  fill("{{title}}", report::markup(title));
  return page;
}

}  // namespace plackett
