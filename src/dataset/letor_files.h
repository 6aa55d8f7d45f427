// The files of a LETOR dataset.
#pragma once

#include <filesystem>
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

// Whether `where` is a folder or names one of several sets in one (find_letor_folds).
bool is_letor(const std::filesystem::path& where);

// The folds at `where`, a folder: one per subfolder Fold* (Fold2 before Fold10), otherwise the
// files train, vali and test in it or, as Istella's archives have them, in its subfolder full or
// sample, otherwise, as Yahoo's, set1.train, set1.valid and set1.test. If it holds full and sample
// or several such sets, FOLDER/full or FOLDER/set1 says which. vali may also be called valid or
// validation. Files end in .txt or, where that is absent, .txt.gz.
Result<std::vector<LetorFold>> find_letor_folds(const std::filesystem::path& where);

// The last part of a path, also if it ends in a slash or is ".".
std::string folder_name(const std::filesystem::path& folder);

}  // namespace plackett
