// What a run's bits depend on besides spec and data.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "plackett/result.h"
#include "plackett/results.h"

namespace plackett {

// How errors with Hint::kOtherFolderOrFresh end.
inline constexpr std::string_view kStartOver = "use another folder, or start over in this one";

// Records in the folder what makes the runs of these cells. Fails if what is recorded differs and
// there are runs.
Result<void> claim_made_by(const std::filesystem::path& folder, const StoredResults& stored,
                           const std::vector<StoredCell>& cells);

}  // namespace plackett
