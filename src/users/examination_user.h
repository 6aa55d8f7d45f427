// A user who examines each rank by chance, and clicks examined documents by label: a document at
// rank r is clicked with probability examined(r, last click) * clicked(r, label). Three click
// models are of that form: position-based (Richardson et al., WWW 2007), user browsing (Dupret &
// Piwowarski, SIGIR 2008) and trust bias (Agarwal et al., WWW 2019).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plackett/user.h"

namespace plackett {

class ExaminationUser final : public User {
 public:
  // Lists by rank begin at the top; their last value also holds for lower ranks.
  struct Spec {
    std::string name;
    std::span<const double> click;  // if examined; one probability per label
    double eta = 1;  // rank r, from 1, is examined with probability 1 / r^eta, unless by `examine`
    // The user browsing model's gamma, if not empty: r probabilities for each rank r = 1, 2, ... R,
    // one after another: that rank r is examined if the last click was 1, 2, ... r - 1 ranks above,
    // and if there was none. Lower ranks are examined as R is; for them a click more than R - 1
    // ranks above counts as R - 1 ranks above.
    std::span<const double> examine = {};
    // Trust bias, if not empty: by rank, how often a document is clicked if it is examined and
    // taken for relevant (with probability `click`), and if examined and taken for irrelevant.
    std::span<const double> relevant = {};    // empty: always
    std::span<const double> irrelevant = {};  // empty: never
  };

  // Copies what it needs. Requires: 1 <= click.size() <= kMaxLabel + 1; probabilities in
  // [0, 1]; eta finite and not negative; examine.size() = R (R + 1) / 2 for some R.
  explicit ExaminationUser(const Spec& spec);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::uint32_t grade_count() const override { return grade_count_; }
  void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
             std::span<std::uint8_t> clicks) const override;
  [[nodiscard]] std::optional<ClickEnds> ends(std::size_t rank, std::size_t below_click,
                                              std::uint8_t label) const override;
  [[nodiscard]] double pattern_probability(std::span<const std::uint8_t> labels,
                                           std::span<const std::uint8_t> clicks) const override;
  [[nodiscard]] bool alike(std::uint8_t label, std::uint8_t other) const override;

 private:
  // That the document at `rank` is clicked. `below_click` is the rank below the last click, 0 if
  // there was none.
  [[nodiscard]] double chance(std::size_t rank, std::size_t below_click, std::uint8_t label) const;

  double eta_;
  bool by_distance_;                // whether there is Spec::examine
  std::size_t examined_ranks_ = 0;  // that examined_ has values for
  std::vector<double> examined_;    // Spec::examine, or 1 / (rank + 1)^eta by rank
  std::size_t clicked_ranks_;       // that clicked_ has values for
  std::vector<double> clicked_;     // if examined; by rank and label
  std::uint32_t grade_count_;
  std::string name_;
};

}  // namespace plackett
