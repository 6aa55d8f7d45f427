// What experiments leave behind, and all that reports know of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
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
  std::string name = {};             // "MAP"
  std::vector<double> values = {};   // one per point
};

// One run: one method, one click model, one fold, one seed.
struct RunRecord {
  std::uint32_t run = 0;               // from 0
  std::uint32_t fold = 0;              // of the dataset: run modulo folds
  std::vector<CurvePoint> curve = {};  // log-spaced, the last impression always among them
  std::vector<MetricCurve> metrics = {};  // that were asked for, in that order
  // NDCG@10 over the validation queries at the end, if it was asked for; otherwise NaN.
  double validation = std::numeric_limits<double>::quiet_NaN();
  double seconds = 0;                  // wall time of the run, evaluation included
  double evaluation_seconds = 0;       // of which offline evaluation
};

// Mean and sample standard deviation (n - 1; 0 for a single run).
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

  bool operator==(const SweptValue&) const = default;
};

// All runs of one method under one click model.
struct CellSummary {
  std::string label = {};  // "PDGD (linear)": what rows and legends say
  bool baseline = false;   // others are tested against it
  // Whether the setting is the paper's: the method's own settings, 10 documents shown, 64 sigmoid
  // units, features scaled within queries, and real data.
  bool as_in_paper = false;
  std::string method = {};               // "pdgd"
  std::string ranker = {};               // "linear", "neural", "linear+neural"
  std::string click_model = {};          // "perfect", ...
  std::string dataset = {};              // its name
  std::string protocol = {};             // "described", "published"
  // What was swept over several values: of the method, and of what surrounds it.
  std::vector<SweptValue> swept = {};
  std::vector<SweptValue> surroundings = {};
  std::uint32_t runs = 0;                // that the moments are over
  std::uint64_t impressions = 0;         // per run
  std::uint64_t seed = 0;                // of all runs; they differ by their numbers
  Moments offline = {};                  // at the last impression
  Moments online = {};                   // over all impressions
  std::vector<CurveSummary> curve = {};  // as the runs' own
  double seconds = 0;                    // wall time of all runs together
  double impressions_per_second = 0;     // over all threads
  double evaluation_share = 0;           // of the run time that went into the curve, 0..1
};

// A two-tailed t-test of the difference of two means. All are NaN if there is none: a side has
// fewer than two runs, or a number that is not finite.
struct TTest {
  double t = std::numeric_limits<double>::quiet_NaN();        // above 0: the cell's mean is higher
  double degrees = std::numeric_limits<double>::quiet_NaN();  // of freedom
  // Of a difference at least as large, were there none.
  double p = std::numeric_limits<double>::quiet_NaN();
};

// Both tests of one measure.
struct MeasureTests {
  TTest student = {};  // one variance for both
  TTest welch = {};    // each its own
};

// One cell against one baseline, under the same click model on the same dataset.
struct Contrast {
  std::size_t cell = 0;       // in Comparison::cells
  std::size_t baseline = 0;   // likewise
  MeasureTests offline = {};  // of NDCG@10 at the last impression
  MeasureTests online = {};   // of the discounted sum
};

// A whole comparison: the cells in the order they should be shown.
struct Comparison {
  std::string title = {};               // of the report
  std::vector<CellSummary> cells = {};  // dataset by dataset, click model by click model
  std::vector<Contrast> contrasts =
      {};                    // every cell against every baseline of its block but itself
  // Whether swept values were chosen on the validation queries and only those are here.
  bool selected = false;
  unsigned threads = 1;      // that runs were spread over
  std::string version = {};  // of plackett
};

}  // namespace plackett
