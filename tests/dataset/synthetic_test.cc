#include "dataset/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dataset/info.h"
#include "scratch.h"

namespace plackett {
namespace {

using testing::expect_same_folds;
using ::testing::HasSubstr;
using testing::ScratchFolder;

Dataset make(const SyntheticOptions& options, unsigned threads = 1) {
  LoadOptions load;
  load.threads = threads;
  auto dataset = make_synthetic(options, load);
  EXPECT_TRUE(dataset.ok()) << dataset.error().message;
  return std::move(*dataset);
}

TEST(Synthetic, IsTheSameForAnyNumberOfThreads) { expect_same_folds(make({}, 1), make({}, 5)); }

TEST(Synthetic, DiffersBySeed) {
  SyntheticOptions other;
  other.seed = 2;
  EXPECT_NE(testing::rows(make({}).folds[0].train, 0),
            testing::rows(make(other).folds[0].train, 0));
}

TEST(Synthetic, WrittenAsTextAndReadAgainIsTheSame) {
  const ScratchFolder folder;
  SyntheticOptions options;
  options.queries = 50;
  ASSERT_TRUE(write_synthetic(options, folder.path() / "text").ok());
  const auto read = load_dataset((folder.path() / "text").string(), {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  expect_same_folds(make(options), *read);
  EXPECT_EQ(folder.file_count(), 15U);
}

TEST(Synthetic, FoldsRotateFivePartsSoThatEveryQueryIsTestedOnce) {
  const Dataset dataset = make({});
  ASSERT_EQ(dataset.folds.size(), 5U);
  for (std::size_t fold = 0; fold < 5; ++fold) {
    const Fold& now = dataset.folds[fold];
    const Fold& next = dataset.folds[(fold + 1) % 5];
    EXPECT_EQ(now.train.query_count(), 480U);
    EXPECT_EQ(now.validation->query_count(), 160U);
    EXPECT_EQ(now.test.query_count(), 160U);
    testing::expect_same_split(now.test, *next.validation);
  }
}

TEST(Synthetic, DefaultIsSmallWithFiveSkewedGradesAndConstantFeatures) {
  const Dataset dataset = make({});
  EXPECT_EQ(dataset.grade_count(), 5U);
  EXPECT_THAT(dataset.origin, HasSubstr("made up"));
  EXPECT_EQ(dataset.folds[0].constant_feature_ids.size(), 4U);
  const SplitInfo info = summarise(dataset.folds[0].train, dataset.max_label);
  EXPECT_GT(info.docs_of_label[0], info.docs / 2);
  for (std::size_t label = 1; label < 5; ++label) {
    EXPECT_LT(info.docs_of_label[label], info.docs_of_label[label - 1]);
    EXPECT_GT(info.docs_of_label[label], 0U);
  }
  EXPECT_GT(info.queries_without_relevant, 0U);
  EXPECT_NEAR(static_cast<double>(info.docs) / info.queries, 20.0, 2.0);
}

TEST(Synthetic, Mq2008HasItsSizes) {
  const Dataset dataset = make(*synthetic_preset("mq2008"));
  const Fold& fold = dataset.folds[0];
  EXPECT_EQ(dataset.grade_count(), 3U);
  EXPECT_EQ(fold.train.query_count() + fold.validation->query_count() + fold.test.query_count(),
            784U);
  EXPECT_EQ(dataset.source_feature_count, 46U);
  EXPECT_EQ(fold.feature_ids.size(), 40U);
}

TEST(Synthetic, EveryPresetIsValidWhateverItsSize) {
  for (const std::string& name : synthetic_preset_names()) {
    auto options = synthetic_preset(name);
    ASSERT_TRUE(options.ok());
    options->queries = 10;
    EXPECT_EQ(make(*options).source_feature_count, options->features) << name;
  }
}

TEST(Synthetic, OptionsOutOfBoundsSayTheRule) {
  const auto error = [](auto change) {
    SyntheticOptions options;
    change(options);
    const auto dataset = make_synthetic(options, {});
    return dataset ? "no error" : dataset.error().message;
  };
  EXPECT_EQ(error([](auto& o) { o.folds = 6; }), "synthetic data: folds 6; from 1 to 5");
  EXPECT_EQ(error([](auto& o) { o.queries = 4; }),
            "synthetic data: queries 4; at least 5, one a part");
  EXPECT_EQ(error([](auto& o) { o.grades = 4; }), "synthetic data: grades 4; 3 or 5");
  EXPECT_EQ(error([](auto& o) { o.min_docs = 0; }),
            "synthetic data: documents a query 0; from 1 to 1000000");
  EXPECT_EQ(error([](auto& o) { o.mean_docs = 41; }),
            "synthetic data: documents a query, mean 41; between the least, 10, and the most, 40");
  EXPECT_EQ(error([](auto& o) { o.features = 12; }),
            "synthetic data: features 12; at least 20: 8 of noise, 4 constant and 8 informative");
}

TEST(Synthetic, WritingOntoSomethingIsRefused) {
  const ScratchFolder folder;
  const auto written = write_synthetic({}, folder.path());
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("already there; give a folder that is not"));
}

// --- the truth is partly non-linear: what a hidden layer can learn and a linear model can't -----

double dcg(const std::vector<int>& labels) {
  double sum = 0;
  for (std::size_t rank = 0; rank < std::min<std::size_t>(10, labels.size()); ++rank) {
    sum += (std::exp2(labels[rank]) - 1.0) / std::log2(static_cast<double>(rank) + 2.0);
  }
  return sum;
}

// A scorer: linear in the features, or in the features and their squares.
struct Scorer {
  bool with_squares = false;
  std::vector<double> weights;

  [[nodiscard]] std::vector<double> inputs(const std::vector<float>& row) const {
    std::vector<double> inputs(row.begin(), row.end());
    if (with_squares) {
      for (const float value : row) inputs.push_back(static_cast<double>(value) * value);
    }
    return inputs;
  }
  [[nodiscard]] double score(const std::vector<double>& inputs) const {
    return std::inner_product(inputs.begin(), inputs.end(), weights.begin(), 0.0);
  }
};

// Pairwise logistic regression on the labels by stochastic gradient descent.
void fit(Scorer& scorer, const Split& train) {
  scorer.weights.assign(train.feature_count() * (scorer.with_squares ? 2 : 1), 0.0);
  for (int epoch = 0; epoch < 25; ++epoch) {
    for (std::uint32_t query = 0; query < train.query_count(); ++query) {
      std::vector<std::vector<double>> docs;
      std::vector<double> scores;
      for (const auto& row : testing::rows(train, query)) {
        docs.push_back(scorer.inputs(row));
        scores.push_back(scorer.score(docs.back()));
      }
      const auto labels = testing::labels(train, query);
      std::vector<double> gradient(docs.size(), 0.0);
      for (std::size_t good = 0; good < docs.size(); ++good) {
        for (std::size_t bad = 0; bad < docs.size(); ++bad) {
          if (labels[good] <= labels[bad]) continue;
          const double push =
              (labels[good] - labels[bad]) / (1.0 + std::exp(scores[good] - scores[bad]));
          gradient[good] += push;
          gradient[bad] -= push;
        }
      }
      for (std::size_t doc = 0; doc < docs.size(); ++doc) {
        const double step = 0.1 * gradient[doc] / static_cast<double>(docs.size());
        for (std::size_t input = 0; input < docs[doc].size(); ++input) {
          scorer.weights[input] += step * docs[doc][input];
        }
      }
    }
  }
}

double ndcg(const Scorer& scorer, const Split& test) {
  double sum = 0;
  int counted = 0;
  for (std::uint32_t query = 0; query < test.query_count(); ++query) {
    auto ideal = testing::labels(test, query);
    std::vector<std::pair<double, int>> ranked;
    const auto rows = testing::rows(test, query);
    for (std::size_t doc = 0; doc < rows.size(); ++doc) {
      ranked.emplace_back(-scorer.score(scorer.inputs(rows[doc])), ideal[doc]);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<int> shown;
    for (const auto& [score, label] : ranked) shown.push_back(label);
    std::sort(ideal.rbegin(), ideal.rend());
    if (ideal.front() == 0) continue;
    sum += dcg(shown) / dcg(ideal);
    ++counted;
  }
  return sum / counted;
}

TEST(Synthetic, SquaresOfFeaturesRankFarBetterThanALinearModel) {
  for (const char* preset : {"default", "mq2008"}) {
    auto options = *synthetic_preset(preset);
    options.folds = 1;
    const Dataset dataset = make(options);
    Scorer linear;
    fit(linear, dataset.folds[0].train);
    Scorer squares;
    squares.with_squares = true;
    fit(squares, dataset.folds[0].train);
    const double linear_ndcg = ndcg(linear, dataset.folds[0].test);
    EXPECT_GT(linear_ndcg, 0.6) << preset;  // a linear model learns a good part
    EXPECT_GT(ndcg(squares, dataset.folds[0].test), linear_ndcg + 0.03) << preset;
  }
}

}  // namespace
}  // namespace plackett
