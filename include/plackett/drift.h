// Worlds that change while a method learns: the labels, the users, the features or the queries.
// What it means and how to read the results: docs/drift.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// What changes.
enum class DriftOf : std::uint8_t { kLabels, kUsers, kFeatures, kQueries };
// How fast.
enum class DriftPace : std::uint8_t { kAbrupt, kLinear, kSeasonal };
// How labels change.
enum class LabelChange : std::uint8_t {
  kIntents,   // the relevant documents are divided in two halves; one counts before, one after
  kReversed,  // label -> the dataset's largest label - label
};

// Features of a drift: by their ids in the source, or as a share that every run draws.
struct DriftedFeatures {
  std::vector<std::uint32_t> ids = {};  // none twice
  double share = 0;  // if there are no ids: of all features that the drift does not list

  // Whether there are none.
  [[nodiscard]] bool empty() const { return ids.empty() && share == 0; }
  bool operator==(const DriftedFeatures&) const = default;
};

// One change. It makes a new world of the one before it; w(t) is the probability that impression t,
// counted from 0, happens in the new one.
struct Drift {
  DriftOf of = DriftOf::kLabels;               // what changes
  std::uint64_t at = 0;                        // the first impression that may be in the new world
  DriftPace pace = DriftPace::kAbrupt;         // w: 1 from `at` on,
  std::uint64_t over = 0;                      // linear: (t - at) / over, at most 1,
  std::uint64_t period = 0;                    // or seasonal: (1 - cos(2 pi (t - at) / period)) / 2
  LabelChange change = LabelChange::kIntents;  // of labels
  std::string click_model = {};                // of users: the new one, as make_user takes it
  DriftedFeatures dies = {};                   // of features: these are 0 afterwards
  DriftedFeatures appears = {};                // of features: these are 0 before
  double share = 0.5;                          // of queries: those asked before; the others after

  bool operator==(const Drift&) const = default;
};

// More than any experiment needs.
inline constexpr std::size_t kMaxDrifts = 100;

// "labels": the name in spec files. Static storage.
PLACKETT_EXPORT std::string_view name_of(DriftOf of);
// "abrupt": likewise.
PLACKETT_EXPORT std::string_view name_of(DriftPace pace);
// "intents": likewise.
PLACKETT_EXPORT std::string_view name_of(LabelChange change);
// Fails on anything else; the error names what is known.
PLACKETT_EXPORT Result<DriftOf> parse_drift_of(std::string_view name);
// Likewise.
PLACKETT_EXPORT Result<DriftPace> parse_drift_pace(std::string_view name);
// Likewise.
PLACKETT_EXPORT Result<LabelChange> parse_label_change(std::string_view name);

// w(t) of one drift, from 0 to 1.
PLACKETT_EXPORT double drift_weight(const Drift& drift, std::uint64_t impression);

// The first impression at which the new world is complete; of a seasonal drift the first at which
// w is 1.
PLACKETT_EXPORT std::uint64_t settled_at(const Drift& drift);

// The same for the same drift alone: "labels at=50000 change=intents".
PLACKETT_EXPORT std::string to_text(const Drift& drift);
// Several are joined by "; ".
PLACKETT_EXPORT std::string to_text(std::span<const Drift> drifts);

// Finds what can't be, without data: drifts out of order or beyond the impressions, a pace without
// its length, values that belong to another kind of drift, click models that don't exist.
PLACKETT_EXPORT Result<void> check_drifts(std::span<const Drift> drifts, std::uint64_t impressions);

}  // namespace plackett
