// A user who reads from the top down, clicks by label, and may stop (Guo et al., WSDM 2009): with a
// probability that depends on the label (cascade click model), or, after a click, on the rank
// (dependent click model).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plackett/export.h"
#include "plackett/user.h"

namespace plackett {

// When a cascade user may leave. The paper's text describes the first; its numbers were made
// with the second, whose stop probability is the same whether or not there was a click.
enum class StopRule : std::uint8_t {
  kAfterClick,        // only after a click
  kAfterAnyDocument,  // after any examined document
};

// One 32-bit draw per examined document decides both click and stop: [0, 2^32) is divided into
// click and stop, click and continue, stop without a click, continue without a click. Probabilities
// are exact to within 2^-33.
class PLACKETT_EXPORT CascadeUser final : public User {
 public:
  // What makes one. Plain data; the spans are borrowed until the constructor returns.
  struct Spec {
    std::string name = {};                       // what name() says
    std::span<const double> click = {};          // one probability per label
    std::span<const double> stop = {};           // likewise
    StopRule stop_rule = StopRule::kAfterClick;  // when `stop` applies
    // Dependent click model, if not empty: instead of `stop`, the probability of reading on after a
    // click, one per rank; the last one also holds for lower ranks.
    std::span<const double> go_on = {};
  };

  // Copies what it needs. Requires: 1 <= click.size() <= kMaxLabel + 1; stop.size() ==
  // click.size(), or there is go_on; all probabilities in [0, 1].
  explicit CascadeUser(const Spec& spec);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::uint32_t grade_count() const override { return grade_count_; }
  void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
             std::span<std::uint8_t> clicks) const override;
  [[nodiscard]] std::optional<ClickEnds> ends(std::size_t rank, std::size_t /*below_click*/,
                                              std::uint8_t label) const override {
    return ends_[at(rank, label)];
  }
  [[nodiscard]] double pattern_probability(std::span<const std::uint8_t> labels,
                                           std::span<const std::uint8_t> clicks) const override;
  [[nodiscard]] bool alike(std::uint8_t label, std::uint8_t other) const override;

 private:
  // Probabilities of the four outcomes of an examined document.
  struct Outcomes {
    double click_stop = 0;
    double click_go = 0;
    double skip_stop = 0;
    double skip_go = 1;

    bool operator==(const Outcomes&) const = default;
  };

  // Of a document of that label at that rank in ends_ and outcomes_.
  [[nodiscard]] std::size_t at(std::size_t rank, std::uint8_t label) const {
    assert(label < grade_count_);
    return std::min(rank, last_rank_) * grade_count_ + label;
  }

  std::vector<ClickEnds> ends_;
  std::vector<Outcomes> outcomes_;
  std::size_t last_rank_ = 0;  // lower ranks are as this one
  std::uint32_t grade_count_ = 0;
  std::string name_;
};

}  // namespace plackett
