// The probabilities of the built-in click models: the paper's table 2 for five grades, those of the
// published experiments for two and three.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plackett/make_user.h"

namespace plackett {

// One probability per label, from label 0.
struct CascadeTable {
  std::span<const double> click;  // given that the document is examined
  std::span<const double> stop;   // given that it was clicked (or examined; see StopRule)
};

// "perfect", "navigational", "informational", "almost-random", "random".
std::span<const std::string_view> cascade_names();

// The grade counts that the built-in models exist for: 2, 3, 5.
std::span<const std::uint32_t> built_in_grade_counts();

// Nothing if the name is unknown or the grade count isn't built in. The spans are static.
std::optional<CascadeTable> cascade_table(std::string_view name, std::uint32_t grade_count);

// A cascade user; without stop probabilities, a position-based one.
std::unique_ptr<User> make_user(std::string name, const CascadeTable& table,
                                const UserOptions& options);

inline constexpr std::string_view kPositionBased = "position-based";
// The cascade model whose click probabilities the built-in position-based user has.
inline constexpr std::string_view kPositionBasedClickRow = "informational";

}  // namespace plackett
