// How fast a present ranking is imitated (plackett fit), beside its limit, the memory: an iteration
// reads every row twice, to score it and for the gradient.
//
//   fit_bench [--quick]
//
// 10,000 lists of 100 documents x 136 features in the order of a weighted sum, 10 shown. Exit code
// 1 if the fit does not reproduce lists that were held out, or differs between numbers of threads.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "measure.h"
#include "plackett/fit.h"
#include "plackett/ranker_spec.h"
#include "plackett/rng.h"

namespace plackett::bench {
namespace {

constexpr std::uint32_t kDocs = 100;
constexpr std::uint32_t kFeatures = 136;
constexpr std::uint32_t kShown = 10;

ObservedOrders make_orders(std::uint32_t lists) {
  Rng rng({.seed = 1});
  std::vector<float> weights(kFeatures);
  for (float& weight : weights) weight = static_cast<float>(rng.normal());
  ObservedOrders orders(kFeatures);
  std::vector<float> rows(std::size_t{kDocs} * kFeatures);
  for (std::uint32_t list = 0; list < lists; ++list) {
    std::vector<std::pair<float, std::vector<float>>> docs(kDocs);
    for (auto& [score, row] : docs) {
      for (const float weight : weights) {
        row.push_back(static_cast<float>(rng.next_u32() >> 8) * 0x1p-24F);
        score += weight * row.back();
      }
    }
    std::sort(docs.begin(), docs.end(),
              [](const auto& one, const auto& other) { return one.first > other.first; });
    auto target = rows.begin();
    for (const auto& [score, row] : docs) target = std::copy(row.begin(), row.end(), target);
    orders.add(FeatureView::of(rows.data(), kDocs, kFeatures, kFeatures), kShown).value();
  }
  return orders;
}

struct Measured {
  FitReport report;
  std::vector<float> parameters;
  double seconds = 0;
};

Measured measure(const ObservedOrders& orders, RankerKind kind, std::uint32_t threads,
                 std::uint32_t iterations) {
  Rng rng({.seed = 2, .purpose = Purpose::kInitialise});
  const auto ranker = make_ranker({.kind = kind, .feature_count = kFeatures}, rng).value();
  Measured measured;
  measured.seconds = seconds_of([&] {
    measured.report = fit(orders, *ranker, {.iterations = iterations, .threads = threads}).value();
  });
  measured.parameters.resize(ranker->parameter_count());
  ranker->get_parameters(measured.parameters);
  return measured;
}

// Every row, once.
double read_all(const ObservedOrders& orders) {
  float sum = 0;
  const double seconds = seconds_of([&] {
    for (std::size_t list = 0; list < orders.size(); ++list) {
      const float* row = orders.docs(list).data();
      // Sixteen sums, so that the compiler may use vectors.
      float sums[16] = {};
      for (std::size_t at = 0; at + 16 <= std::size_t{kDocs} * kFeatures; at += 16) {
        for (std::size_t lane = 0; lane < 16; ++lane) sums[lane] += row[at + lane];
      }
      sum += std::accumulate(std::begin(sums), std::end(sums), 0.0F);
    }
  });
  if (sum == 0) std::abort();
  return seconds;
}

bool run(bool quick) {
  const ObservedOrders orders = make_orders(quick ? 300 : 10'000);
  bool right = true;
  for (const RankerKind kind : {RankerKind::kLinear, RankerKind::kLinearPlusNeural}) {
    const std::uint32_t iterations = kind == RankerKind::kLinear ? 500 : quick ? 3 : 10;
    std::vector<float> parameters;
    for (const std::uint32_t threads : {1U, 2U}) {
      const Measured measured = measure(orders, kind, threads, iterations);
      const FitReport& report = measured.report;
      fmt::print(
          "{:<13} {} thread{}: {:6.2f} s, {} iterations, {:.0f} ms each, tau held out {:.3f}\n",
          name_of(kind), threads, threads == 1 ? " " : "s", measured.seconds, report.iterations,
          1000 * measured.seconds / report.iterations, report.held_out.kendall_tau);
      right = right && report.held_out.kendall_tau > 0.98;
      right = right && (parameters.empty() || parameters == measured.parameters);
      parameters = measured.parameters;
    }
  }
  fmt::print("reading every row once takes {:.0f} ms\n", 1000 * read_all(orders));
  if (!right) fmt::print("wrong: the fit is not what it must be\n");
  return right;
}

}  // namespace
}  // namespace plackett::bench

int main(int argc, char** argv) {
  return plackett::bench::run(argc > 1 && argv[1] == std::string_view("--quick")) ? EXIT_SUCCESS
                                                                                  : EXIT_FAILURE;
}
