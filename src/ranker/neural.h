// A fully connected network: hidden layers that share one activation, and a linear output without
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
  void gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                std::span<float> out) override;
  // Adds to the parameters in place.
  void step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) override;

  // Divides the output's weights.
  bool divide_scores(double divisor) override;

  // Layer by layer: the weights, input by input, then the biases; last the output's weights.
  [[nodiscard]] std::size_t parameter_count() const override;
  void get_parameters(std::span<float> out) const override;
  void set_parameters(std::span<const float> parameters) override;

 private:
  // Everything is padded to kLanes. Padding of parameters and activations stays 0.
  struct Layer {
    std::uint32_t inputs = 0;
    std::uint32_t units = 0;
    std::uint32_t padded_inputs = 0;
    std::uint32_t padded_units = 0;
    AlignedVector<float> activations;  // [row][padded unit], of the last forward pass
    AlignedVector<float> deltas;       // [row][padded unit], of the last backward pass
  };

  // One number per parameter: the parameters themselves, or a gradient.
  struct Numbers {
    struct OfLayer {
      AlignedVector<float> weights;  // [padded input][padded unit]
      AlignedVector<float> biases;   // [padded unit]
    };
    std::vector<OfLayer> layers;
    AlignedVector<float> output;  // [padded unit of the last layer]
  };

  // All 0.
  [[nodiscard]] Numbers zeros() const;

  // Runs the rows through all hidden layers; the activations stay in the layers.
  void forward(RowsView inputs);
  // Gathers the weighted documents' rows and runs them forward and back; the deltas stay in the
  // layers.
  void backward(const FeatureView& docs, std::span<const DocWeight> weights);
  // numbers += rate * the gradient, from what backward() left.
  void add_gradient(std::span<const DocWeight> weights, float rate, Numbers& numbers) const;

  // Calls visit(std::span<float>) for each contiguous run of parameters, in the order of
  // get_parameters().
  template <typename SomeNumbers, typename Visitor>
  void visit_runs(SomeNumbers& numbers, Visitor visit) const;

  std::uint32_t feature_count_;
  Activation activation_;
  std::vector<Layer> layers_;
  Numbers parameters_;
  Numbers gradient_;           // scratch of gradient(); empty before the first
  AlignedVector<float> rows_;  // the weighted documents, gathered
};

}  // namespace plackett
