#include "ranker/neural.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/portable_activation.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

void grow(AlignedVector<float>& values, std::size_t size) {
  if (values.size() < size) values.resize(size);
}

}  // namespace

NeuralRanker::NeuralRanker(std::uint32_t feature_count, std::span<const std::uint32_t> hidden,
                           Activation activation)
    : feature_count_(feature_count), activation_(activation) {
  assert(!hidden.empty());
  std::uint32_t inputs = feature_count;
  for (const std::uint32_t units : hidden) {
    Layer layer;
    layer.inputs = inputs;
    layer.units = units;
    layer.padded_inputs = padded_width(inputs);
    layer.padded_units = padded_width(units);
    layers_.push_back(std::move(layer));
    inputs = units;
  }
  parameters_ = zeros();
}

NeuralRanker::Numbers NeuralRanker::zeros() const {
  Numbers numbers;
  for (const Layer& layer : layers_) {
    numbers.layers.push_back(
        {AlignedVector<float>(std::size_t{layer.padded_inputs} * layer.padded_units),
         AlignedVector<float>(layer.padded_units)});
  }
  numbers.output.resize(layers_.back().padded_units);
  return numbers;
}

void NeuralRanker::initialise(Initialisation initialisation, Rng& rng) {
  const auto fill = [&](std::span<float> values, std::uint32_t fan_in, std::uint32_t fan_out) {
    for (float& value : values) {
      if (initialisation == Initialisation::kPublished) {
        value = static_cast<float>(rng.normal() / fan_in);
      } else {
        const double bound = std::sqrt(6.0 / (double{1} * fan_in + fan_out));
        value = static_cast<float>((2.0 * rng.uniform() - 1.0) * bound);
      }
    }
  };
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    const Layer& layer = layers_[at];
    auto& [weights, biases] = parameters_.layers[at];
    for (std::uint32_t input = 0; input < layer.inputs; ++input) {
      fill({weights.data() + std::size_t{input} * layer.padded_units, layer.units}, layer.inputs,
           layer.units);
    }
    if (initialisation == Initialisation::kPublished) {
      fill({biases.data(), layer.units}, layer.inputs, layer.units);
    } else {
      std::fill(biases.begin(), biases.end(), 0.0F);
    }
  }
  AlignedVector<float>& output = parameters_.output;
  fill({output.data(), layers_.back().units}, layers_.back().units, 1);
  if (initialisation == Initialisation::kSilent) std::fill(output.begin(), output.end(), 0.0F);
}

void NeuralRanker::forward(RowsView inputs) {
  const std::size_t row_count = inputs.count;
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    Layer& layer = layers_[at];
    const auto& [weights, biases] = parameters_.layers[at];
    const std::size_t size = row_count * layer.padded_units;
    grow(layer.activations, size);
    kernels().multiply(inputs, weights.data(), layer.padded_units, biases.data(),
                       layer.activations.data());
    kernels().activate(activation_, layer.activations.data(), size);
    if (layer.units != layer.padded_units) {
      for (std::size_t row = 0; row < row_count; ++row) {
        float* end = layer.activations.data() + (row + 1) * layer.padded_units;
        std::fill(end - (layer.padded_units - layer.units), end, 0.0F);
      }
    }
    inputs = {layer.activations.data(), row_count, layer.padded_units, layer.padded_units};
  }
}

void NeuralRanker::score(const FeatureView& docs, std::span<float> scores) {
  assert(docs.feature_count() == feature_count_ && scores.size() == docs.doc_count());
  forward({docs.data(), docs.doc_count(), docs.stride(), docs.feature_count()});
  const Layer& last = layers_.back();
  kernels().dot_rows(
      {last.activations.data(), docs.doc_count(), last.padded_units, last.padded_units},
      parameters_.output.data(), scores.data());
}

void NeuralRanker::backward(const FeatureView& docs, std::span<const DocWeight> weights) {
  assert(docs.feature_count() == feature_count_);
  const std::size_t count = weights.size();
  const std::uint32_t stride = layers_.front().padded_inputs;
  grow(rows_, count * stride);
  for (std::size_t row = 0; row < count; ++row) {
    const auto source = docs.row(weights[row].doc);
    float* target = rows_.data() + row * stride;
    std::fill(std::copy(source.begin(), source.end(), target), target + stride, 0.0F);
  }
  forward({rows_.data(), count, stride, stride});

  Layer& last = layers_.back();
  grow(last.deltas, count * last.padded_units);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::uint32_t unit = 0; unit < last.padded_units; ++unit) {
      const std::size_t at = row * last.padded_units + unit;
      last.deltas[at] = weights[row].weight * parameters_.output[unit] *
                        activation_slope(activation_, last.activations[at]);
    }
  }
  for (std::size_t above = layers_.size() - 1; above > 0; --above) {
    const Layer& upper = layers_[above];
    Layer& lower = layers_[above - 1];
    grow(lower.deltas, count * lower.padded_units);
    for (std::size_t row = 0; row < count; ++row) {
      float* deltas = lower.deltas.data() + row * lower.padded_units;
      kernels().dot_rows({parameters_.layers[above].weights.data(), upper.padded_inputs,
                          upper.padded_units, upper.padded_units},
                         upper.deltas.data() + row * upper.padded_units, deltas);
      const float* activations = lower.activations.data() + row * lower.padded_units;
      for (std::uint32_t unit = 0; unit < lower.padded_units; ++unit) {
        deltas[unit] *= activation_slope(activation_, activations[unit]);
      }
    }
  }
}

void NeuralRanker::add_gradient(std::span<const DocWeight> weights, float rate,
                                Numbers& numbers) const {
  const Layer& last = layers_.back();
  for (std::size_t row = 0; row < weights.size(); ++row) {
    const float* activations = last.activations.data() + row * last.padded_units;
    const float scale = rate * weights[row].weight;
    kernels().add_scaled_rows(&activations, &scale, 1, last.padded_units, numbers.output.data());
  }
  const float* inputs = rows_.data();
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    const Layer& layer = layers_[at];
    auto& [layer_weights, biases] = numbers.layers[at];
    kernels().add_outer(inputs, layer.deltas.data(), weights.size(), layer.padded_inputs,
                        layer.padded_units, rate, layer_weights.data());
    for (std::size_t row = 0; row < weights.size(); ++row) {
      const float* deltas = layer.deltas.data() + row * layer.padded_units;
      kernels().add_scaled_rows(&deltas, &rate, 1, layer.padded_units, biases.data());
    }
    inputs = layer.activations.data();
  }
}

void NeuralRanker::step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) {
  backward(docs, weights);
  add_gradient(weights, rate, parameters_);
}

void NeuralRanker::gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                            std::span<float> out) {
  assert(out.size() == parameter_count());
  if (gradient_.layers.empty()) gradient_ = zeros();
  for (auto& layer : gradient_.layers) {
    std::fill(layer.weights.begin(), layer.weights.end(), 0.0F);
    std::fill(layer.biases.begin(), layer.biases.end(), 0.0F);
  }
  std::fill(gradient_.output.begin(), gradient_.output.end(), 0.0F);
  backward(docs, weights);
  add_gradient(weights, 1.0F, gradient_);
  auto target = out.begin();
  visit_runs(gradient_, [&](auto run) { target = std::copy(run.begin(), run.end(), target); });
}

bool NeuralRanker::divide_scores(double divisor) {
  for (float& weight : parameters_.output) weight = static_cast<float>(weight / divisor);
  return true;
}

template <typename SomeNumbers, typename Visitor>
void NeuralRanker::visit_runs(SomeNumbers& numbers, Visitor visit) const {
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    const Layer& layer = layers_[at];
    auto& [weights, biases] = numbers.layers[at];
    for (std::uint32_t input = 0; input < layer.inputs; ++input) {
      visit(std::span(weights.data() + std::size_t{input} * layer.padded_units, layer.units));
    }
    visit(std::span(biases.data(), layer.units));
  }
  visit(std::span(numbers.output.data(), layers_.back().units));
}

std::size_t NeuralRanker::parameter_count() const {
  std::size_t count = 0;
  visit_runs(parameters_, [&count](auto run) { count += run.size(); });
  return count;
}

void NeuralRanker::get_parameters(std::span<float> out) const {
  assert(out.size() == parameter_count());
  auto target = out.begin();
  visit_runs(parameters_, [&](auto run) { target = std::copy(run.begin(), run.end(), target); });
}

void NeuralRanker::set_parameters(std::span<const float> parameters) {
  assert(parameters.size() == parameter_count());
  auto source = parameters.begin();
  visit_runs(parameters_, [&](auto run) {
    std::copy_n(source, run.size(), run.begin());
    source += static_cast<std::ptrdiff_t>(run.size());
  });
}

}  // namespace plackett
