// How fast each method of the paper learns on one core, beside the rates reported for the
// published code on the same shapes:
//
//   methods_bench [--quick] [--require]
//
// --require: exit code 1 if a promised ratio is not reached. Rates don't include the curve's
// evaluation. Every run is checked against a repeat of itself; what methods learn is checked in the
// tests.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "bench_data.h"
#include "measure.h"
#include "plackett/method_entry.h"
#include "plackett/simulation.h"
#include "sampling/click_credit.h"
#include "sampling/random_ranks.h"
#include "sampling/score_table.h"

namespace plackett::bench {
namespace {

// Impressions per second of the published code, and the promised multiple.
struct Published {
  const char* method;
  double rate;
  double promised;  // 0: none
};

constexpr std::array kOnMq2008{Published{"pairwise", 6'500, 0}, Published{"dbgd", 540, 100},
                               Published{"mgd", 13, 1000}, Published{"pdgd", 2'300, 100}};
constexpr std::array kOnMslr{
    Published{"pairwise", 3'600, 0},    Published{"dbgd", 600, 100},
    Published{"dbgd:neural", 335, 100}, Published{"mgd", 10, 1000},
    Published{"pdgd", 1'200, 100},      Published{"pdgd:neural", 700, 100}};

// Methods without a published rate, beside one that they extend or resemble, and how many times as
// long an impression may take.
struct Later {
  const char* method;
  const char* base;
  double promised;  // 0: none
};

constexpr std::array kLater{Later{"steady", "pdgd:linear+neural:steps=adagrad", 2},
                            Later{"dbgd:projection=documents", "dbgd", 2},
                            Later{"mgd:projection=documents", "mgd", 2},
                            Later{"coltr", "mgd", 0},
                            Later{"pairrank:refit=100", "pdgd", 0},
                            Later{"pl-gradient", "pdgd", 0}};

struct Measured {
  double rate = 0;
  double offline = 0;
};

Measured learn(const Dataset& dataset, const char* method, std::uint64_t impressions) {
  SimulationSpec spec;
  apply(parse_method_entry(method).value(), spec);
  spec.click_model = "informational";
  spec.protocol = Protocol::kPublished;
  spec.impressions = impressions;
  const RunRecord record = Simulation::prepare(dataset, spec).value().run(0, {}).value();
  return {static_cast<double>(impressions) / (record.seconds - record.evaluation_seconds),
          record.curve.back().offline};
}

// False if a promise is broken.
bool measure(const Dataset& dataset, const Published& published, bool quick) {
  // About half a second each.
  const double scale = published.promised > 500 ? 500 : 30;
  const auto impressions = static_cast<std::uint64_t>(quick ? 300 : published.rate * scale);
  const Measured first = learn(dataset, published.method, impressions);
  if (learn(dataset, published.method, impressions).offline != first.offline) {
    fmt::print(stderr, "wrong answer: {} does not repeat itself\n", published.method);
    std::exit(1);
  }
  const double rate = interleaved(
      quick ? 1 : 5, {[&] { return learn(dataset, published.method, impressions).rate; }})[0];
  const double ratio = rate / published.rate;
  const bool kept = quick || published.promised == 0 || ratio >= published.promised;
  fmt::print("  {:<12}{:>11.0f} /s{:>10.0f} /s{:>8.0f} x{}\n", published.method, rate,
             published.rate, ratio,
             published.promised == 0 ? ""
                                     : fmt::format("  promised {:.0f}{}", published.promised,
                                                   kept ? "" : ": not reached"));
  return kept;
}

template <typename Table>
bool measure_all(const char* title, const Dataset& dataset, const Table& table, bool quick) {
  fmt::print("{}\n  {:<12}{:>14}{:>13}\n", title, "method", "here", "published");
  bool kept = true;
  for (const Published& published : table) kept = measure(dataset, published, quick) && kept;
  return kept;
}

// False if a promise is broken. The rates of both come from interleaved repeats.
bool measure_later(const Dataset& dataset, bool quick) {
  const std::uint64_t impressions = quick ? 300 : 5'000;
  bool all_kept = true;
  fmt::print("  {:<26}{:>11}{:>14}\n", "method", "here", "time of");
  for (const Later& later : kLater) {
    if (learn(dataset, later.method, impressions).offline !=
        learn(dataset, later.method, impressions).offline) {
      fmt::print(stderr, "wrong answer: {} does not repeat itself\n", later.method);
      std::exit(1);
    }
    const auto rates =
        interleaved(quick ? 1 : 5, {[&] { return learn(dataset, later.method, impressions).rate; },
                                    [&] { return learn(dataset, later.base, impressions).rate; }});
    const double cost = rates[1] / rates[0];
    const bool kept = quick || later.promised == 0 || cost <= later.promised;
    fmt::print("  {:<26}{:>8.0f} /s{:>6.1f} x {}{}\n", later.method, rates[0], cost, later.base,
               later.promised == 0 ? ""
                                   : fmt::format("  promised at most {:.0f}{}", later.promised,
                                                 kept ? "" : ": not reached"));
    all_kept = all_kept && kept;
  }
  return all_kept;
}

// The parts of a duel, for docs/decisions/0005. Answers are checked against sums that any correct
// code gives.
void measure_parts(bool quick) {
  const int repeats = quick ? 20 : 20'000;
  const auto nanoseconds = [&](double units, const std::function<void()>& once) {
    return interleaved(quick ? 1 : 5, {[&] {
                         return seconds_of([&] {
                                  for (int repeat = 0; repeat < repeats; ++repeat) once();
                                }) *
                                1e9 / (repeats * units);
                       }})[0];
  };
  const auto require = [](bool right, const char* what) {
    if (right) return;
    fmt::print(stderr, "wrong answer: {}\n", what);
    std::exit(1);
  };
  Rng rng({.seed = 1});
  constexpr std::size_t kNormals = 105 * Rng::kNormalGroup;  // 49 x 136, about
  AlignedVector<float> normals(kNormals);
  const double many = nanoseconds(kNormals, [&] { rng.fill_normals(normals.data(), kNormals); });
  double squares = 0;
  for (const float normal : normals) squares += double{normal} * normal;
  require(std::abs(squares / kNormals - 1) < 0.1, "normals of variance 1");
  double sum = 0;
  const double one = nanoseconds(1, [&] { sum += rng.normal(); });
  require(std::isfinite(sum), "a normal");

  ScoreTable scores;
  scores.resize(1, 125);
  std::copy_n(normals.begin(), 125, scores.row(0).begin());
  RandomRanks ranks;
  std::uint64_t total = 0;
  const double rank = nanoseconds(1, [&] {
    const auto found = ranks.rank(scores.row(0), rng).first(125);
    total = std::accumulate(found.begin(), found.end(), std::uint64_t{0});
  });
  require(total == 125 * 124 / 2, "ranks are a permutation");

  fmt::print("parts of a duel\n  a normal number: {:.1f} ns of many, {:.1f} ns one by one\n", many,
             one);
  fmt::print("  ranks of 125 documents: {:.2f} us\n", rank / 1e3);
  for (const std::size_t clicks : {3U, 10U}) {
    const std::vector<double> current(clicks, 0.02);
    const std::vector<double> candidate(clicks, 0.03);
    ClickCredit credit;
    double sign = 0;
    const double duel = nanoseconds(1, [&] { sign = credit.expected_sign(candidate, current); });
    require(sign > 0 && sign < 0.1, "the candidate with more credit is ahead");
    fmt::print("  49 duels over {} clicks: {:.1f} us\n", clicks, 49 * duel / 1e3);
  }
}

}  // namespace
}  // namespace plackett::bench

int main(int argc, char** argv) {
  using namespace plackett;
  using namespace plackett::bench;
  bool quick = false;
  bool require = false;
  for (int at = 1; at < argc; ++at) {
    quick = quick || std::string_view(argv[at]) == "--quick";
    require = require || std::string_view(argv[at]) == "--require";
  }
  const Dataset small = load_dataset("synthetic:mq2008", {}).value();
  const Dataset large = make_dataset({136, 125, quick ? 50U : 6'000U});
  measure_parts(quick);
  bool kept = measure_all("MQ2008's shape (synthetic data)", small, kOnMq2008, quick);
  kept = measure_all("136 features x 125 documents", large, kOnMslr, quick) && kept;
  fmt::print("Methods that came later, MQ2008's shape\n");
  kept = measure_later(small, quick) && kept;
  fmt::print("Methods that came later, 136 features x 125 documents\n");
  kept = measure_later(large, quick) && kept;
  return require && !kept ? 1 : 0;
}
