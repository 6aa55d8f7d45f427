// Lists that were shown, with the probabilities they were shown with and what became of them: what
// off-policy evaluation and learning read (off_policy.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/export.h"
#include "plackett/feature_view.h"
#include "plackett/result.h"

namespace plackett {

// A list that was sampled from a Plackett-Luce distribution and shown. Views only.
struct LoggedList {
  std::string_view name = {};  // that its owner knows it by; may be empty
  std::uint64_t unit = 0;      // lists of the same unit may depend on each other
  // The candidates: those that were sampled and shown, in that order; then, if `kept`, all others
  // that were sampled from. As the policies read them, so scaled, if they read scaled ones.
  FeatureView docs = {};
  std::span<const std::string_view> ids = {};  // of the candidates; may be empty
  std::span<const float> scores = {};  // that the list was sampled by; one per candidate, finite
  std::span<const std::uint8_t> pinned = {};   // per rank: the item's place was fixed
  std::span<const std::uint8_t> clicked = {};  // per rank
  std::span<const double> rewards = {};        // per rank: of all events, by their weights
  // With which probability, drawn apart from everything else, the other candidates were kept. 1 if
  // there are none.
  double keep = 1;
  bool kept = true;  // whether they were; true if there are none

  // How many ranks were sampled: all but the pinned ones.
  [[nodiscard]] std::uint32_t sampled() const {
    std::uint32_t count = 0;
    for (const std::uint8_t fixed : pinned) count += fixed == 0 ? 1U : 0U;
    return count;
  }
};

// What a reader of a log needs of each list.
enum class ListNeed : std::uint8_t {
  kShown,  // candidates that were not shown may be absent, whatever `kept` says
  kAll,
};

// A log, divided into parts that can be read at once. Which lists are in which part, and their
// order, depends on the log alone.
class PLACKETT_EXPORT LoggedLists {
 public:
  LoggedLists() = default;
  LoggedLists(const LoggedLists&) = delete;
  LoggedLists& operator=(const LoggedLists&) = delete;
  virtual ~LoggedLists() = default;

  // Features per candidate.
  [[nodiscard]] virtual std::uint32_t feature_count() const = 0;
  // How many parts.
  [[nodiscard]] virtual std::size_t parts() const = 0;
  // Calls `use` for each list of a part, in order; the list is valid during the call. Called from
  // several threads, each with another part.
  virtual Result<void> each(std::size_t part, ListNeed need,
                            const std::function<void(const LoggedList&)>& use) = 0;
  // Why each() gave no list, after all parts were read; empty if nothing more is known.
  [[nodiscard]] virtual std::string why_none() const { return ""; }
};

// Lists in memory: copies of what was added.
class PLACKETT_EXPORT MemoryLog final : public LoggedLists {
 public:
  // Without a list. Candidates have this many features.
  explicit MemoryLog(std::uint32_t feature_count) : feature_count_(feature_count) {}

  // Adds a list. Fails, and adds nothing, if its parts don't fit each other, a number is not
  // finite, or `keep` is not above 0 and at most 1.
  Result<void> add(const LoggedList& list);

  // A copy of all lists of a log, for those who read it many times; null if their features have
  // more than `most_bytes`.
  static Result<std::unique_ptr<MemoryLog>> copy_if_small(LoggedLists& lists,
                                                          std::size_t most_bytes = std::size_t{2}
                                                                                   << 30);

  // Number of lists.
  [[nodiscard]] std::size_t size() const { return lists_.size(); }
  // As LoggedLists says.
  [[nodiscard]] std::uint32_t feature_count() const override { return feature_count_; }
  // As LoggedLists says.
  [[nodiscard]] std::size_t parts() const override;
  // As LoggedLists says.
  Result<void> each(std::size_t part, ListNeed need,
                    const std::function<void(const LoggedList&)>& use) override;

 private:
  struct Kept {
    std::string name{};
    std::uint64_t unit = 0;
    std::vector<float> rows{};
    std::vector<std::string> ids{};
    std::vector<float> scores{};
    std::vector<std::uint8_t> pinned{};
    std::vector<std::uint8_t> clicked{};
    std::vector<double> rewards{};
    double keep = 1;
    bool kept = true;
  };

  std::uint32_t feature_count_;
  std::vector<Kept> lists_;
};

}  // namespace plackett
