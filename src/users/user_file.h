// Users from a TOML file; the format is in docs/click_models.md.
#pragma once

#include <filesystem>
#include <memory>

#include "plackett/make_user.h"
#include "plackett/result.h"
#include "plackett/user.h"

namespace plackett {

// The file's eta takes precedence over options.eta; the stop rule always comes from the options.
// Fails with "path:line: value; rule" unless the file is a complete, valid description for exactly
// options.grade_count grades.
Result<std::unique_ptr<User>> read_user_file(const std::filesystem::path& path,
                                             const UserOptions& options);

// How many grades the file is written for; 1 if the file is too broken to tell: read_user_file will
// say why.
std::uint32_t user_file_grades(const std::filesystem::path& path);

}  // namespace plackett
