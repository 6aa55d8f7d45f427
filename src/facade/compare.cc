#include "experiment/spec_parts.h"
#include "plackett/report.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett {

Result<Compared> compare(const ComparisonSpec& spec, const std::filesystem::path& folder,
                         const RunOptions& options) {
  FolderWatch watch;
  watch.opened = [&](const StoredResults& found) {
    if (found.runs.empty() || !options.watch.advanced) return;
    options.watch.advanced(found.runs.size() * spec.common.impressions);
  };
  const auto stored = run_in_folder(spec, folder, options, watch);
  if (!stored) return stored.error();
  if (stored->runs.size() < run_count(spec)) return Error{ErrorCode::kStopped, "stopped"};
  if (auto written = write_report(assemble(*stored), folder); !written) return written.error();
  return compared(*stored);
}

}  // namespace plackett
