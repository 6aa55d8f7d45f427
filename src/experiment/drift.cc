#include "plackett/drift.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "plackett/make_user.h"
#include "users/user_file.h"

namespace plackett {
namespace {

// In the order of the enums.
constexpr std::array kOf =
    std::to_array<std::string_view>({"labels", "users", "features", "queries"});
constexpr std::array kPaces = std::to_array<std::string_view>({"abrupt", "linear", "seasonal"});
constexpr std::array kChanges = std::to_array<std::string_view>({"intents", "reversed"});

template <typename Enum, typename Names>
Result<Enum> parse(const Names& names, std::string_view name, std::string_view what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  return Error{fmt::format("unknown {} \"{}\"; known: {}", what, name, fmt::join(names, ", "))};
}

std::string to_text(const DriftedFeatures& features) {
  return features.ids.empty() ? fmt::format("{}", features.share)
                              : fmt::format("{}", fmt::join(features.ids, ","));
}

Result<void> check_features(std::string_view name, const DriftedFeatures& features) {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t id : features.ids) {
    if (id == 0) return Error{fmt::format("{}: feature id 0; ids start at 1", name)};
    if (!seen.insert(id).second) return Error{fmt::format("{}: {} is listed twice", name, id)};
  }
  if (features.share >= 0 && features.share < 1) return {};
  return Error{fmt::format("{}: {}; a share is above 0 and below 1", name, features.share)};
}

Result<void> check_change(const Drift& drift) {
  const Drift plain;
  const bool of_features = drift.of == DriftOf::kFeatures;
  if (drift.of != DriftOf::kLabels && drift.change != plain.change) {
    return Error{"change; only labels have one"};
  }
  if (of_features == (drift.dies.empty() && drift.appears.empty())) {
    return Error{of_features ? "features without dies or appears; say which"
                             : "dies or appears; only features do"};
  }
  if (auto valid = check_features("dies", drift.dies); !valid) return valid;
  if (auto valid = check_features("appears", drift.appears); !valid) return valid;
  if (drift.dies.share + drift.appears.share > 1) {
    return Error{"dies and appears: shares of more than 1 together"};
  }
  for (const std::uint32_t id : drift.dies.ids) {
    const auto& others = drift.appears.ids;
    if (std::find(others.begin(), others.end(), id) == others.end()) continue;
    return Error{fmt::format("feature {} both dies and appears; expected one of them", id)};
  }
  if (drift.of != DriftOf::kQueries && drift.share != plain.share) {
    return Error{"share; only queries have one"};
  }
  if (!(drift.share > 0 && drift.share < 1)) {
    return Error{fmt::format("share: {}; it is above 0 and below 1", drift.share)};
  }
  if (drift.of != DriftOf::kUsers) {
    return drift.click_model.empty() ? Result<void>() : Error{"click-model; only users have one"};
  }
  if (drift.click_model.empty()) return Error{"users without click-model; say which"};
  UserOptions options;
  if (drift.click_model.ends_with(".toml"))
    options.grade_count = user_file_grades(drift.click_model);
  if (const auto user = make_user(drift.click_model, options); !user) return user.error();
  return {};
}

Result<void> check_pace(const Drift& drift) {
  const bool is_linear = drift.pace == DriftPace::kLinear;
  const bool is_seasonal = drift.pace == DriftPace::kSeasonal;
  if (is_linear != (drift.over > 0)) {
    return Error{is_linear ? "linear without over; it ramps up over that many impressions"
                           : "over; only a linear drift has it"};
  }
  if (is_seasonal != (drift.period > 0)) {
    return Error{is_seasonal ? "seasonal without period; say how many impressions a season has"
                             : "period; only a seasonal drift has it"};
  }
  if (is_seasonal && drift.period < 2) return Error{"period: 1; it is at least 2"};
  return {};
}

}  // namespace

std::string_view name_of(DriftOf of) { return kOf[static_cast<std::size_t>(of)]; }
std::string_view name_of(DriftPace pace) { return kPaces[static_cast<std::size_t>(pace)]; }
std::string_view name_of(LabelChange change) { return kChanges[static_cast<std::size_t>(change)]; }

Result<DriftOf> parse_drift_of(std::string_view name) { return parse<DriftOf>(kOf, name, "drift"); }
Result<DriftPace> parse_drift_pace(std::string_view name) {
  return parse<DriftPace>(kPaces, name, "pace");
}
Result<LabelChange> parse_label_change(std::string_view name) {
  return parse<LabelChange>(kChanges, name, "change");
}

double drift_weight(const Drift& drift, std::uint64_t impression) {
  if (impression < drift.at) return 0;
  const auto passed = static_cast<double>(impression - drift.at);
  switch (drift.pace) {
    case DriftPace::kLinear:
      return std::min(1.0, passed / static_cast<double>(drift.over));
    case DriftPace::kSeasonal: {
      // Whole seasons are left out first: the cosine of a large number is not the same everywhere.
      const auto part = static_cast<double>((impression - drift.at) % drift.period);
      return (1 - std::cos(2 * std::numbers::pi * part / static_cast<double>(drift.period))) / 2;
    }
    default:
      return 1;
  }
}

std::uint64_t settled_at(const Drift& drift) {
  return drift.at + drift.over + drift.period / 2;  // of the last two at most one is not 0
}

std::string to_text(const Drift& drift) {
  std::string text = fmt::format("{} at={}", name_of(drift.of), drift.at);
  if (drift.pace == DriftPace::kLinear) text += fmt::format(" over={}", drift.over);
  if (drift.pace == DriftPace::kSeasonal) text += fmt::format(" period={}", drift.period);
  if (drift.of == DriftOf::kLabels) text += fmt::format(" change={}", name_of(drift.change));
  if (drift.of == DriftOf::kUsers) text += fmt::format(" click-model={}", drift.click_model);
  if (!drift.dies.empty()) text += fmt::format(" dies={}", to_text(drift.dies));
  if (!drift.appears.empty()) text += fmt::format(" appears={}", to_text(drift.appears));
  if (drift.of == DriftOf::kQueries) text += fmt::format(" share={}", drift.share);
  return text;
}

std::string to_text(std::span<const Drift> drifts) {
  std::vector<std::string> texts;
  for (const Drift& drift : drifts) texts.push_back(to_text(drift));
  return fmt::format("{}", fmt::join(texts, "; "));
}

Result<void> check_drifts(std::span<const Drift> drifts, std::uint64_t impressions) {
  if (drifts.size() > kMaxDrifts) {
    return Error{fmt::format("drift: {} of them; expected at most {}", drifts.size(), kMaxDrifts)};
  }
  std::uint64_t before = 0;
  for (std::size_t number = 0; number < drifts.size(); ++number) {
    const Drift& drift = drifts[number];
    const std::string place = fmt::format("drift {}", number + 1);
    if (drift.at == 0 || drift.at >= impressions) {
      return Error{fmt::format("{}: at {}; a run of {} impressions has drifts at 1 to {}", place,
                               drift.at, impressions, impressions - 1)};
    }
    if (drift.at < before) {
      return Error{
          fmt::format("{}: at {}, before the drift above it, at {}; expected them in order", place,
                      drift.at, before)};
    }
    before = drift.at;
    if (auto valid = check_pace(drift); !valid) return valid.error().in(place);
    if (drift.over > impressions - drift.at) {
      return Error{fmt::format("{}: over {} from {} on; a run has {} impressions", place,
                               drift.over, drift.at, impressions)};
    }
    if (auto valid = check_change(drift); !valid) return valid.error().in(place);
    for (const Drift& other : drifts.first(number)) {
      if (other.of != DriftOf::kQueries || drift.of != DriftOf::kQueries) continue;
      if (other.share == drift.share) continue;
      return Error{
          fmt::format("{}: share {}; queries are divided once, and a drift above it has {}", place,
                      drift.share, other.share)};
    }
  }
  return {};
}

}  // namespace plackett
