#include "users/click_models.h"

#include <array>

#include "users/examination_user.h"

namespace plackett {
namespace {

// The cascades, then the others.
constexpr std::array kNames = std::to_array<std::string_view>(
    {"perfect", "navigational", "informational", "almost-random", "random", kPositionBased,
     kDependentClick, kUserBrowsing, kTrustBias});

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

// Of the top ten ranks; lower ones are as the tenth.
constexpr std::size_t kRanks = 10;

template <typename Value>
constexpr std::array<double, kRanks> by_rank(Value value) {
  std::array<double, kRanks> values{};
  for (std::size_t rank = 0; rank < kRanks; ++rank) values[rank] = value(double(rank + 1));
  return values;
}

constexpr std::array kGoOn = by_rank([](double rank) {
  double power = 1;
  for (double at = 0; at < rank; ++at) power *= .9;
  return power;
});
constexpr std::array kRelevant = by_rank([](double rank) { return 1 / (1 + .005 * (rank - 1)); });
constexpr std::array kIrrelevant = by_rank([](double rank) { return .65 / rank; });

// Each rank's row: the last click was 1, 2, ... ranks above; there was none.
// clang-format off
constexpr std::array<double, kRanks * (kRanks + 1) / 2> kExamine = {
    1,
    .98, 1,
    1, .62, .95,
    1, .77, .42, .82,
    1, .92, .55, .31, .69,
    1, .96, .63, .4, .22, .54,
    1, .99, .73, .46, .29, .17, .47,
    1, 1, .89, .52, .35, .24, .14, .43,
    1, 1, .95, .68, .4, .29, .19, .12, .41,
    1, 1, 1, .96, .52, .36, .27, .18, .12, .43};
// clang-format on

// A model whose users click as those of a cascade do, but do not stop as they do.
struct Other {
  std::string_view name;
  std::string_view click_row;
  UserTable table;
};

constexpr std::array kOthers = std::to_array<Other>({
    {kPositionBased, "informational", {}},
    {kDependentClick, "informational", {.go_on = kGoOn}},
    {kUserBrowsing, "informational", {.examine = kExamine}},
    {kTrustBias, "perfect", {.relevant = kRelevant, .irrelevant = kIrrelevant}},
});

}  // namespace

std::span<const std::string_view> click_model_names() { return kNames; }

std::span<const std::string_view> cascade_names() { return std::span(kNames).first(5); }

std::span<const std::uint32_t> built_in_grade_counts() { return kGradeCounts; }

std::optional<UserTable> user_table(std::string_view name, std::uint32_t grade_count) {
  for (const Other& other : kOthers) {
    if (other.name != name) continue;
    const auto clicks = user_table(other.click_row, grade_count);
    if (!clicks) return std::nullopt;
    UserTable table = other.table;
    table.click = clicks->click;
    return table;
  }
  for (const Row& row : kRows) {
    if (row.name != name || row.grades != grade_count) continue;
    return UserTable{.click = std::span(row.click).first(grade_count),
                     .stop = std::span(row.stop).first(grade_count)};
  }
  return std::nullopt;
}

std::unique_ptr<User> make_user(std::string name, const UserTable& table,
                                const UserOptions& options) {
  if (table.stop.empty() && table.go_on.empty()) {
    return std::make_unique<ExaminationUser>(ExaminationUser::Spec{.name = std::move(name),
                                                                   .click = table.click,
                                                                   .eta = options.eta,
                                                                   .examine = table.examine,
                                                                   .relevant = table.relevant,
                                                                   .irrelevant = table.irrelevant});
  }
  return std::make_unique<CascadeUser>(CascadeUser::Spec{.name = std::move(name),
                                                         .click = table.click,
                                                         .stop = table.stop,
                                                         .stop_rule = options.stop_rule,
                                                         .go_on = table.go_on});
}

}  // namespace plackett
