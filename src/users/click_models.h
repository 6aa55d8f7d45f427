// The probabilities of the built-in click models: for cascades the paper's table 2 for five grades,
// those of the published experiments for two and three. Where the others' come from is in
// docs/click_models.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plackett/make_user.h"

namespace plackett {

// What makes a user. Which lists are not empty tells the kind: `stop` for a cascade, `go_on` for a
// dependent click model, `examine` for a user browsing model, `relevant` and `irrelevant` for trust
// bias, none of them for a position-based user.
struct UserTable {
  std::span<const double> click = {};       // per label, given that the document is examined
  std::span<const double> stop = {};        // per label, given a click (or examined; see StopRule)
  std::span<const double> go_on = {};       // as in CascadeUser::Spec
  std::span<const double> examine = {};     // as in ExaminationUser::Spec
  std::span<const double> relevant = {};    // likewise
  std::span<const double> irrelevant = {};  // likewise
};

inline constexpr std::string_view kPositionBased = "position-based";
inline constexpr std::string_view kDependentClick = "dependent-click";
inline constexpr std::string_view kUserBrowsing = "user-browsing";
inline constexpr std::string_view kTrustBias = "trust-bias";

// "perfect", "navigational", "informational", "almost-random", "random".
std::span<const std::string_view> cascade_names();

// The grade counts that the built-in models exist for: 2, 3, 5.
std::span<const std::uint32_t> built_in_grade_counts();

// Of a built-in model. Nothing if the name is unknown or the grade count isn't built in. The spans
// are static.
std::optional<UserTable> user_table(std::string_view name, std::uint32_t grade_count);

// The user of a table.
std::unique_ptr<User> make_user(std::string name, const UserTable& table,
                                const UserOptions& options);

}  // namespace plackett
