// A simulated user: looks at a ranking, knows the judgments, clicks.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/judgments.h"
#include "plackett/rng.h"

namespace plackett {

// Looks and clicks. Stateless: safe from any number of threads, each with its own Rng. Derive for a
// user of your own (SimulationSpec::user, ComparisonSpec::users).
class PLACKETT_EXPORT User {
 public:
  virtual ~User() = default;

  // "perfect"; for a user read from a file, the name that the file gives.
  [[nodiscard]] virtual std::string_view name() const = 0;

  // How many labels the user knows: 0 .. grade_count() - 1.
  [[nodiscard]] virtual std::uint32_t grade_count() const = 0;

  // Sets clicks[rank] to 1 where the shown document is clicked, else 0. Requires:
  // clicks.size() == shown.size(); labels below grade_count(). Cost: at most one 32-bit draw a
  // document, no allocation.
  virtual void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
                     std::span<std::uint8_t> clicks) const = 0;

  // Probability that exactly `clicks` come from a list whose labels, in shown order, are
  // `labels`. Exact, by summing over what the user may have looked at; for audits and tests, no
  // experiment asks. NaN where the user doesn't say, as one of your own may leave it.
  [[nodiscard]] virtual double pattern_probability(std::span<const std::uint8_t> /*labels*/,
                                                   std::span<const std::uint8_t> /*clicks*/) const {
    return std::numeric_limits<double>::quiet_NaN();
  }

  // Whether documents of these two labels are one and the same to the user, wherever they
  // stand: no click can tell them apart. Likewise for audits alone.
  [[nodiscard]] virtual bool alike(std::uint8_t label, std::uint8_t other) const {
    return label == other;
  }

 protected:
  User() = default;
  User(const User&) = default;
  User& operator=(const User&) = default;
};

}  // namespace plackett
