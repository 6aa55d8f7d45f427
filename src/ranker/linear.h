// score = weights . features. The weights start at 0.
#pragma once

#include "base/aligned.h"
#include "plackett/ranker.h"

namespace plackett {

class LinearRanker final : public Ranker {
 public:
  explicit LinearRanker(std::uint32_t feature_count)
      : feature_count_(feature_count), weights_(padded_width(feature_count)) {}

  [[nodiscard]] std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<LinearRanker>(*this);
  }
  [[nodiscard]] std::uint32_t feature_count() const override { return feature_count_; }
  [[nodiscard]] bool is_linear() const override { return true; }
  void score(const FeatureView& docs, std::span<float> scores) override;
  void gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                std::span<float> out) override;
  // Adds the weighted rows to the weights directly.
  void step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) override;
  [[nodiscard]] std::size_t parameter_count() const override { return feature_count_; }
  // Padded with zeros to padded_width(feature_count()); valid as long as the ranker.
  [[nodiscard]] std::span<const float> padded_weights() const { return weights_; }
  void get_parameters(std::span<float> out) const override;
  void set_parameters(std::span<const float> parameters) override;

 private:
  // sums += rate * sum over w of w.weight * features of w.doc. Requires: `sums` padded.
  void add_weighted(const FeatureView& docs, std::span<const DocWeight> weights, float rate,
                    AlignedVector<float>& sums);

  std::uint32_t feature_count_;
  AlignedVector<float> weights_;  // padding stays 0, as the rows' padding is
  AlignedVector<float> gradient_;
  std::vector<const float*> rows_;
  std::vector<float> scales_;
};

}  // namespace plackett
