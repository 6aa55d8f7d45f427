#include "plackett/report.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett {

Result<Compared> compare(const ComparisonSpec& spec, const std::filesystem::path& folder,
                         const RunOptions& options) {
  FolderWatch watch;
  watch.opened = [&](const StoredResults& /*stored*/, WorkCount all, WorkCount left) {
    const std::uint64_t done = all.impressions - left.impressions;
    if (done > 0 && options.watch.advanced) options.watch.advanced(done);
  };
  const auto stored = run_in_folder(spec, folder, options, watch);
  if (!stored) return stored.error();
  if (stored->finished() < stored->asked()) return Error{ErrorCode::kStopped, "stopped"};
  if (auto written = write_report(assemble(*stored), folder); !written) return written.error();
  return compared(*stored);
}

}  // namespace plackett
