// Dueling Bandit Gradient Descent (Yue & Joachims, ICML 2009) and its multileaved form with many
// candidates (Schuth et al., WSDM 2016), for any ranker. Each impression draws directions from
// the unit sphere; a candidate is the current ranker moved along one. Their rankings are shown as
// one list, and the clicks decide which candidates beat the current ranker: it moves towards their
// mean.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "learner/candidates.h"
#include "learner/document_span.h"
#include "learner/last_list.h"
#include "plackett/learner.h"
#include "sampling/multileaving.h"

namespace plackett {

struct DuelingBanditOptions {
  std::string_view method = "dbgd";  // in its state; must outlive the learner
  std::uint32_t candidates = 1;      // at least 1
  double learning_rate = 0.01;       // eta: the fraction of the way to the winners' mean
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k
  // Whether the step towards the winners' mean is projected onto the span of the documents that
  // users examined, those of this list and the last before it, and gets the length 1 x eta (Wang,
  // Kim, McCord-Snook, Wu & Wang, SIGIR 2019). For a linear ranker.
  bool projected = false;
  std::uint32_t further = 3;  // documents that count as examined below the last click
};

class DuelingBandit final : public Learner {
 public:
  DuelingBandit(std::unique_ptr<Ranker> ranker, std::unique_ptr<Multileaving> multileaving,
                const DuelingBanditOptions& options);

  // The ranking's scores are the current ranker's. Its `rest` is empty: the list is not drawn from
  // a Plackett-Luce distribution.
  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;

  // Ignores clicks on any ranking but the last, whose candidates alone are known.
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  // If projected, the memory is the last kRemembered documents that were examined, oldest first;
  // zeros where there were fewer.
  [[nodiscard]] LearnerState state() const override { return state_; }
  void restore(const LearnerState& state) override;
  [[nodiscard]] const DuelingBanditOptions& options() const { return options_; }
  [[nodiscard]] const Multileaving& multileaving() const { return *multileaving_; }

  static constexpr std::uint32_t kRemembered = 10;

 private:
  // parameters_ += the learning rate * the unit vector of direction_'s projection.
  void add_projected(const FeatureView& docs, std::span<const Doc> examined);
  void remember(const FeatureView& docs, std::span<const Doc> examined);

  std::unique_ptr<Ranker> ranker_;
  std::unique_ptr<Multileaving> multileaving_;
  DuelingBanditOptions options_;
  LearnerState state_;

  Candidates candidates_;
  std::vector<float> parameters_;
  DocumentSpan span_;
  AlignedVector<float> direction_;  // of the step, padded
  ScoreTable scores_;
  LastList last_;
};

}  // namespace plackett
