// The built-in click models' numbers: the paper's table 2 for five grades, the published
// experiments' for two and three. They stand nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plackett {

// A row a model: one probability a label, from label 0 up.
struct CascadeTable {
  std::span<const double> click;  // given that the document is examined
  std::span<const double> stop;   // given that it was clicked (or examined; see StopRule)
};

// "perfect", "navigational", "informational", "almost-random", "random".
std::span<const std::string_view> cascade_names();

// The grade counts that the built-in models exist for: 2, 3, 5.
std::span<const std::uint32_t> built_in_grade_counts();

// Nothing where the name is unknown or the grade count isn't built in. The spans last for ever.
std::optional<CascadeTable> cascade_table(std::string_view name, std::uint32_t grade_count);

// The cascade model whose click row the built-in position-based user borrows.
inline constexpr std::string_view kPositionBasedClickRow = "informational";

}  // namespace plackett
