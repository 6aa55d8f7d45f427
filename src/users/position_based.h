// A user who examines each rank independently, lower ranks less often, and clicks examined
// documents by label (position-based model; Richardson et al., WWW 2007).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plackett/user.h"

namespace plackett {

class PositionBasedUser final : public User {
 public:
  struct Spec {
    std::string name;
    std::span<const double> click;  // if examined; one probability per label
    double eta = 1;                 // rank r, from 1, is examined with probability 1 / r^eta
  };

  // Copies what it needs. Requires: 1 <= click.size() <= kMaxLabel + 1; probabilities in
  // [0, 1]; eta finite and not negative.
  explicit PositionBasedUser(const Spec& spec);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::uint32_t grade_count() const override { return grade_count_; }
  void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
             std::span<std::uint8_t> clicks) const override;
  [[nodiscard]] double pattern_probability(std::span<const std::uint8_t> labels,
                                           std::span<const std::uint8_t> clicks) const override;
  [[nodiscard]] bool alike(std::uint8_t label, std::uint8_t other) const override;

 private:
  [[nodiscard]] double examined(std::size_t rank) const;

  std::vector<double> examined_scaled_;  // 2^32 / (rank + 1)^eta for the first ranks
  std::array<double, kMaxLabel + 1> click_{};
  double eta_;
  std::uint32_t grade_count_;
  std::string name_;
};

}  // namespace plackett
