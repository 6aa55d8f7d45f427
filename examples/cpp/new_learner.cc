// A learner of your own, beside PDGD: REINFORCE (Williams, 1992) on the Plackett-Luce policy. A
// ranking's reward is its clicks, discounted by rank; the step is the gradient of log P(ranking)
// times how much better than usual the reward was. No preferences between documents are inferred:
// the comparison shows what inferring them is worth.
#include <plackett/plackett.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

class Reinforce final : public plackett::Learner {
 public:
  Reinforce(std::unique_ptr<plackett::Ranker> ranker, const plackett::MethodRules& rules,
            double learning_rate)
      : ranker_(std::move(ranker)),
        rules_(rules),
        state_{.method = "reinforce", .learning_rate = learning_rate, .memory = {0.0F}} {}

  // Samples from the scores. Draws from `rng` alone, so that a run is a function of its seed.
  bool rank(const plackett::FeatureView& docs, plackett::Rng& rng,
            plackett::Ranking& ranking) override {
    scores_.resize(docs.doc_count());
    ranker_->score(docs, scores_);
    if (!std::all_of(scores_.begin(), scores_.end(), [](float s) { return std::isfinite(s); })) {
      return false;
    }
    ranking.shown.resize(std::min(rules_.shown, docs.doc_count()));
    ranking.rest = plackett::sample_ranking(scores_, rng, sampling_, ranking.shown);
    ranking.scores.clear();
    for (const plackett::Doc doc : ranking.shown) ranking.scores.push_back(scores_[index(doc)]);
    return true;
  }

  void learn(const plackett::FeatureView& docs, const plackett::Ranking& ranking,
             std::span<const std::uint8_t> clicks) override {
    double reward = 0;
    for (std::uint32_t rank = 0; rank < clicks.size(); ++rank) {
      reward += clicks[rank] * plackett::rank_discount(rank);
    }
    float& usual = state_.memory[0];
    const double advantage = reward - double{usual};
    usual += 0.01F * static_cast<float>(advantage);

    // d log P / d score(doc): 1 if it was shown, minus, for each rank at which it was still free,
    // the probability that it would have been placed there. Uses the current scores.
    scores_.resize(docs.doc_count());
    ranker_->score(docs, scores_);
    const double highest = *std::max_element(scores_.begin(), scores_.end());
    masses_.clear();
    for (const float score : scores_) masses_.push_back(std::exp(score - highest));
    placed_.assign(scores_.size(), false);
    for (const plackett::Doc doc : ranking.shown) placed_[index(doc)] = true;
    double free_mass = 1e-300;
    for (std::size_t doc = 0; doc < masses_.size(); ++doc) {
      if (!placed_[doc]) free_mass += masses_[doc];
    }
    free_masses_.resize(ranking.shown.size());
    for (std::size_t rank = ranking.shown.size(); rank-- > 0;) {  // upwards: no cancellation
      free_mass += masses_[index(ranking.shown[rank])];
      free_masses_[rank] = free_mass;
    }
    weights_.clear();
    double inverses = 0;
    const auto add = [&](plackett::Doc doc, double shown) {
      const double slope = shown - masses_[index(doc)] * inverses;
      weights_.push_back({doc, static_cast<float>(advantage * slope)});
    };
    for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
      inverses += 1 / free_masses_[rank];
      add(ranking.shown[rank], 1);
    }
    for (std::uint32_t doc = 0; doc < scores_.size(); ++doc) {
      if (!placed_[doc]) add(plackett::Doc{doc}, 0);
    }
    ranker_->step(docs, weights_, static_cast<float>(state_.learning_rate));
    state_.learning_rate *= rules_.learning_rate_decay;
    ++state_.updates;
  }

  plackett::Ranker& ranker() override { return *ranker_; }
  // The usual reward is the learner's only state besides the ranker's parameters.
  plackett::LearnerState state() const override { return state_; }
  void restore(const plackett::LearnerState& state) override {
    state_ = state;
    if (state_.memory.size() != 1) state_.memory = {0.0F};  // not saved by this method
  }

 private:
  std::unique_ptr<plackett::Ranker> ranker_;
  plackett::MethodRules rules_;
  plackett::LearnerState state_;
  plackett::SamplingScratch sampling_;
  std::vector<float> scores_;
  std::vector<double> masses_;       // exp(score - highest score)
  std::vector<double> free_masses_;  // by rank: sum over the documents still free
  std::vector<bool> placed_;
  std::vector<plackett::DocWeight> weights_;
};

constexpr std::array kSettings{plackett::learning_rate_setting(0.01)};

// Declared once, for commands, specs, labels, tables and errors. What it points to must live until
// the program ends.
const plackett::Method kReinforce{
    .name = "reinforce",
    .title = "REINFORCE",
    .summary = "policy gradient with discounted clicks as the reward",
    .baseline = true,
    .settings = kSettings,
    .make = [](std::unique_ptr<plackett::Ranker> ranker, const plackett::MethodRules& rules,
               const plackett::SettingValues& settings) -> std::unique_ptr<plackett::Learner> {
      return std::make_unique<Reinforce>(std::move(ranker), rules,
                                         settings.number(plackett::kLearningRate));
    }};

}  // namespace

int main() {
  plackett::add_method(kReinforce).value();

  plackett::ComparisonSpec spec;
  spec.methods = {{.entry = plackett::parse_method_entry("reinforce").value()},
                  {.entry = plackett::parse_method_entry("pdgd").value()}};
  spec.click_models = {"perfect", "navigational"};
  spec.common.runs = 5;
  spec.common.impressions = 5'000;
  const std::vector<plackett::Dataset> data = {plackett::load_dataset("synthetic", {}).value()};
  const plackett::Compared compared = plackett::compare(spec, data).value();

  bool good = true;
  std::printf("%-13s %-19s %18s %8s\n", "users", "method", "NDCG@10 at the end", "online");
  for (const plackett::CellSummary& cell : compared.comparison.cells) {
    std::printf("%-13s %-19s %10.3f (%.3f) %8.1f\n", cell.click_model.c_str(), cell.label.c_str(),
                cell.offline.mean, cell.offline.std, cell.online.mean);
    good &= cell.offline.mean > cell.curve.front().offline.mean + 0.02;  // it learned
  }
  for (const plackett::Contrast& contrast : compared.comparison.contrasts) {
    const plackett::CellSummary& cell = compared.comparison.cells[contrast.cell];
    std::printf("%s against REINFORCE, %s users, online: %+.1f +- %.1f, p = %.2g (paired)\n",
                cell.label.c_str(), cell.click_model.c_str(), contrast.online.paired.difference,
                contrast.online.paired.half_width, contrast.online.paired.p);
    good &= contrast.online.paired.t > 0 && contrast.online.paired.p < 0.01;
  }
  if (!good) std::fprintf(stderr, "both should have learned, and PDGD faster\n");
  return good ? 0 : 1;
}
