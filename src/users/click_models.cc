#include "users/click_models.h"

#include <array>

#include "users/position_based.h"

namespace plackett {
namespace {

// The cascades, then the others.
constexpr std::array kNames = std::to_array<std::string_view>(
    {"perfect", "navigational", "informational", "almost-random", "random", kPositionBased});

constexpr std::array kGradeCounts = std::to_array<std::uint32_t>({2, 3, 5});

struct Row {
  std::uint32_t grades;
  std::string_view name;
  std::array<double, 5> click, stop;  // the first `grades` of them
};

constexpr std::array kRows = std::to_array<Row>({
    {2, "perfect", {0, 1}, {0, 0}},
    {2, "navigational", {.05, .95}, {.2, .9}},
    {2, "informational", {.4, .9}, {.1, .5}},
    {2, "almost-random", {.4, .6}, {.5, .5}},
    {2, "random", {.5, .5}, {0, 0}},

    {3, "perfect", {0, .5, 1}, {0, 0, 0}},
    {3, "navigational", {.05, .5, .95}, {.2, .5, .9}},
    {3, "informational", {.4, .7, .9}, {.1, .3, .5}},
    {3, "almost-random", {.4, .5, .6}, {.5, .5, .5}},
    {3, "random", {.5, .5, .5}, {0, 0, 0}},

    {5, "perfect", {0, .2, .4, .8, 1}, {0, 0, 0, 0, 0}},
    {5, "navigational", {.05, .3, .5, .7, .95}, {.2, .3, .5, .7, .9}},
    {5, "informational", {.4, .6, .7, .8, .9}, {.1, .2, .3, .4, .5}},
    {5, "almost-random", {.4, .45, .5, .55, .6}, {.5, .5, .5, .5, .5}},
    {5, "random", {.5, .5, .5, .5, .5}, {0, 0, 0, 0, 0}},
});

}  // namespace

std::span<const std::string_view> click_model_names() { return kNames; }

std::span<const std::string_view> cascade_names() { return std::span(kNames).first(5); }

std::span<const std::uint32_t> built_in_grade_counts() { return kGradeCounts; }

std::optional<CascadeTable> cascade_table(std::string_view name, std::uint32_t grade_count) {
  for (const Row& row : kRows) {
    if (row.name != name || row.grades != grade_count) continue;
    return CascadeTable{std::span(row.click).first(grade_count),
                        std::span(row.stop).first(grade_count)};
  }
  return std::nullopt;
}

std::unique_ptr<User> make_user(std::string name, const CascadeTable& table,
                                const UserOptions& options) {
  if (table.stop.empty()) {
    return std::make_unique<PositionBasedUser>(
        PositionBasedUser::Spec{.name = std::move(name), .click = table.click, .eta = options.eta});
  }
  return std::make_unique<CascadeUser>(CascadeUser::Spec{.name = std::move(name),
                                                         .click = table.click,
                                                         .stop = table.stop,
                                                         .stop_rule = options.stop_rule});
}

}  // namespace plackett
