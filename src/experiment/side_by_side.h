// Work on what is loaded part by part, each part's on a thread of its own while the next are
// loaded.
#pragma once

#include <cstddef>
#include <functional>

#include "plackett/result.h"

namespace plackett {

// The work on one part, which owns what was loaded for it. Ends soon once the caller stops.
using LoadedWork = std::function<Result<void>()>;

struct WorkInParts {
  std::size_t count = 0;
  // Loads one; called on the caller's thread, part after part. May be called again for a part that
  // had no memory (kUnavailable, or std::bad_alloc).
  std::function<Result<LoadedWork>(std::size_t at)> load;
  // Whether the caller stops. May be empty. Any thread may ask.
  std::function<bool()> stop = {};
  // Whether there is memory for a third part at a time, or a fourth: how much it takes is not known
  // before it is loaded, and Linux may promise more than there is. Empty: there is.
  std::function<bool()> has_memory = {};
  bool side_by_side = true;  // false: work on a part ends before the next is loaded
};

// Loads all parts, up to four at a time, and works on them. What was loaded is freed as soon as the
// work on it ends. A part that has no memory beside others is loaded again when one of them is
// done. Where no thread can be had, the calling one does the work. Once one part fails, or the
// caller stops, no more are loaded; work that is under way goes on to its end unless the caller
// stops. Returns the failure of the earliest part that failed; success if the caller stopped.
Result<void> do_in_parts(const WorkInParts& parts);

}  // namespace plackett
