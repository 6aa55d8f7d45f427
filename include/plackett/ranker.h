// A differentiable scoring function: features -> scores, and weighted sums of the scores'
// gradients -> a step of its parameters. Derive from Ranker to bring your own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "plackett/export.h"
#include "plackett/feature_view.h"
#include "plackett/index.h"

namespace plackett {

// A document and how strongly its score should rise (or, below 0, fall).
struct DocWeight {
  Doc doc{};         // one of the candidates
  float weight = 0;  // of its score's gradient
};

// Scores documents and is stepped. Owns its scratch, so it is for one thread at a time.
class PLACKETT_EXPORT Ranker {
 public:
  virtual ~Ranker() = default;
  Ranker& operator=(const Ranker&) = delete;
  Ranker& operator=(Ranker&&) = delete;

  // One of its own with the same parameters: the two share nothing.
  [[nodiscard]] virtual std::unique_ptr<Ranker> clone() const = 0;

  // Features of a document, the same for all.
  [[nodiscard]] virtual std::uint32_t feature_count() const = 0;

  // Writes every document's score. Requires: docs.feature_count() == feature_count() and
  // scores.size() == docs.doc_count(). Allocates only when it meets more documents than before.
  virtual void score(const FeatureView& docs, std::span<float> scores) = 0;

  // Whether scores are linear in the parameters: those under a sum of two are the sum of those
  // under each.
  [[nodiscard]] virtual bool is_linear() const { return false; }

  // How many of the parameters, the first ones, enter the score linearly: the gradient by them
  // does not depend on them or on the others.
  [[nodiscard]] virtual std::size_t linear_count() const {
    return is_linear() ? parameter_count() : 0;
  }

  // parameters += rate * sum over w in `weights` of w.weight * d score(w.doc) / d parameters,
  // the gradient taken at the parameters as they are now. Same requirements as score(); a doc
  // may appear once at most.
  virtual void step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) = 0;

  // How many numbers it learns. Never changes.
  [[nodiscard]] virtual std::size_t parameter_count() const = 0;
  // The parameters, flat, in the order of the model file. Requires: out.size() ==
  // parameter_count().
  virtual void get_parameters(std::span<float> out) const = 0;
  // Takes others, in that order. Requires: as many.
  virtual void set_parameters(std::span<const float> parameters) = 0;

 protected:
  Ranker() = default;
  Ranker(const Ranker&) = default;
  Ranker(Ranker&&) = default;
};

}  // namespace plackett
