// What experiments leave behind, and all that reports know of them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace plackett {

// A run at one moment.
struct CurvePoint {
  std::uint64_t impression = 0;  // how many impressions were learned from
  double offline = 0;            // NDCG@10 over the test queries at that moment
  double online = 0;             // discounted cumulative NDCG@10 of what was shown so far
};

// A metric besides NDCG@10, at the points of a run's curve.
struct MetricCurve {
  std::string name = {};            // "MAP"
  std::vector<double> values = {};  // one per point
};

// Some impressions in a row of a run under drift: means over them.
struct Window {
  double online = 0;  // NDCG@10 of what was shown
  double best = 0;    // NDCG@10 of what the best linear ranker of each impression's world shows

  bool operator==(const Window&) const = default;
};

// One run: one method, one click model, one fold, one seed.
struct RunRecord {
  std::uint32_t run = 0;                  // from 0
  std::uint32_t fold = 0;                 // of the dataset: run modulo folds
  std::vector<CurvePoint> curve = {};     // as CurveKind says; the last is of the last impression
  std::vector<MetricCurve> metrics = {};  // that were asked for, in that order
  // NDCG@10 over the validation queries at the end, if it was asked for; otherwise NaN.
  double validation = std::numeric_limits<double>::quiet_NaN();
  // Under drift: of a hundredth of the run or a little more, equally long; the last also has what
  // is left over.
  std::vector<Window> windows = {};
  // Under drift: as Learner::restarts.
  std::optional<std::uint64_t> restarts = {};
  double seconds = 0;             // wall time of the run, evaluation included
  double evaluation_seconds = 0;  // of which offline evaluation
};

// Mean and sample standard deviation (n - 1; NaN for a single run).
struct Moments {
  double mean = 0;  // over runs
  double std = 0;   // likewise
};

// All runs at one moment; as CurvePoint.
struct CurveSummary {
  std::uint64_t impression = 0;  // how many impressions were learned from
  Moments offline = {};          // NDCG@10 over the test queries
  Moments online = {};           // discounted cumulative NDCG@10 of what was shown
};

// One of several values of an option or setting.
struct SweptValue {
  std::string name = {};   // "learning-rate"
  std::string value = {};  // "0.1"

  auto operator<=>(const SweptValue&) const = default;
};

// Whether and when a run was back at 95 % of its level before a drift.
struct Regained {
  // Impressions from when the drift was complete until then; if it never was back, all until the
  // next drift or the end. NaN: start, next drift or end is too near to measure it.
  double after = std::numeric_limits<double>::quiet_NaN();
  bool was_regained = false;  // whether it was back in that time

  bool operator==(const Regained&) const = default;
};

// How one run fares under drift (docs/drift.md).
struct DriftMeasures {
  double regret = 0;        // dynamic regret per impression: the mean of Window::best - online
  double regret_after = 0;  // the same from the first drift on
  double worst_window = 0;  // the lowest Window::online from the first drift on
  std::vector<Regained> regained = {};         // one per drift
  std::optional<std::uint64_t> restarts = {};  // as RunRecord
};

// A mean over runs with its 95 % confidence interval, mean - half_width to mean + half_width. NaN:
// there is none.
struct Estimate {
  double mean = std::numeric_limits<double>::quiet_NaN();        // over the runs that have a value
  double half_width = std::numeric_limits<double>::quiet_NaN();  // NaN for a single run
  std::uint32_t runs = 0;                                        // that have a value
};

// What a run ended with.
struct RunFinal {
  std::uint32_t run = 0;   // from 0; runs of that number share fold and queries with other methods
  double offline = 0;      // NDCG@10 over the test queries at the last impression
  double online = 0;       // discounted cumulative NDCG@10 of all that was shown
  std::uint32_t fold = 0;  // of the dataset
  std::vector<double> metrics = {};  // as CellSummary::metrics, at the last impression
  double validation = std::numeric_limits<double>::quiet_NaN();  // as in RunRecord
  std::optional<DriftMeasures> drift = {};                       // if there is any
};

// A drift as a report shows it, with how all runs of a cell take it.
struct DriftMark {
  std::string text = {};         // "labels at=50000 change=intents"
  std::uint64_t at = 0;          // the first impression that may be in the new world
  std::uint64_t settled = 0;     // the first that is in it for sure
  std::uint64_t period = 0;      // of a seasonal one; otherwise 0
  Estimate regained_after = {};  // of Regained::after, of all runs that it could be measured in
  std::uint32_t regained = 0;    // runs that were back
};

// All runs in one window.
struct WindowSummary {
  std::uint64_t end = 0;  // impressions up to its end
  Moments online = {};    // as Window
  Moments best = {};      // likewise
};

// All runs of a cell under drift.
struct DriftSummary {
  std::vector<DriftMark> drifts = {};       // in their order
  std::vector<WindowSummary> windows = {};  // as the runs' own
  Estimate regret = {};                     // as DriftMeasures
  Estimate regret_after = {};               // likewise
  Estimate worst_window = {};               // likewise
  Estimate restarts = {};                   // of the runs whose method restarts
};

// A metric besides NDCG@10, over all runs.
struct MetricSummary {
  std::string name = {};            // "MAP"
  Moments final = {};               // over the test queries, at the last impression
  std::vector<Moments> curve = {};  // one per point of CellSummary::curve
};

// All runs of one method under one click model.
struct CellSummary {
  std::string label = {};   // "PDGD (linear)": what rows and legends say
  std::string family = {};  // the label without swept values, a swept ranker among them
  bool baseline = false;    // others are tested against it
  // Whether its swept values were chosen, for each fold, on the validation queries. The other
  // values' cells are then not in the comparison.
  bool selected = false;
  // Whether the setting is the paper's: the method's own settings, 10 documents shown, 64 sigmoid
  // units, features scaled within queries, and real data.
  bool as_in_paper = false;
  std::string method = {};       // "pdgd"
  std::string ranker = {};       // "linear", "neural", "linear+neural"
  std::string click_model = {};  // "perfect", ...
  std::string dataset = {};      // its name
  // The published dataset that it is, going by its numbers; empty if it is none.
  std::string published_data = {};
  std::string protocol = {};                  // "described", "published"
  std::string split = "test";                 // what offline performance was measured on
  std::vector<SweptValue> swept = {};         // of the method: what has several values
  std::vector<SweptValue> surroundings = {};  // of everything else: likewise
  std::uint32_t runs = 0;                     // that the moments are over
  std::uint64_t impressions = 0;              // per run
  std::uint64_t seed = 0;                     // of all runs; they differ by their numbers
  Moments offline = {};                       // at the last impression
  Moments online = {};                        // over all impressions
  std::vector<RunFinal> finals = {};          // one per run, by their numbers
  std::vector<CurveSummary> curve = {};       // as the runs' own
  std::vector<MetricSummary> metrics = {};    // that all runs have, in their order
  std::optional<DriftSummary> drift = {};     // if there is any
  double seconds = 0;                         // wall time of all runs together
  double impressions_per_second = 0;          // over all threads
  double evaluation_share = 0;                // of the run time that went into the curve, 0..1
};

// What the cells of one block have in common: they differ by their methods alone. Refers to the
// cell.
inline auto block_of(const CellSummary& cell) {
  return std::tie(cell.dataset, cell.protocol, cell.split, cell.click_model, cell.seed,
                  cell.impressions, cell.surroundings);
}

// A two-tailed t-test of the difference of two means. All are NaN if there is none: fewer than two
// runs, or a number that is not finite.
struct TTest {
  double t = std::numeric_limits<double>::quiet_NaN();        // above 0: the cell's mean is higher
  double degrees = std::numeric_limits<double>::quiet_NaN();  // of freedom
  // Of a difference at least as large, were there none.
  double p = std::numeric_limits<double>::quiet_NaN();
  double difference = std::numeric_limits<double>::quiet_NaN();  // the cell's mean minus the other
  // The 95 % confidence interval is difference - half_width to difference + half_width.
  double half_width = std::numeric_limits<double>::quiet_NaN();
  // p corrected (Holm) for the number of such tests in the comparison: of all measures, of all
  // cells that are not baselines, against all baselines. Leaders are corrected apart, after p was
  // multiplied by the pairs of their block, from which they were picked after the fact. NaN for
  // other tests.
  double holm = std::numeric_limits<double>::quiet_NaN();
};

// Which t-test the marks and findings of a report go by.
enum class SignificanceTest : std::uint8_t {
  kPaired,   // of the differences between the runs of the same number
  kWelch,    // of two independent samples, each with its own variance
  kStudent,  // of two independent samples with one variance
};

// The tests of one measure.
struct MeasureTests {
  // Over the runs that both have. Runs of the same number share fold and queries, so most of the
  // spread between runs cancels, which the other tests take for chance.
  TTest paired = {};
  TTest welch = {};    // over all runs of each, each with its own variance
  TTest student = {};  // likewise with one variance for both
};

// The tests of a metric besides NDCG@10.
struct MetricTests {
  std::string name = {};    // "MAP"
  MeasureTests tests = {};  // at the last impression
};

// One cell against another, which differs from it by its method only: a baseline, unless said
// otherwise.
struct Contrast {
  std::size_t cell = 0;                   // in Comparison::cells
  std::size_t baseline = 0;               // likewise
  MeasureTests offline = {};              // of NDCG@10 at the last impression
  MeasureTests online = {};               // of the discounted sum
  std::vector<MetricTests> metrics = {};  // of those that both cells have
  // Under drift, of "regret", "regret_since_drift", "worst_window" and, one per drift, from 1,
  // "regained_after_1". Holm's correction goes over these tests alone.
  std::vector<MetricTests> drift = {};
};

// A whole comparison: the cells in the order they should be shown.
struct Comparison {
  std::string title = {};               // of the report
  std::vector<CellSummary> cells = {};  // dataset by dataset, click model by click model
  // Every cell against every baseline of its block but itself.
  std::vector<Contrast> contrasts = {};
  // The best cell of each block against the second best, in each measure, where neither is a
  // baseline.
  std::vector<Contrast> leaders = {};
  SignificanceTest test = SignificanceTest::kPaired;  // that the report goes by
  unsigned threads = 1;                               // that runs were spread over
  std::string version = {};                           // of plackett
};

}  // namespace plackett
