// A differentiable scoring function: features -> scores, and the gradient of a weighted sum of
// scores. Derive from Ranker to bring your own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plackett/export.h"
#include "plackett/feature_view.h"
#include "plackett/index.h"

namespace plackett {

// A document and how strongly its score should rise (or, below 0, fall).
struct DocWeight {
  Doc doc{};         // one of the candidates
  float weight = 0;  // of its score's gradient
};

// Scores documents and gives the gradient. Owns its scratch: use it from one thread at a time.
class PLACKETT_EXPORT Ranker {
 public:
  virtual ~Ranker() = default;
  Ranker& operator=(const Ranker&) = delete;
  Ranker& operator=(Ranker&&) = delete;

  // A copy with the same parameters. The two share nothing.
  [[nodiscard]] virtual std::unique_ptr<Ranker> clone() const = 0;

  // Features per document.
  [[nodiscard]] virtual std::uint32_t feature_count() const = 0;

  // Writes every document's score. Requires: docs.feature_count() == feature_count() and
  // scores.size() == docs.doc_count(). Allocates only for more documents than ever before.
  virtual void score(const FeatureView& docs, std::span<float> scores) = 0;

  // Whether scores are linear in the parameters: the scores under the sum of two sets of parameters
  // are the sums of the scores under each.
  [[nodiscard]] virtual bool is_linear() const { return false; }

  // How many of the parameters enter the score linearly: the gradient with respect to them depends
  // on no parameter. They come first.
  [[nodiscard]] virtual std::size_t linear_count() const {
    return is_linear() ? parameter_count() : 0;
  }

  // out = sum over w in `weights` of w.weight * d score(w.doc) / d parameters, in the order of
  // get_parameters(). Leaves the parameters as they are. Requires: as score();
  // out.size() == parameter_count(); each doc at most once.
  virtual void gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                        std::span<float> out) = 0;

  // parameters += rate * gradient(docs, weights). Override it only to be faster.
  virtual void step(const FeatureView& docs, std::span<const DocWeight> weights, float rate);

  // Changes the parameters so that every score is what it was divided by `divisor`, up to rounding.
  // False, without a change, if the ranker does not know how: a ranker of your own that is not
  // linear, unless it overrides this. Requires: divisor finite and above 0.
  virtual bool divide_scores(double divisor);

  // How many numbers it learns. Never changes.
  [[nodiscard]] virtual std::size_t parameter_count() const = 0;
  // Writes the parameters in the order of the model file. Requires: out.size() ==
  // parameter_count().
  virtual void get_parameters(std::span<float> out) const = 0;
  // Replaces them, in the same order. Requires: parameters.size() == parameter_count().
  virtual void set_parameters(std::span<const float> parameters) = 0;

 protected:
  Ranker() = default;
  Ranker(const Ranker&) = default;
  Ranker(Ranker&&) = default;

 private:
  std::vector<float> parameters_;  // scratch of step() and divide_scores()
  std::vector<float> gradient_;
};

}  // namespace plackett
