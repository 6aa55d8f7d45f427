// A simulated user: looks at a ranking, knows the judgments, clicks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/judgments.h"
#include "plackett/rng.h"

namespace plackett {

// What a 32-bit draw decides about an examined document. [0, 2^32) is divided at these ends;
// click() reads from the top and stops with the first document that the user leaves at.
struct ClickEnds {
  std::uint64_t click_and_stop = 0;  // below it: a click, and the user leaves
  std::uint64_t click = 0;           // below it: a click
  std::uint64_t click_or_stop = 0;   // from `click` to below it: no click, and the user leaves
};

// Stateless: safe from any number of threads, each with its own Rng. Derive for a user of your own
// (SimulationSpec::user, ComparisonSpec::users).
class PLACKETT_EXPORT User {
 public:
  virtual ~User() = default;

  // "perfect"; for a user read from a file, the name that the file gives.
  [[nodiscard]] virtual std::string_view name() const = 0;

  // How many labels the user knows: 0 .. grade_count() - 1.
  [[nodiscard]] virtual std::uint32_t grade_count() const = 0;

  // Sets clicks[rank] to 1 if the shown document is clicked, otherwise 0. Requires:
  // clicks.size() == shown.size(); labels below grade_count(). Cost: at most one 32-bit draw per
  // document, no allocation.
  virtual void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
                     std::span<std::uint8_t> clicks) const = 0;

  // If each rank down to where the user leaves takes one draw: what that draw decides about a
  // document of that label. `below_click` is the rank below the last click, 0 if there was none.
  // Devices click by these (docs/gpu.md); a user that gives none is simulated on the processor.
  // Requires: label < grade_count(); below_click <= rank.
  [[nodiscard]] virtual std::optional<ClickEnds> ends(std::size_t /*rank*/,
                                                      std::size_t /*below_click*/,
                                                      std::uint8_t /*label*/) const {
    return {};
  }

  // The exact probability of `clicks` on a list whose labels, in shown order, are `labels`. Only
  // audits and tests call it; a user of your own may leave it at NaN.
  [[nodiscard]] virtual double pattern_probability(std::span<const std::uint8_t> /*labels*/,
                                                   std::span<const std::uint8_t> /*clicks*/) const {
    return std::numeric_limits<double>::quiet_NaN();
  }

  // Whether the user treats these two labels the same at every rank, so that no click can tell them
  // apart. Only audits call it.
  [[nodiscard]] virtual bool alike(std::uint8_t label, std::uint8_t other) const {
    return label == other;
  }

 protected:
  User() = default;
  User(const User&) = default;
  User& operator=(const User&) = default;
};

}  // namespace plackett
