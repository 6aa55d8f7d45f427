#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "experiment/curve.h"
#include "experiment/identity.h"
#include "experiment/results_folder.h"
#include "experiment/results_names.h"
#include "experiment/spec_file.h"
#include "experiment/spec_parts.h"
#include "experiment/timings_file.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

// Whether `text` is what is left of the header line where its writing was cut: such a file holds
// no run.
bool cut_header(std::string_view text) {
  constexpr std::string_view kStart = "{\"checksum\":\"";
  constexpr std::size_t kLongest = 300;
  const std::string_view start = text.substr(0, kStart.size());
  return text.size() < kLongest && text.find('\n') == std::string_view::npos &&
         kStart.starts_with(start);
}

// Puts the runs of a file where the spec has them.
Result<void> place_runs(RunsFile file, const std::string& name, StoredResults& stored) {
  const std::vector<std::uint64_t> points = curve_points(stored.spec.common.impressions);
  for (std::size_t at = 0; at < file.runs.size(); ++at) {
    FinishedRun& run = file.runs[at];
    const auto place =
        place_of(stored.spec, {run.dataset, run.method, run.click_model, run.record.run});
    const auto& curve = run.record.curve;
    const bool fits = place && std::equal(curve.begin(), curve.end(), points.begin(), points.end(),
                                          [](const CurvePoint& point, std::uint64_t impression) {
                                            return point.impression == impression;
                                          });
    if (!fits) {
      return Error{fmt::format("{}:{}: {} under {} on {}, run {}, is no run of {}", name,
                               file.line_of_runs[at], run.method, run.click_model, run.dataset,
                               run.record.run, kSpecName)};
    }
    const auto [there, added] = stored.runs.emplace(*place, run);
    if (!added && to_line(there->second) != to_line(run)) {
      return Error{fmt::format("{}:{}: another result for a run that stands there already", name,
                               file.line_of_runs[at])};
    }
  }
  return {};
}

}  // namespace

Result<std::optional<StoredResults>> read_results(const fs::path& folder) {
  std::error_code error;
  const bool has_spec = fs::exists(folder / kSpecName, error);
  const bool has_runs = fs::exists(folder / kRunsName, error);
  if (!has_spec && !has_runs) return std::optional<StoredResults>();
  if (!has_spec) {
    return Error{fmt::format(
        "{}: {} without {}; nothing says what the runs are of, but the command that made them, "
        "which goes on if it is given again",
        folder.string(), kRunsName, kSpecName)};
  }
  auto spec = read_spec(folder / kSpecName);
  if (!spec) return spec.error();
  std::string text;
  const std::string name = (folder / kRunsName).string();
  if (has_runs) {
    auto read = read_file(folder / kRunsName);
    if (!read) return read.error();
    text = std::move(read).value();
  }
  // Nothing was begun: the next command may ask for what it likes.
  if (cut_header(text)) return std::optional<StoredResults>();

  StoredResults stored;
  stored.spec = std::move(spec).value();
  auto file = parse_runs(text, {.name = name});
  if (!file) return file.error();
  if (file->header.experiment != identity(stored.spec)) {
    return Error{fmt::format("{}:1: is not of the experiment in {}", name, kSpecName)};
  }
  if (file->runs.empty() && file->damaged.empty()) return std::optional<StoredResults>();
  stored.plackett = file->header.plackett;
  stored.damaged = file->damaged;
  if (auto placed = place_runs(std::move(file).value(), name, stored); !placed) {
    return placed.error();
  }
  stored.timings = read_timings(folder / kTimingsName, stored.spec);
  return std::optional<StoredResults>(std::move(stored));
}

}  // namespace plackett
