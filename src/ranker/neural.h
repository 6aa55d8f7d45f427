// A fully connected network: hidden layers with one activation, and a linear output without
// bias.
#pragma once

#include <vector>

#include "base/aligned.h"
#include "base/kernels.h"
#include "plackett/ranker.h"
#include "plackett/rng.h"

namespace plackett {

enum class Initialisation : std::uint8_t;

class NeuralRanker final : public Ranker {
 public:
  // All parameters 0. Requires: hidden not empty, no layer of 0 units.
  NeuralRanker(std::uint32_t feature_count, std::span<const std::uint32_t> hidden,
               Activation activation);

  void initialise(Initialisation initialisation, Rng& rng);

  [[nodiscard]] std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<NeuralRanker>(*this);
  }
  [[nodiscard]] std::uint32_t feature_count() const override { return feature_count_; }
  void score(const FeatureView& docs, std::span<float> scores) override;
  void step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) override;

  // Layer by layer: the weights, input by input, then the biases; at the end the output's
  // weights.
  [[nodiscard]] std::size_t parameter_count() const override;
  void get_parameters(std::span<float> out) const override;
  void set_parameters(std::span<const float> parameters) override;

 private:
  // Everything padded to kLanes; paddings of weights, biases and activations stay 0.
  struct Layer {
    std::uint32_t inputs = 0;
    std::uint32_t units = 0;
    std::uint32_t padded_inputs = 0;
    std::uint32_t padded_units = 0;
    AlignedVector<float> weights;      // [padded input][padded unit]
    AlignedVector<float> biases;       // [padded unit]
    AlignedVector<float> activations;  // [row][padded unit], of the last forward pass
    AlignedVector<float> deltas;       // [row][padded unit], of the last backward pass
  };

  // Runs `row_count` rows through all hidden layers; the activations stay in the layers.
  void forward(RowsView inputs);

  // Calls visit(std::span<float>) for each run of parameters that lie side by side, in the
  // order of get_parameters().
  template <typename Self, typename Visitor>
  static void visit_parameters(Self& self, Visitor visit);

  std::uint32_t feature_count_;
  Activation activation_;
  std::vector<Layer> layers_;
  AlignedVector<float> output_;  // [padded unit of the last layer]
  AlignedVector<float> rows_;    // the stepped documents, gathered
};

}  // namespace plackett
