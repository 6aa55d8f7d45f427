// How fast PDGD learns, as shares of what limits it, measured in one run:
//
//   pdgd_bench [--quick] [--require]
//
// --require: exit code 1 if a share is below what the project promises.
//
// Memory limits the linear ranker: its limit is a plain loop that computes the same dot products
// for the same queries and does nothing else. Arithmetic limits the neural ranker: its limit is the
// matrix product of its shape with all operands in cache. Scores and products are checked against
// the plain kernels, runs against a repeat of themselves; what a run learns is checked in the
// tests. Rates of one thread are per second of CPU time.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/kernels.h"
#include "base/kernels_scalar.h"
#include "bench_data.h"
#include "measure.h"
#include "plackett/simulation.h"
#include "ranker/linear.h"

#if PLACKETT_HAVE_CBLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int);
#endif

namespace plackett::bench {
namespace {

Simulation prepare(const Dataset& dataset, RankerKind kind, std::uint64_t impressions,
                   std::uint32_t runs = 1) {
  SimulationSpec spec;
  spec.ranker.kind = kind;
  spec.click_model = "informational";
  spec.impressions = impressions;
  spec.runs = runs;
  return Simulation::prepare(dataset, spec).value();
}

// Impressions per second of one run on this thread, without the curve's evaluation.
double learning_rate_of(const Simulation& simulation, double* share = nullptr) {
  RunRecord record;
  const double seconds = cpu_seconds_of([&] { record = simulation.run(0, {}).value(); });
  const double evaluation = record.evaluation_seconds / record.seconds;
  if (share != nullptr) *share = evaluation;
  return static_cast<double>(simulation.spec().impressions) / (seconds * (1 - evaluation));
}

using Lanes16 [[gnu::vector_size(64), gnu::may_alias]] = float;

// The plain loop: one row after another, 16 sums for each. Requires: padded rows.
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] void plain_scores(
    const float* rows, std::size_t count, std::size_t width, const float* weights, float* scores) {
  const auto* weight = reinterpret_cast<const Lanes16*>(weights);
  for (std::size_t row = 0; row < count; ++row) {
    const auto* value = reinterpret_cast<const Lanes16*>(rows + row * width);
    Lanes16 sums = value[0] * weight[0];
    for (std::size_t at = 1; at < width / 16; ++at) sums += value[at] * weight[at];
    const auto sums8 = __builtin_shufflevector(sums, sums, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(sums, sums, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto sums4 = __builtin_shufflevector(sums8, sums8, 0, 1, 2, 3) +
                       __builtin_shufflevector(sums8, sums8, 4, 5, 6, 7);
    scores[row] = (sums4[0] + sums4[2]) + (sums4[1] + sums4[3]);
  }
}

constexpr float kWeight = 0.01F;  // every weight when scoring alone

// Queries per second of `score` alone, with the queries in a simulation's order. Returns in `check`
// the sum of each query's first score.
double scoring_rate(const Split& split, std::uint64_t impressions, double& check,
                    const std::function<void(const FeatureView&, std::span<float>)>& score) {
  std::vector<float> scores(1024);
  double sum = 0;
  const double seconds = cpu_seconds_of([&] {
    for (std::uint64_t impression = 0; impression < impressions; ++impression) {
      Rng rng({1, 0, impression, Purpose::kQuery});
      const FeatureView docs = split.features(Query{rng.below(split.query_count())});
      score(docs, std::span(scores).first(docs.doc_count()));
      sum += double{scores[0]};
    }
  });
  check = sum;
  return static_cast<double>(impressions) / seconds;
}

// What the project promises, and whether it was kept so far.
constexpr double kScoringShare = 0.95;
constexpr double kLinearShare = 0.75;
constexpr double kNeuralShare = 0.70;
constexpr double kTwoThreads = 1.8;
bool promises_kept = true;

void promise(bool kept, std::string_view what) {
  if (kept) return;
  fmt::print("          below its promise: {}\n", what);
  promises_kept = false;
}

void require(bool condition, std::string_view what) {
  if (condition) return;
  fmt::print(stderr, "wrong answer: {}\n", what);
  std::exit(1);
}

void linear(const Dataset& dataset, std::uint64_t impressions, int repeats, bool quick) {
  const Split& train = dataset.folds[0].train;
  const Simulation simulation = prepare(dataset, RankerKind::kLinear, impressions);
  const RunRecord first = simulation.run(0, {}).value();
  const RunRecord again = simulation.run(0, {}).value();
  require(first.curve.back().offline == again.curve.back().offline, "a run repeats itself");
  AlignedVector<float> weights(padded_width(train.feature_count()), kWeight);
  LinearRanker ranker(train.feature_count());
  ranker.set_parameters(std::span(weights).first(train.feature_count()));
  double plain = 0;
  double scored = 0;
  double share = 0;
  const auto rates = interleaved(
      repeats, {[&] {
                  return scoring_rate(train, impressions, plain,
                                      [&](const FeatureView& docs, std::span<float> scores) {
                                        plain_scores(docs.data(), docs.doc_count(), docs.stride(),
                                                     weights.data(), scores.data());
                                      });
                },
                [&] {
                  return scoring_rate(train, impressions, scored,
                                      [&](const FeatureView& docs, std::span<float> scores) {
                                        ranker.score(docs, scores);
                                      });
                },
                [&] { return learning_rate_of(simulation, &share); }});
  double expected = 0;
  for (std::uint64_t impression = 0; impression < impressions; ++impression) {
    Rng rng({1, 0, impression, Purpose::kQuery});
    const FeatureView docs = train.features(Query{rng.below(train.query_count())});
    float score = 0;
    kScalarKernels.dot_rows({docs.data(), 1, docs.stride(), docs.stride()}, weights.data(), &score);
    expected += double{score};
  }
  require(std::abs(plain / expected - 1) < 1e-5, "scores of the plain loop");
  require(std::abs(scored / expected - 1) < 1e-5, "scores of the scoring pass");
  const double bytes = 4.0 * padded_width(train.feature_count()) *
                       static_cast<double>(train.doc_count()) / train.query_count();
  fmt::print("linear    plain loop         {:>10.0f} /s   {:.1f} GB/s\n", rates[0],
             rates[0] * bytes / 1e9);
  fmt::print("          scoring alone      {:>10.0f} /s   {:.0f} % of the plain loop\n", rates[1],
             100 * rates[1] / rates[0]);
  fmt::print("          PDGD               {:>10.0f} /s   {:.0f} % of the plain loop\n", rates[2],
             100 * rates[2] / rates[0]);
  fmt::print("          curve's evaluation {:>9.1f} % of a run of {} impressions\n", 100 * share,
             impressions);
  promise(quick || rates[1] >= kScoringShare * rates[0], "scoring at 95 % of the plain loop");
  promise(quick || rates[2] >= kLinearShare * rates[0], "PDGD at 75 % of the plain loop");
}

// Floating-point operations per second of the product of a query's rows with 64 units: of the
// first query again and again, or of all of them in turn.
double product_rate(const Split& split, bool in_cache, bool blas, int products) {
  constexpr std::size_t kUnits = 64;
  const std::size_t width = padded_width(split.feature_count());
  const std::uint32_t queries = in_cache ? 1 : split.query_count();
  const std::uint32_t docs = split.features(Query{0}).doc_count();
  AlignedVector<float> weights(width * kUnits, 0.01F);
  AlignedVector<float> bias(kUnits);
  AlignedVector<float> out(docs * kUnits);
  FeatureView rows;
  const double seconds = cpu_seconds_of([&] {
    for (int product = 0; product < products; ++product) {
      rows = split.features(Query{static_cast<std::uint32_t>(product) % queries});
      if (blas) {
#if PLACKETT_HAVE_CBLAS
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows.doc_count()),
                    kUnits, static_cast<int>(split.feature_count()), 1.0F, rows.data(),
                    static_cast<int>(width), weights.data(), kUnits, 0.0F, out.data(), kUnits);
#endif
      } else {
        kernels().multiply({rows.data(), rows.doc_count(), width, width}, weights.data(), kUnits,
                           bias.data(), out.data());
      }
    }
  });
  AlignedVector<float> expected(out.size());
  kScalarKernels.multiply({rows.data(), rows.doc_count(), width, width}, weights.data(), kUnits,
                          bias.data(), expected.data());
  for (std::size_t at = 0; at < out.size(); ++at) {
    require(std::abs(out[at] - expected[at]) < 1e-4F, "the matrix product");
  }
  return 2.0 * docs * split.feature_count() * kUnits * products / seconds;
}

// Microseconds for the units of one impression.
double activation_time(Activation activation, int times) {
  constexpr std::size_t kValues = std::size_t{125} * 64;
  AlignedVector<float> given(kValues);
  for (std::size_t at = 0; at < kValues; ++at) {
    given[at] = static_cast<float>(at * 7919 % 2001) / 250.0F - 4.0F;
  }
  AlignedVector<float> values(kValues);
  const double seconds = cpu_seconds_of([&] {
    for (int time = 0; time < times; ++time) {
      values = given;
      kernels().activate(activation, values.data(), kValues);
    }
  });
  const double truth = activation == Activation::kTanh ? std::tanh(double{given[0]})
                                                       : 1 / (1 + std::exp(-double{given[0]}));
  require(std::abs(values[0] - truth) < 1e-6, "an activation");
  return seconds / times * 1e6;
}

void neural(const Dataset& dataset, std::uint64_t impressions, int repeats, bool quick) {
  const Split& train = dataset.folds[0].train;
  const Simulation simulation = prepare(dataset, RankerKind::kNeural, impressions);
  const auto products = static_cast<int>(impressions);
  const bool have_blas = PLACKETT_HAVE_CBLAS != 0;
  const auto rates = interleaved(
      repeats, {[&] { return product_rate(train, true, false, products); },
                [&] { return product_rate(train, false, false, products); },
                [&] { return have_blas ? product_rate(train, true, true, products) : 0.0; },
                [&] { return learning_rate_of(simulation); },
                [&] { return activation_time(Activation::kSigmoid, products); },
                [&] { return activation_time(Activation::kTanh, products); }});
  const double flops = 2.0 * static_cast<double>(train.doc_count()) / train.query_count() *
                       train.feature_count() * 64;
  const double limit = std::max(rates[0], rates[2]);
  fmt::print("neural    product, in cache  {:>10.1f} GFLOP/s\n", rates[0] / 1e9);
  fmt::print("          product, in memory {:>10.1f} GFLOP/s\n", rates[1] / 1e9);
  if (have_blas) {
    fmt::print("          OpenBLAS, in cache {:>10.1f} GFLOP/s\n", rates[2] / 1e9);
  }
  fmt::print("          125 x 64 units     {:>10.2f} us sigmoid, {:.2f} us tanh\n", rates[4],
             rates[5]);
  fmt::print(
      "          PDGD               {:>10.0f} /s   {:.1f} GFLOP/s in its product, {:.0f} % of the "
      "best product in cache\n",
      rates[3], rates[3] * flops / 1e9, 100 * rates[3] * flops / limit);
  promise(quick || rates[3] * flops >= kNeuralShare * limit,
          "PDGD at 70 % of the product in cache");
}

double threads(std::string_view what, const Dataset& dataset, std::uint64_t impressions,
               int repeats) {
  const std::vector<Simulation> simulations{prepare(dataset, RankerKind::kLinear, impressions, 8)};
  const auto rate = [&simulations](unsigned count) {
    return run_all(simulations, count, {}).value().front().impressions_per_second;
  };
  const auto rates = interleaved(repeats, {[&] { return rate(1); }, [&] { return rate(2); }});
  fmt::print("threads   {:<18} {:>10.0f} /s with 1, {:.0f} /s with 2: {:.2f} times\n", what,
             rates[0], rates[1], rates[1] / rates[0]);
  return rates[1] / rates[0];
}

// Microseconds per impression; one size changes at a time.
void growth(int repeats) {
  fmt::print("\ncost of an impression (us), linear / neural\n");
  const auto row = [repeats](std::string_view name, Shape shape, std::uint64_t impressions) {
    // As many queries as make 6 MB, so that the data of every row of the table fits the cache.
    shape.queries = 1'500'000 / (shape.docs * padded_width(shape.features));
    const Dataset dataset = make_dataset(shape);
    const Simulation simple = prepare(dataset, RankerKind::kLinear, impressions);
    const Simulation network = prepare(dataset, RankerKind::kNeural, impressions / 8);
    const auto rates = interleaved(repeats, {[&] { return learning_rate_of(simple); },
                                             [&] { return learning_rate_of(network); }});
    fmt::print("  {:<12} {:>4} documents {:>4} features {:>7} impressions   {:>7.2f} / {:>7.1f}\n",
               name, shape.docs, shape.features, impressions, 1e6 / rates[0], 1e6 / rates[1]);
  };
  for (const std::uint32_t docs : {50U, 100U, 200U, 400U, 800U}) {
    row("documents", {136, docs}, 20'000);
  }
  for (const std::uint32_t features : {64U, 128U, 256U, 512U, 1024U}) {
    row("features", {features, 125}, 20'000);
  }
  for (const std::uint64_t impressions : {10'000U, 40'000U, 160'000U}) {
    row("impressions", {136, 125}, impressions);
  }
}

int run(bool quick, bool must_keep) {
#if PLACKETT_HAVE_CBLAS
  openblas_set_num_threads(1);
#endif
  const int repeats = quick ? 1 : 7;
  fmt::print("kernels: {}\n", kernels().name);
  fmt::print("136 features x 125 documents x {} queries, one core\n", quick ? 100 : 6000);
  const Dataset large = make_dataset({136, 125, quick ? 100U : 6'000U});
  linear(large, quick ? 2'000 : 100'000, repeats, quick);
  neural(large, quick ? 500 : 10'000, repeats, quick);
  const Dataset small = make_dataset({46, 20, 200});
  const double two = threads("fits the caches", small, quick ? 2'000 : 100'000, repeats);
  promise(quick || two >= kTwoThreads, "two threads at 1.8 times one");
  threads("memory-bound", large, quick ? 2'000 : 50'000, repeats);
  if (!quick) growth(3);
  return must_keep && !promises_kept ? 1 : 0;
}

}  // namespace
}  // namespace plackett::bench

int main(int argc, char** argv) {
  bool quick = false;
  bool must_keep = false;
  for (int at = 1; at < argc; ++at) {
    quick = quick || std::strcmp(argv[at], "--quick") == 0;
    must_keep = must_keep || std::strcmp(argv[at], "--require") == 0;
  }
  return plackett::bench::run(quick, must_keep);
}
