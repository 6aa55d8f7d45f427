// What a query without a relevant document counts in an average over queries.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// The policies.
enum class NoRelevant : std::uint8_t {
  kSkip,  // it is left out
  kZero,  // it counts 0
  kOne,   // it counts 1: no order of its documents is better than another
};

// "skip", "zero", "one", in the order of the enum.
PLACKETT_EXPORT std::span<const std::string_view> no_relevant_names();
// "skip" and so on. Lasts for ever.
PLACKETT_EXPORT std::string_view name_of(NoRelevant policy);
// The policy of that name; the error lists all.
PLACKETT_EXPORT Result<NoRelevant> parse_no_relevant(std::string_view text);

// The mean over queries under a policy.
class QueryMean {
 public:
  // Of no query yet.
  explicit QueryMean(NoRelevant policy) : policy_(policy) {}

  // A query with a relevant document.
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  // A query without one.
  void add_without_relevant() {
    if (policy_ == NoRelevant::kSkip) return;
    add(policy_ == NoRelevant::kOne ? 1 : 0);
  }

  // Queries that count.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Over those; 0 where there are none.
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  NoRelevant policy_;
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace plackett
