// What one list says about the value of another policy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "offpolicy/list_chances.h"
#include "offpolicy/place_chances.h"
#include "plackett/off_policy.h"

namespace plackett {

// The list as if only its first ranks had been shown, if `ranks` is not 0: what was below them was
// a candidate.
LoggedList first_ranks(const LoggedList& list, std::uint32_t ranks);

// How many of its first ranks were sampled.
std::uint32_t sampled_in(const LoggedList& list, std::size_t ranks);

// The discount of a rank, from 0, in a metric.
double rank_discount(ValueMetric metric, std::size_t rank);
// What each rank was worth.
void list_gains(const LoggedList& list, ValueMetric metric, std::vector<double>& gains);

// What the doubly robust estimate expects. Any numbers keep it unbiased that don't depend on what
// was clicked in the list.
struct GainModel {
  // A document at a rank: base[rank] + factor[rank] * values[doc].
  std::span<const double> base;
  std::span<const double> factor;
  std::span<const double> values;
  std::span<const double> later;  // what the ranks below a rank are worth
};

// All of one list; expectations over logged lists are values of the policy under each estimator's
// assumption. Reuses its memory.
class ListValue {
 public:
  // Requires: list.kept; it and `choice` stay as they are while the other calls are made.
  void set(const LoggedList& list, const PolicyChoice& choice, std::span<const double> gains);

  [[nodiscard]] std::span<const double> weights() const { return weights_; }  // W_k by rank
  // sum_k W_k g_k.
  [[nodiscard]] double prefix_ips() const;
  // sum_k W_k (g_k - q_k(y_k) - f_k) + W_(k-1) (E q_k + f_k), with q_k of the model, its
  // expectation over the policy's choice at k, and f_k the later ranks' worth; pinned ranks W_k
  // g_k.
  [[nodiscard]] double doubly_robust(const GainModel& model);
  // value: the sum over clicked items of their discounted exposure under the policy over that under
  // the logged one. weight: the same ratios of all shown items, weighted by examination; its
  // expectation is 1. Ranks below those of `examination` count as they were, and nowhere else.
  // `discounts` by rank, `examination` of the first ranks. `logged`: of the logged scores, for as
  // many places as are sampled in these.
  struct Exposure {
    double value = 0;
    double weight = 1;
    double most = 0;           // the value if every rank had been clicked
    double largest_ratio = 0;  // of exposures
  };
  [[nodiscard]] Exposure exposure(std::span<const double> discounts,
                                  std::span<const double> examination, const PlaceChances& logged);

 private:
  const LoggedList* list_ = nullptr;
  const PolicyChoice* choice_ = nullptr;
  std::span<const double> gains_;
  PrefixWeights prefix_;
  std::vector<double> weights_;
  std::vector<double> means_;
  PlaceChances places_;
};

}  // namespace plackett
