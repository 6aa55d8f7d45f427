#include "users/click_models.h"

#include <array>

namespace plackett {
namespace {

template <std::size_t kGrades>
struct Row {
  std::string_view name;
  std::array<double, kGrades> click;
  std::array<double, kGrades> stop;
};

constexpr std::array kNames = std::to_array<std::string_view>(
    {"perfect", "navigational", "informational", "almost-random", "random"});

constexpr std::array kGradeCounts = std::to_array<std::uint32_t>({2, 3, 5});

constexpr std::array<Row<2>, kNames.size()> kTwoGrades = {{
    {"perfect", {0, 1}, {0, 0}},
    {"navigational", {.05, .95}, {.2, .9}},
    {"informational", {.4, .9}, {.1, .5}},
    {"almost-random", {.4, .6}, {.5, .5}},
    {"random", {.5, .5}, {0, 0}},
}};

constexpr std::array<Row<3>, kNames.size()> kThreeGrades = {{
    {"perfect", {0, .5, 1}, {0, 0, 0}},
    {"navigational", {.05, .5, .95}, {.2, .5, .9}},
    {"informational", {.4, .7, .9}, {.1, .3, .5}},
    {"almost-random", {.4, .5, .6}, {.5, .5, .5}},
    {"random", {.5, .5, .5}, {0, 0, 0}},
}};

constexpr std::array<Row<5>, kNames.size()> kFiveGrades = {{
    {"perfect", {0, .2, .4, .8, 1}, {0, 0, 0, 0, 0}},
    {"navigational", {.05, .3, .5, .7, .95}, {.2, .3, .5, .7, .9}},
    {"informational", {.4, .6, .7, .8, .9}, {.1, .2, .3, .4, .5}},
    {"almost-random", {.4, .45, .5, .55, .6}, {.5, .5, .5, .5, .5}},
    {"random", {.5, .5, .5, .5, .5}, {0, 0, 0, 0, 0}},
}};

template <typename Rows>
std::optional<CascadeTable> find(const Rows& rows, std::string_view name) {
  for (const auto& row : rows) {
    if (row.name == name) return CascadeTable{row.click, row.stop};
  }
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> cascade_names() { return kNames; }

std::span<const std::uint32_t> built_in_grade_counts() { return kGradeCounts; }

std::optional<CascadeTable> cascade_table(std::string_view name, std::uint32_t grade_count) {
  switch (grade_count) {
    case 2:
      return find(kTwoGrades, name);
    case 3:
      return find(kThreeGrades, name);
    case 5:
      return find(kFiveGrades, name);
    default:
      return std::nullopt;
  }
}

}  // namespace plackett
