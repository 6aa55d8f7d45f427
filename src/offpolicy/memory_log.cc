#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/attempt.h"
#include "plackett/logged_list.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

constexpr std::size_t kPartSize = 1024;  // lists

// What is wrong with the list; empty if nothing is.
std::string fault_of(const LoggedList& list, std::uint32_t feature_count) {
  const std::size_t ranks = list.pinned.size();
  const std::uint32_t docs = list.docs.doc_count();
  if (list.docs.feature_count() != feature_count) {
    return fmt::format("{} features; expected {}", list.docs.feature_count(), feature_count);
  }
  if (ranks == 0) return "no rank was shown";
  if (list.clicked.size() != ranks || list.rewards.size() != ranks) {
    return fmt::format("{} ranks, {} clicks and {} rewards; expected one per rank", ranks,
                       list.clicked.size(), list.rewards.size());
  }
  if (list.sampled() > docs || (!list.kept && list.sampled() != docs)) {
    return fmt::format("{} sampled ranks and {} candidates", list.sampled(), docs);
  }
  if (list.scores.size() != docs) {
    return fmt::format("{} scores; expected one per candidate, {}", list.scores.size(), docs);
  }
  if (!list.ids.empty() && list.ids.size() != docs) {
    return fmt::format("{} ids; expected one per candidate, {}", list.ids.size(), docs);
  }
  if (!all_finite(list.scores)) return "a score is not finite";
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    if (!all_finite(list.docs.row(Doc{doc}))) return "a feature is not finite";
  }
  for (const double reward : list.rewards) {
    if (!std::isfinite(reward)) return "a reward is not finite";
  }
  if (!(list.keep > 0 && list.keep <= 1)) {
    return fmt::format("keep {}; expected a probability above 0", list.keep);
  }
  return {};
}

}  // namespace

Result<void> MemoryLog::add(const LoggedList& list) {
  if (const std::string fault = fault_of(list, feature_count_); !fault.empty()) {
    return Error{fmt::format("list {}: {}", lists_.size(), fault)};
  }
  Kept kept{.name = std::string(list.name),
            .unit = list.unit,
            .scores = {list.scores.begin(), list.scores.end()},
            .pinned = {list.pinned.begin(), list.pinned.end()},
            .clicked = {list.clicked.begin(), list.clicked.end()},
            .rewards = {list.rewards.begin(), list.rewards.end()},
            .keep = list.keep,
            .kept = list.kept};
  for (const std::string_view id : list.ids) kept.ids.emplace_back(id);
  kept.rows.reserve(std::size_t{list.docs.doc_count()} * feature_count_);
  for (std::uint32_t doc = 0; doc < list.docs.doc_count(); ++doc) {
    const auto row = list.docs.row(Doc{doc});
    kept.rows.insert(kept.rows.end(), row.begin(), row.end());
  }
  lists_.push_back(std::move(kept));
  return {};
}

Result<std::unique_ptr<MemoryLog>> MemoryLog::copy_if_small(LoggedLists& lists,
                                                            std::size_t most_bytes) {
  return attempt([&]() -> std::unique_ptr<MemoryLog> {
    auto copy = std::make_unique<MemoryLog>(lists.feature_count());
    std::size_t bytes = 0;
    for (std::size_t part = 0; part < lists.parts() && bytes <= most_bytes; ++part) {
      take(lists.each(part, ListNeed::kAll, [&](const LoggedList& list) {
        bytes += std::size_t{list.docs.doc_count()} * lists.feature_count() * sizeof(float);
        if (bytes <= most_bytes) take(copy->add(list));
      }));
    }
    return bytes <= most_bytes ? std::move(copy) : nullptr;
  });
}

std::size_t MemoryLog::parts() const { return (lists_.size() + kPartSize - 1) / kPartSize; }

Result<void> MemoryLog::each(std::size_t part, ListNeed /*need*/,
                             const std::function<void(const LoggedList&)>& use) {
  const std::size_t end = std::min(lists_.size(), (part + 1) * kPartSize);
  std::vector<std::string_view> ids;
  for (std::size_t at = part * kPartSize; at < end; ++at) {
    const Kept& kept = lists_[at];
    ids.assign(kept.ids.begin(), kept.ids.end());
    use({.name = kept.name,
         .unit = kept.unit,
         .docs = FeatureView::of(kept.rows.data(), static_cast<std::uint32_t>(kept.scores.size()),
                                 feature_count_, feature_count_),
         .ids = ids,
         .scores = kept.scores,
         .pinned = kept.pinned,
         .clicked = kept.clicked,
         .rewards = kept.rewards,
         .keep = kept.keep,
         .kept = kept.kept});
  }
  return {};
}

}  // namespace plackett
