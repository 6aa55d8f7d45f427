// Users by name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "plackett/cascade_user.h"
#include "plackett/export.h"
#include "plackett/result.h"
#include "plackett/user.h"

namespace plackett {

// What a name does not say about a user.
struct UserOptions {
  std::uint32_t grade_count = 5;               // of the data: 2, 3 or 5 (Dataset::grade_count())
  StopRule stop_rule = StopRule::kAfterClick;  // cascade users only
  double eta = 1;                              // position-based and trust-bias users only
};

// The names that make_user knows: the five cascades, then "position-based", "dependent-click",
// "user-browsing" and "trust-bias".
PLACKETT_EXPORT std::span<const std::string_view> click_model_names();

// The user of that name, or of that file if the name ends in ".toml" (docs/click_models.md). Fails
// on an unknown name, a grade count that the name doesn't exist for, and an invalid file.
PLACKETT_EXPORT Result<std::unique_ptr<User>> make_user(std::string_view name_or_toml_path,
                                                        const UserOptions& options);

}  // namespace plackett
