// Bring your own model: a factorisation machine (Rendle, ICDM 2010) that PDGD trains as it trains
// its own. Define how documents are scored and the gradient of a weighted sum of scores; sampling,
// inferring preferences, weighting them and stepping are done for you.
#include <plackett/plackett.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace {

// score(x) = w . x + sum over i < j of (v_i . v_j) x_i x_j: each pair of features has its own
// weight, learned through factors. Parameters: w, then v_0, v_1, ...
class FactorisationMachine final : public plackett::Ranker {
 public:
  static constexpr std::uint32_t kFactors = 4;

  // Draws the factors' initial values from `rng`: at 0 they would have no gradient.
  FactorisationMachine(std::uint32_t feature_count, plackett::Rng& rng)
      : feature_count_(feature_count), parameters_(feature_count * (1 + kFactors)) {
    for (std::size_t at = feature_count; at < parameters_.size(); ++at) {
      parameters_[at] = static_cast<float>(0.1 * rng.normal());
    }
  }

  std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<FactorisationMachine>(*this);
  }
  std::uint32_t feature_count() const override { return feature_count_; }
  // The weights come first and enter the score linearly; the factors don't.
  std::size_t linear_count() const override { return feature_count_; }

  void score(const plackett::FeatureView& docs, std::span<float> scores) override {
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      scores[doc] = score_of(docs.row(plackett::Doc{doc}));
    }
  }

  void gradient(const plackett::FeatureView& docs, std::span<const plackett::DocWeight> weights,
                std::span<float> out) override {
    std::fill(out.begin(), out.end(), 0.0F);
    for (const auto& [doc, weight] : weights) {
      const auto x = docs.row(doc);
      for (std::uint32_t i = 0; i < feature_count_; ++i) out[i] += weight * x[i];
      for (std::uint32_t factor = 0; factor < kFactors; ++factor) {
        const float sum = projection(x, factor);
        for (std::uint32_t i = 0; i < feature_count_; ++i) {
          out[place(i, factor)] += weight * x[i] * (sum - v(i, factor) * x[i]);
        }
      }
    }
  }

  std::size_t parameter_count() const override { return parameters_.size(); }
  void get_parameters(std::span<float> out) const override {
    std::copy(parameters_.begin(), parameters_.end(), out.begin());
  }
  void set_parameters(std::span<const float> parameters) override {
    parameters_.assign(parameters.begin(), parameters.end());
  }

 private:
  std::size_t place(std::uint32_t feature, std::uint32_t factor) const {
    return feature_count_ + std::size_t{feature} * kFactors + factor;
  }
  float v(std::uint32_t feature, std::uint32_t factor) const {
    return parameters_[place(feature, factor)];
  }
  float projection(std::span<const float> x, std::uint32_t factor) const {
    float sum = 0;
    for (std::uint32_t i = 0; i < feature_count_; ++i) sum += v(i, factor) * x[i];
    return sum;
  }
  // O(features x factors): the sum over pairs is half of (sum v x)^2 - sum (v x)^2.
  float score_of(std::span<const float> x) const {
    float score = 0;
    for (std::uint32_t i = 0; i < feature_count_; ++i) score += parameters_[i] * x[i];
    for (std::uint32_t factor = 0; factor < kFactors; ++factor) {
      const float sum = projection(x, factor);
      float squares = 0;
      for (std::uint32_t i = 0; i < feature_count_; ++i) {
        const float term = v(i, factor) * x[i];
        squares += term * term;
      }
      score += 0.5F * (sum * sum - squares);
    }
    return score;
  }

  std::uint32_t feature_count_;
  std::vector<float> parameters_;
};

// Readers and articles. A row holds the reader's interest and the article's topic, one of kTopics
// each: what is good depends on both together, which no linear function of the row can express.
constexpr std::uint32_t kTopics = 6;
constexpr std::uint32_t kFeatures = 2 * kTopics;
constexpr std::uint32_t kQueries = 300;
constexpr std::uint32_t kArticles = 18;

struct Library {
  std::vector<float> rows;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint64_t> query_begin = {0};
};

Library make_library(std::uint64_t seed) {
  Library library;
  plackett::Rng rng({.seed = seed});
  for (std::uint32_t query = 0; query < kQueries; ++query) {
    const std::uint32_t interest = rng.below(kTopics);
    for (std::uint32_t article = 0; article < kArticles; ++article) {
      const std::uint32_t topic = rng.below(kTopics);
      const std::size_t row = library.rows.size();
      library.rows.resize(row + kFeatures);
      library.rows[row + interest] = 1;
      library.rows[row + kTopics + topic] = 1;
      const bool neighbour = topic == (interest + 1) % kTopics;
      library.labels.push_back(topic == interest ? 2 : neighbour ? 1 : 0);
    }
    library.query_begin.push_back(library.labels.size());
  }
  return library;
}

plackett::Split wrap(const Library& library) {
  return plackett::wrap_split({.rows = library.rows.data(),
                               .stride = kFeatures,
                               .feature_count = kFeatures,
                               .labels = library.labels,
                               .query_begin = library.query_begin,
                               .owner = nullptr})
      .value();
}

// NDCG@10 on `test` after PDGD has trained the ranker on 30,000 readers of `train`.
double learn(std::unique_ptr<plackett::Ranker> ranker, const plackett::Split& train,
             const plackett::Split& test) {
  const auto user = plackett::make_user("navigational", {.grade_count = 3}).value();
  plackett::Pdgd pdgd(std::move(ranker), {.learning_rate = 0.3});
  plackett::Ranking ranking;
  std::vector<std::uint8_t> clicks;
  for (std::uint64_t impression = 0; impression < 30'000; ++impression) {
    plackett::Rng rng({.seed = 7, .impression = impression});
    const plackett::Query query{rng.below(train.query_count())};
    const plackett::FeatureView docs = train.features(query);
    if (!pdgd.rank(docs, rng, ranking)) return 0;
    clicks.resize(ranking.shown.size());
    user->click(ranking.shown, train.judgments(query), rng, clicks);
    pdgd.learn(docs, ranking, clicks);
  }
  return plackett::evaluate(pdgd.ranker(), test, 2).value().means()[plackett::Metric::kNdcg10];
}

}  // namespace

int main() {
  const Library old_articles = make_library(1);
  const Library new_articles = make_library(2);
  const plackett::Split train = wrap(old_articles);
  const plackett::Split test = wrap(new_articles);

  plackett::Rng rng({.seed = 3, .purpose = plackett::Purpose::kInitialise});
  const double linear =
      learn(plackett::make_ranker({.feature_count = kFeatures}, rng).value(), train, test);
  const double machine = learn(std::make_unique<FactorisationMachine>(kFeatures, rng), train, test);

  std::printf("NDCG@10 after 30,000 readers, on articles that none of them saw:\n");
  std::printf("  a linear function      %.3f   (it can't see what a reader is interested in)\n",
              linear);
  std::printf("  factorisation machine  %.3f\n", machine);
  const bool good = machine > 0.9 && machine > linear + 0.2;
  if (!good) std::fprintf(stderr, "the factorisation machine should have been far ahead\n");
  return good ? 0 : 1;
}
