// A simulated user: looks at a ranking, knows the judgments, clicks.
#pragma once

#include <cstdint>
#include <span>

#include "base/index.h"
#include "base/rng.h"
#include "dataset/judgments.h"

namespace plackett {

// Stateless: safe from any number of threads, each with its own Rng.
class User {
 public:
  virtual ~User() = default;

  // Sets clicks[rank] to 1 where the shown document is clicked, else 0. Requires:
  // clicks.size() == shown.size(). No allocation.
  virtual void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
                     std::span<std::uint8_t> clicks) const = 0;

  // Probability that exactly `clicks` come from a list whose labels, in shown order, are
  // `labels`. Exact, by summing over what the user may have looked at; for audits and tests.
  [[nodiscard]] virtual double pattern_probability(std::span<const std::uint8_t> labels,
                                                   std::span<const std::uint8_t> clicks) const = 0;

 protected:
  User() = default;
  User(const User&) = default;
  User& operator=(const User&) = default;
};

}  // namespace plackett
