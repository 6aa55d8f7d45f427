// One method learning from one kind of simulated user: the only place where users, who know the
// labels, meet learners, who must not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/drift.h"
#include "plackett/export.h"
#include "plackett/learner.h"
#include "plackett/model_file.h"
#include "plackett/no_relevant.h"
#include "plackett/protocol.h"
#include "plackett/ranker_spec.h"
#include "plackett/record.h"
#include "plackett/result.h"
#include "plackett/setting.h"
#include "plackett/user.h"

namespace plackett {

class Curve;
class RunInputs;
class WindowMeans;
class Worlds;
class WorldsByRun;

// More than any run needs; random streams are numbered below 2^56.
inline constexpr std::uint64_t kMaxImpressions = 1'000'000'000'000;
// More than any test of significance needs.
inline constexpr std::uint32_t kMaxRuns = 1'000'000;
// Pair weights cost O(shown^3) at worst.
inline constexpr std::uint32_t kMaxShown = 100;

// Which queries of a fold offline performance is measured on.
enum class MeasuredSplit : std::uint8_t { kTest, kValidation };
// "test" or "validation".
PLACKETT_EXPORT std::string_view name_of(MeasuredSplit split);
// Fails on anything else.
PLACKETT_EXPORT Result<MeasuredSplit> parse_measured_split(std::string_view text);

// How much of a run's curve is measured.
enum class CurveKind : std::uint8_t {
  kWhole,  // log-spaced points, the last after the last impression
  kFinal,  // that last point alone, which is the same to the bit
};
// "whole" or "final".
PLACKETT_EXPORT std::string_view name_of(CurveKind kind);
// Fails on anything else.
PLACKETT_EXPORT Result<CurveKind> parse_curve_kind(std::string_view text);

// One experiment as plain data; Simulation::prepare checks it.
struct SimulationSpec {
  std::string method = "pdgd";  // by its name
  RankerSpec ranker = {};       // feature_count and initialisation are set from fold and protocol
  std::string click_model = "perfect";       // as make_user takes it
  Protocol protocol = Protocol::kDescribed;  // which of the published ways are followed
  std::uint32_t runs = 25;                   // spread evenly over the folds
  std::uint64_t impressions = 10'000;        // per run
  std::uint64_t seed = 1;                    // of all random numbers
  std::uint32_t shown = 10;                  // documents shown per impression
  std::vector<GivenSetting> settings = {};   // of the method
  std::string label = {};             // in tables; made from method, ranker, settings if empty
  std::optional<bool> baseline = {};  // others are tested against it; the method's own if absent
  double eta = 1;                     // position-based, trust bias: examination is 1 / rank^eta
  double learning_rate_decay = 0;     // factor after each update, up to 1; 0: the protocol's own
  // What queries without a relevant document count.
  NoRelevant no_relevant = NoRelevant::kSkip;
  // What offline performance is measured on; settings are chosen on validation queries.
  MeasuredSplit split = MeasuredSplit::kTest;
  CurveKind curve = CurveKind::kWhole;    // a results folder is of one kind
  std::vector<std::string> metrics = {};  // measured offline besides NDCG@10: names as in Metric
  std::vector<Drift> drift = {};          // what changes while it learns, in order
  bool validate = false;  // also measures the final ranker on the validation queries
  // A user of your own in place of the click model, whose name() then replaces the click model's.
  // All runs share it, several threads at once.
  std::shared_ptr<const User> user = nullptr;
};

// "PDGD (linear)", "MGD (linear, candidates 9)": the label of a spec that has none.
PLACKETT_EXPORT std::string label_of(const SimulationSpec& spec);

// Told how far the work is, by the threads that do it, possibly several at once. Any member may be
// empty.
struct Watch {
  // What does the runs, before the first and when it changes: "2 threads", "NVIDIA H200 and 2
  // threads", "2 threads (no usable GPU: the driver sees no device)".
  std::function<void(const std::string& what)> told_device = {};
  // A run starts.
  std::function<void(const SimulationSpec& spec)> run_started = {};
  // Impressions since the last call: often enough for a progress bar, rarely enough to cost
  // nothing.
  std::function<void(std::uint64_t impressions)> advanced = {};
  // A run is finished.
  std::function<void()> run_done = {};
  // The learner of a finished run, for whoever wants to keep it.
  std::function<void(std::uint32_t run, std::unique_ptr<Learner> learner)> learned = {};
  // Asked before every impression; once it returns true the run fails with ErrorCode::kStopped.
  std::function<bool()> stop = {};
};

// One of several equal parts of an experiment's runs: "3/16" is part 3 of 16.
struct Shard {
  std::uint32_t number = 1;  // from 1
  std::uint32_t count = 1;   // 1: all runs

  bool operator==(const Shard&) const = default;
};
// Fails on anything but NUMBER/COUNT with 1 <= NUMBER <= COUNT <= 1,000,000.
PLACKETT_EXPORT Result<Shard> parse_shard(std::string_view text);
// "3/16".
PLACKETT_EXPORT std::string name_of(const Shard& shard);

// What does the runs.
enum class Device : std::uint8_t {
  kCpu,   // this machine's threads
  kGpu,   // the first GPU; fails if there is none that can be used, or for runs that it can't do
  kAuto,  // the GPU for the runs that it can do, threads for the others
};
// "cpu", "gpu" or "auto".
PLACKETT_EXPORT std::string_view name_of(Device device);
// Fails on anything else.
PLACKETT_EXPORT Result<Device> parse_device(std::string_view text);

// How runs are done; no result depends on it.
struct RunOptions {
  unsigned threads = 0;          // 0: one per core
  Device device = Device::kCpu;  // what does the runs
  Shard shard = {};              // in a folder: does only these of the runs
  bool fresh = false;            // in a folder: discard the runs that it holds
  bool verify_cache = true;      // in a folder: as LoadOptions::verify_cache
  Watch watch = {};              // watch.learned is not called
};

// The wall time of a run on one thread.
struct RunCost {
  double impression_seconds = 0;  // per impression
  double evaluation_seconds = 0;  // per point of the curve
};

// A spec checked against its data and ready to run. Immutable: any number of threads may run its
// runs. Shares the dataset's memory.
class PLACKETT_EXPORT Simulation {
 public:
  // Checks the spec against the data. Fails on unknown names, options out of bounds, a click model
  // without a table for the data's grades, a ranker that the method can't use, and drift that the
  // data can't have; the errors name what is allowed. `alike`, if given, is one of the same
  // dataset, whose worlds are shared if they are the same. Worlds that differ between runs are made
  // when they are first run; a run fails if the data can't have its own.
  static Result<Simulation> prepare(const Dataset& dataset, const SimulationSpec& spec,
                                    const Simulation* alike = nullptr);

  // As prepared: the label filled in, and the click model by its user's name.
  [[nodiscard]] const SimulationSpec& spec() const { return spec_; }

  // Does one run: a function of (dataset, spec, run) alone, to the bit. Run r uses fold r modulo
  // the number of folds. Fails if a score is no longer finite. Requires: run < kMaxRuns.
  Result<RunRecord> run(std::uint32_t run, const Watch& watch) const;

  // What the learner of a finished run learned, as a model of the spec's ranker; meaningless if the
  // method made a ranker of its own. Requires: Watch::learned gave `learner` for that run.
  [[nodiscard]] SavedModel saved_model(std::uint32_t run, Learner& learner) const;

  // Learns for about `seconds` from the start of run 0, and measures one point of the curve.
  [[nodiscard]] Result<RunCost> cost(double seconds) const;

  // What tables show of these runs.
  [[nodiscard]] CellSummary summarise(const std::vector<RunRecord>& records) const;

 private:
  friend class RunInputs;
  Simulation() = default;
  // What a run measures while it learns; either may be null.
  struct Measuring {
    Curve* curve = nullptr;
    WindowMeans* windows = nullptr;
  };
  // All impressions of a run.
  Result<void> learn(std::uint32_t run, Learner& learner, const Measuring& measuring,
                     const Watch& watch) const;
  // Measures what the curve has kept. Fails if stopped, and if a score was not finite at a point.
  Result<void> finish(std::uint32_t run, Curve& curve, const Watch& watch) const;
  // Fails if there is nothing to measure in one of them.
  [[nodiscard]] Result<std::shared_ptr<const Worlds>> worlds_of(std::uint32_t run) const;
  [[nodiscard]] Error not_finite(std::uint32_t run, std::uint64_t impressions) const;

  SimulationSpec spec_;
  std::string dataset_name_;
  std::uint32_t max_label_ = 0;
  std::shared_ptr<WorldsByRun> worlds_;
  std::vector<std::shared_ptr<const User>> users_;  // one per world
};

// Does all runs of all simulations, run 0 of each first, and summarises each simulation. The result
// does not depend on threads and device, except its times; the other options are not read. `runs`,
// if given, gets every run's record, one vector per simulation.
PLACKETT_EXPORT Result<std::vector<CellSummary>> run_all(
    const std::vector<Simulation>& simulations, const RunOptions& options,
    std::vector<std::vector<RunRecord>>* runs = nullptr);
// The same on `threads` threads.
PLACKETT_EXPORT Result<std::vector<CellSummary>> run_all(
    const std::vector<Simulation>& simulations, unsigned threads, const Watch& watch,
    std::vector<std::vector<RunRecord>>* runs = nullptr);

// What tables show of a simulation with these runs; the spec's label may be empty.
PLACKETT_EXPORT CellSummary summarise(const SimulationSpec& spec, const std::string& dataset_name,
                                      const std::vector<RunRecord>& records);

// Of these values; both 0 if there are none.
PLACKETT_EXPORT Moments moments(const std::vector<double>& values);

}  // namespace plackett
