// How queries without a relevant document count in a mean over queries.
#pragma once

#include <cstdint>
#include <optional>
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
// The name that the policy is parsed from. Static storage.
PLACKETT_EXPORT std::string_view name_of(NoRelevant policy);
// The policy of that name; the error lists the known ones.
PLACKETT_EXPORT Result<NoRelevant> parse_no_relevant(std::string_view text);

// What a query without a relevant document counts; nothing if it is left out.
constexpr std::optional<double> value_without_relevant(NoRelevant policy) {
  if (policy == NoRelevant::kSkip) return std::nullopt;
  return policy == NoRelevant::kOne ? 1 : 0;
}

// The mean over queries under a policy.
class QueryMean {
 public:
  // Starts with no query.
  explicit QueryMean(NoRelevant policy) : policy_(policy) {}

  // Adds a query with a relevant document.
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  // Adds a query without one.
  void add_without_relevant() {
    if (const auto value = value_without_relevant(policy_)) add(*value);
  }

  // How many queries count.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // The mean over those; 0 if there are none.
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  NoRelevant policy_;
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace plackett
