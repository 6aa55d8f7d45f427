// One method learning from one kind of simulated user: the only place where users, who know
// the labels, and learners, who must not, meet.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/learner.h"
#include "plackett/model_file.h"
#include "plackett/ndcg.h"
#include "plackett/no_relevant.h"
#include "plackett/protocol.h"
#include "plackett/ranker_spec.h"
#include "plackett/record.h"
#include "plackett/result.h"
#include "plackett/setting.h"
#include "plackett/user.h"

namespace plackett {

class Curve;

// More than any run needs; random streams are numbered below 2^56.
inline constexpr std::uint64_t kMaxImpressions = 1'000'000'000'000;
// More than any test of significance needs.
inline constexpr std::uint32_t kMaxRuns = 1'000'000;
// Pair weights cost O(shown^3) at worst.
inline constexpr std::uint32_t kMaxShown = 100;

// One experiment as plain data; Simulation::prepare checks it.
struct SimulationSpec {
  std::string method = "pdgd";  // by its name
  RankerSpec ranker = {};       // feature_count and initialisation are set from fold and protocol
  std::string click_model = "perfect";       // as make_user takes it
  Protocol protocol = Protocol::kDescribed;  // which of the published ways are followed
  std::uint32_t runs = 25;                   // they go round the folds
  std::uint64_t impressions = 10'000;        // a run
  std::uint64_t seed = 1;                    // of all randomness
  std::uint32_t shown = 10;                  // documents shown an impression
  std::vector<GivenSetting> settings = {};   // of the method
  std::string label = {};             // in tables; made from method, ranker, settings if empty
  std::optional<bool> baseline = {};  // others are tested against it; the method's own if absent
  double eta = 1;                     // position-based users: examination is 1 / rank^eta
  // What queries without a relevant document count.
  NoRelevant no_relevant = NoRelevant::kSkip;
  // A user of your own in place of the click model, which is then called as it calls itself. All
  // runs share it, several threads at once.
  std::shared_ptr<const User> user = nullptr;
};

// "PDGD (linear)", "MGD (linear, candidates 9)": the label of a spec that has none.
PLACKETT_EXPORT std::string label_of(const SimulationSpec& spec);

// Told how far the work is, from whatever threads do it, at the same time where there are several;
// any of the calls may be absent.
struct Watch {
  // A run begins.
  std::function<void(const SimulationSpec& spec)> run_started = {};
  // Impressions since the last call: often enough for a progress bar, rarely enough to cost
  // nothing.
  std::function<void(std::uint64_t impressions)> advanced = {};
  // A run is finished.
  std::function<void()> run_done = {};
  // The learner of a finished run, for whoever wants to keep it.
  std::function<void(std::uint32_t run, std::unique_ptr<Learner> learner)> learned = {};
  // Asked before every impression; once it says true the run ends as soon as it can.
  std::function<bool()> stop = {};
};

// The whole message of the error with which a run ends that was told to stop.
inline constexpr std::string_view kStopped = "stopped";

// What a run costs in wall time, on the thread that measured it.
struct RunCost {
  double impression_seconds = 0;  // for one impression
  double evaluation_seconds = 0;  // for one point of the curve
};

// A spec checked against its data and made ready. Immutable: any number of threads may run its
// runs. Shares the dataset's memory.
class PLACKETT_EXPORT Simulation {
 public:
  // Checks the spec against the data. Fails on unknown names, numbers out of bounds, a click model
  // without a table for the data's grades, and a ranker that the method can't work with; the errors
  // name what is allowed.
  static Result<Simulation> prepare(const Dataset& dataset, const SimulationSpec& spec);

  // As prepared: the label filled in, and the click model by its user's name.
  [[nodiscard]] const SimulationSpec& spec() const { return spec_; }

  // Runs one run from its beginning: a function of (dataset, spec, run) alone, to the bit. Runs
  // go round the folds. Fails where learning leaves the range of numbers.
  Result<RunRecord> run(std::uint32_t run, const Watch& watch) const;

  // What the learner of a finished run learned, as the spec's ranker: for a ranker of the method's
  // own it is no model, though only another number of parameters is refused. Changes nothing.
  // Requires: `learner` is as Watch::learned gave it for that run.
  [[nodiscard]] SavedModel saved_model(std::uint32_t run, Learner& learner) const;

  // Learns for about `seconds` from the beginning of run 0, and measures one point of the curve.
  [[nodiscard]] Result<RunCost> cost(double seconds) const;

  // What tables know of these runs of it.
  [[nodiscard]] CellSummary summarise(const std::vector<RunRecord>& records) const;

 private:
  Simulation() = default;
  // All impressions of a run; `curve` may be null.
  Result<void> learn(std::uint32_t run, Learner& learner, Curve* curve, const Watch& watch) const;
  [[nodiscard]] Error not_finite(std::uint32_t run, std::uint64_t impressions) const;

  SimulationSpec spec_;
  std::string dataset_name_;
  std::vector<Fold> folds_;
  std::vector<std::shared_ptr<const NdcgTable>> train_ndcg_;  // a fold
  std::shared_ptr<const User> user_;
};

// Runs all runs of all simulations over `threads` threads, run 0 of each first, and summarises
// each simulation. The result does not depend on `threads`, its times apart. `runs`, where given,
// gets every run's record, a vector a simulation.
PLACKETT_EXPORT Result<std::vector<CellSummary>> run_all(
    const std::vector<Simulation>& simulations, unsigned threads, const Watch& watch,
    std::vector<std::vector<RunRecord>>* runs = nullptr);

// What tables know of a simulation whose runs are `records`; the spec's label may be empty.
PLACKETT_EXPORT CellSummary summarise(const SimulationSpec& spec, const std::string& dataset_name,
                                      const std::vector<RunRecord>& records);

// Of these values; both 0 where there are none.
PLACKETT_EXPORT Moments moments(const std::vector<double>& values);

}  // namespace plackett
