// The files of a LETOR dataset.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "plackett/result.h"

namespace plackett {

struct LetorFold {
  std::string name;
  std::filesystem::path train;
  std::filesystem::path validation;  // empty: none
  std::filesystem::path test;
};

// The folds in `folder`: one per subfolder Fold* (Fold2 before Fold10), or the folder itself if it
// has none. train.txt.gz is used if there is no train.txt; the same for vali and test.
Result<std::vector<LetorFold>> find_letor_folds(const std::filesystem::path& folder);

// The last part of a folder's path, also if it ends in a slash or is ".".
std::string folder_name(const std::filesystem::path& folder);

// Decompresses gzip data: one or more members, then only zero bytes. `path` comes first in errors.
Result<std::string> unpack_gzip(std::span<const std::byte> packed, const std::string& path);

}  // namespace plackett
