// The generator of synthetic data: a document's features and its label come from a few hidden
// factors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataset/build_fold.h"
#include "plackett/rng.h"
#include "plackett/synthetic.h"

namespace plackett {

inline constexpr std::uint32_t kFactors = 8;
using Factors = std::array<double, kFactors>;

// How relevant a document with these factors is, before noise: partly linear, partly sweet
// spots, an interaction and a threshold. Factors are in [0, 1].
double synthetic_relevance(const Factors& factors);

// Immutable after construction; safe from any number of threads.
class SyntheticModel {
 public:
  // Requires: options valid (make_synthetic checks them).
  explicit SyntheticModel(const SyntheticOptions& options);

  [[nodiscard]] std::uint32_t feature_count() const {
    return static_cast<std::uint32_t>(features_.size());
  }
  // How many features are not constant by design.
  [[nodiscard]] std::uint32_t varying_count() const {
    return options_.features - options_.constant_features;
  }
  [[nodiscard]] std::uint32_t doc_count(std::uint64_t query) const;

  // The documents of one query, drawn again at each call.
  void fill(std::uint64_t query, const ColumnMap& columns, const RawSplit::Target& target) const;

  // All features, rows one after another, and the labels of one query's documents.
  struct Documents {
    std::vector<float> rows;
    std::vector<std::uint8_t> labels;
  };
  [[nodiscard]] Documents documents(std::uint64_t query) const;

 private:
  enum class Shape : std::uint8_t { kConstant, kNoise, kLinear, kHeavyTail, kCount, kSwitch };
  struct Feature {
    Shape shape = Shape::kConstant;
    std::uint32_t main_factor = 0;
    std::uint32_t side_factor = 0;
    double side_weight = 0;
    double noise = 0;
    double scale = 1;         // of the raw values: features differ by orders of magnitude
    double query_effect = 0;  // how far a query shifts all its documents
  };

  [[nodiscard]] Rng stream(std::uint32_t run, std::uint64_t number) const;
  static double raw_value(const Feature& feature, const Factors& factors, double query_level,
                          Rng& rng);
  void draw_features();
  void draw_thresholds();

  SyntheticOptions options_;
  std::vector<Feature> features_;
  std::vector<double> thresholds_;  // a label is how many of these the relevance exceeds
};

}  // namespace plackett
