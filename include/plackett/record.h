// What experiments leave behind, and all that reports know of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plackett {

struct CurvePoint {
  std::uint64_t impression = 0;  // how many impressions were learned from
  double offline = 0;            // NDCG@10 over the test queries at that moment
  double online = 0;             // discounted cumulative NDCG@10 of what was shown so far
};

// One run: one method, one click model, one fold, one seed.
struct RunRecord {
  std::uint32_t run = 0;
  std::uint32_t fold = 0;
  std::vector<CurvePoint> curve;  // log-spaced, the last impression always among them
  double seconds = 0;             // wall time of the run, evaluation included
  double evaluation_seconds = 0;  // of which offline evaluation
};

// Mean and sample standard deviation (n - 1; 0 for a single run).
struct Moments {
  double mean = 0;
  double std = 0;
};

struct CurveSummary {
  std::uint64_t impression = 0;
  Moments offline;
  Moments online;
};

// All runs of one method under one click model.
struct CellSummary {
  std::string label;      // "PDGD (linear)": what rows and legends say
  bool baseline = false;  // others are tested against it
  // Whether the setting is the paper's: the method's own settings, 10 documents shown, 64 sigmoid
  // units, features scaled within queries, and real data.
  bool as_in_paper = false;
  std::string method;       // "pdgd"
  std::string ranker;       // "linear", "neural", "linear+neural"
  std::string click_model;  // "perfect", ...
  std::string dataset;
  std::string protocol;  // "described", "published"
  std::uint32_t runs = 0;
  std::uint64_t impressions = 0;
  std::uint64_t seed = 0;
  Moments offline;  // at the last impression
  Moments online;
  std::vector<CurveSummary> curve;
  double seconds = 0;                 // wall time of all runs together
  double impressions_per_second = 0;  // over all threads
  double evaluation_share = 0;        // of the run time that went into the curve, 0..1
};

// A two-tailed t-test of the difference of two means.
struct TTest {
  double t = 0;        // above 0 where the cell's mean is the higher one
  double degrees = 0;  // of freedom
  double p = 1;
};

// Student's (one variance for both) and Welch's (each its own).
struct MeasureTests {
  TTest student;
  TTest welch;
};

// One cell against one baseline, under the same click model on the same dataset.
struct Contrast {
  std::size_t cell = 0;      // in Comparison::cells
  std::size_t baseline = 0;  // likewise
  MeasureTests offline;
  MeasureTests online;
};

// A whole comparison: the cells in the order they should be shown.
struct Comparison {
  std::string title;
  std::vector<CellSummary> cells;
  std::vector<Contrast> contrasts;  // every cell against every baseline of its block but itself
  unsigned threads = 1;
  std::string version;  // of plackett
};

}  // namespace plackett
