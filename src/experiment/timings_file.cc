#include "experiment/timings_file.h"
#include "experiment/spec_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "experiment/json_text.h"

namespace plackett {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string to_line(const FinishedRun& run, const RunTiming& timing) {
  return fmt::format(R"({{"dataset":{},"method":{},"click_model":{},"run":{},"seconds":{:.6f},)"
                     R"("evaluation_seconds":{:.6f},"threads":{}}})"
                     "\n",
                     json_text(run.dataset), json_text(run.method), json_text(run.click_model),
                     run.record.run, timing.seconds, timing.evaluation_seconds, timing.threads);
}

Timings read_timings(const std::filesystem::path& path, const ComparisonSpec& spec) {
  Timings timings;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return timings;
  const auto text = read_file(path);
  if (!text) return timings;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    try {
      const auto dataset = json.at("dataset").get<std::string>();
      const auto method = json.at("method").get<std::string>();
      const auto click_model = json.at("click_model").get<std::string>();
      const auto place =
          place_of(spec, {dataset, method, click_model, json.at("run").get<std::uint32_t>()});
      const RunTiming timing{json.at("seconds").get<double>(),
                             json.at("evaluation_seconds").get<double>(),
                             std::max(1U, json.at("threads").get<unsigned>())};
      if (place) timings.insert_or_assign(*place, timing);
    } catch (const Json::exception&) {
      continue;
    }
  }
  return timings;
}

Result<void> prepare_timings(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return write_file(path, "");
  auto text = read_file(path);
  if (!text) return text.error();
  if (text->empty() || text->back() == '\n') return {};
  text->erase(text->rfind('\n') + 1);  // all of it where there is no line break
  return write_file(path, *text);
}

}  // namespace plackett
