// How fast each method of the paper learns on one core, beside the rates reported for the
// published code on the same shapes:
//
//   methods_bench [--quick] [--require]
//
// --require ends with exit code 1 where a promised ratio is not reached. Rates leave the curve's
// evaluation out. Every run is checked against a repeat of itself; what methods learn is checked in
// the tests.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "bench_data.h"
#include "experiment/method_entry.h"
#include "experiment/simulation.h"
#include "measure.h"

namespace plackett::bench {
namespace {

// Impressions a second of the published code, and how many times that is promised.
struct Published {
  const char* method;
  double rate;
  double promised;  // 0: nothing
};

constexpr std::array kOnMq2008{Published{"pairwise", 6'500, 0}, Published{"dbgd", 540, 100},
                               Published{"mgd", 13, 1000}, Published{"pdgd", 2'300, 100}};
constexpr std::array kOnMslr{
    Published{"pairwise", 3'600, 0},    Published{"dbgd", 600, 100},
    Published{"dbgd:neural", 335, 100}, Published{"mgd", 10, 1000},
    Published{"pdgd", 1'200, 100},      Published{"pdgd:neural", 700, 100}};

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

// False where a promise is broken.
bool measure(const Dataset& dataset, const Published& published, bool quick) {
  // About half a second each, by the published rate.
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
  bool kept = measure_all("MQ2008's shape (made-up data)", small, kOnMq2008, quick);
  kept = measure_all("136 features x 125 documents", large, kOnMslr, quick) && kept;
  return require && !kept ? 1 : 0;
}
