// How fast PDGD learns, as ratios to what bounds it, measured in one run:
//
//   pdgd_bench [--quick] [--require]
//
// --require ends with exit code 1 where a ratio falls below what the project promises.
//
// The linear ranker is bound by memory: its limit is scoring alone, the same queries in the
// same order and nothing else. The neural one is bound by arithmetic: its limit is the matrix
// product of its shape. Scores and products are checked against the plain kernels, runs against
// a repeat of themselves; what a run learns is checked in the tests.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/aligned.h"
#include "base/kernels.h"
#include "base/kernels_scalar.h"
#include "bench_data.h"
#include "measure.h"
#include "plackett/simulation.h"
#include "ranker/linear.h"
#include "ranker/prefetch.h"

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

// Impressions a second of one run on this thread, the curve's evaluation left out.
double learning_rate_of(const Simulation& simulation, double* share = nullptr) {
  const RunRecord record = simulation.run(0, {}).value();
  if (share != nullptr) *share = record.evaluation_seconds / record.seconds;
  return static_cast<double>(simulation.spec().impressions) /
         (record.seconds - record.evaluation_seconds);
}

// Queries a second of scoring alone, drawn and fetched ahead as a simulation does.
double scoring_rate(const Split& split, std::uint64_t impressions, double& check) {
  LinearRanker ranker(split.feature_count());
  std::vector<float> weights(split.feature_count(), 0.01F);
  ranker.set_parameters(weights);
  std::vector<float> scores(1024);
  double sum = 0;
  const double seconds = seconds_of([&] {
    const auto draw = [&split](std::uint64_t impression) {
      Rng rng({1, 0, impression, Purpose::kQuery});
      return split.features(Query{rng.below(split.query_count())});
    };
    FeatureView next = draw(0);
    for (std::uint64_t impression = 0; impression < impressions; ++impression) {
      const FeatureView docs = next;
      next = draw(impression + 1);
      ranker.score(docs, std::span(scores).first(docs.doc_count()));
      prefetch(next, 0, 1);
      sum += double{scores[0]};
    }
  });
  check = sum;
  return static_cast<double>(impressions) / seconds;
}

// What the project promises, and whether all of it was kept so far.
constexpr double kLinearShare = 0.70;
constexpr double kNeuralShare = 0.50;
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
  double check = 0;
  double share = 0;
  const auto rates = interleaved(repeats, {[&] { return scoring_rate(train, impressions, check); },
                                           [&] { return learning_rate_of(simulation, &share); }});
  double expected = 0;
  const AlignedVector<float> weights(padded_width(train.feature_count()), 0.01F);
  for (std::uint64_t impression = 0; impression < impressions; ++impression) {
    Rng rng({1, 0, impression, Purpose::kQuery});
    const FeatureView docs = train.features(Query{rng.below(train.query_count())});
    float score = 0;
    kScalarKernels.dot_rows({docs.data(), 1, docs.stride(), docs.stride()}, weights.data(), &score);
    expected += double{score};
  }
  require(std::abs(check / expected - 1) < 1e-5, "scores of the scoring pass");
  promise(quick || rates[1] >= kLinearShare * rates[0], "PDGD at 70 % of scoring alone");
  const double bytes = 4.0 * padded_width(train.feature_count()) *
                       static_cast<double>(train.doc_count()) / train.query_count();
  fmt::print("linear    scoring alone      {:>10.0f} /s   {:.1f} GB/s\n", rates[0],
             rates[0] * bytes / 1e9);
  fmt::print("          PDGD               {:>10.0f} /s   {:.0f} % of scoring alone\n", rates[1],
             100 * rates[1] / rates[0]);
  fmt::print("          curve's evaluation {:>9.1f} % of a run of {} impressions\n", 100 * share,
             impressions);
}

// Floating-point operations a second of the product of one query's rows with 64 units.
double product_rate(const Split& split, bool blas, int products) {
  constexpr std::size_t kUnits = 64;
  const std::size_t width = padded_width(split.feature_count());
  const FeatureView docs = split.features(Query{0});
  AlignedVector<float> weights(width * kUnits, 0.01F);
  AlignedVector<float> bias(kUnits);
  AlignedVector<float> out(docs.doc_count() * kUnits);
  const double seconds = seconds_of([&] {
    for (int product = 0; product < products; ++product) {
      const FeatureView rows =
          split.features(Query{static_cast<std::uint32_t>(product) % split.query_count()});
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
  const FeatureView last =
      split.features(Query{static_cast<std::uint32_t>(products - 1) % split.query_count()});
  AlignedVector<float> expected(out.size());
  kScalarKernels.multiply({last.data(), last.doc_count(), width, width}, weights.data(), kUnits,
                          bias.data(), expected.data());
  for (std::size_t at = 0; at < out.size(); ++at) {
    require(std::abs(out[at] - expected[at]) < 1e-4F, "the matrix product");
  }
  return 2.0 * docs.doc_count() * split.feature_count() * kUnits * products / seconds;
}

void neural(const Dataset& dataset, std::uint64_t impressions, int repeats, bool quick) {
  const Split& train = dataset.folds[0].train;
  const Simulation simulation = prepare(dataset, RankerKind::kNeural, impressions);
  const auto products = static_cast<int>(impressions);
  const bool have_blas = PLACKETT_HAVE_CBLAS != 0;
  const auto rates =
      interleaved(repeats, {[&] { return product_rate(train, false, products); },
                            [&] { return have_blas ? product_rate(train, true, products) : 0.0; },
                            [&] { return learning_rate_of(simulation); }});
  const double flops = 2.0 * static_cast<double>(train.doc_count()) / train.query_count() *
                       train.feature_count() * 64;
  const double limit = std::max(rates[0], rates[1]);
  fmt::print("neural    product, kernel    {:>10.1f} GFLOP/s\n", rates[0] / 1e9);
  if (have_blas) fmt::print("          product, OpenBLAS  {:>10.1f} GFLOP/s\n", rates[1] / 1e9);
  fmt::print(
      "          PDGD               {:>10.0f} /s   {:.1f} GFLOP/s in its product, {:.0f} % "
      "of the better product rate\n",
      rates[2], rates[2] * flops / 1e9, 100 * rates[2] * flops / limit);
  promise(quick || rates[2] * flops >= kNeuralShare * limit, "PDGD at 50 % of the product rate");
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

// Microseconds an impression, with one of the sizes changed at a time.
void growth(int repeats) {
  fmt::print("\ncost of an impression (us), linear / neural\n");
  const auto row = [repeats](std::string_view name, Shape shape, std::uint64_t impressions) {
    // As many queries as make 6 MB, so that every row of the table finds its data in the cache.
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
