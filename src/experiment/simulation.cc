#include "plackett/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "evaluation/online_performance.h"
#include "experiment/backend.h"
#include "experiment/curve.h"
#include "experiment/drift_measures.h"
#include "experiment/method_rules.h"
#include "experiment/run_inputs.h"
#include "experiment/world.h"
#include "plackett/make_user.h"
#include "plackett/method.h"
#include "plackett/options.h"
#include "plackett/simulate.h"

namespace plackett {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kProgressEvery = 1024;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Query draw_query(const SimulationSpec& spec, std::uint32_t run, std::uint64_t impression,
                 std::uint32_t query_count) {
  Rng rng({spec.seed, run, impression, Purpose::kQuery});
  return Query{rng.below(query_count)};
}

Result<std::unique_ptr<Learner>> make_run_learner(const SimulationSpec& spec, const Fold& fold,
                                                  std::uint32_t run) {
  RankerSpec ranker_spec = spec.ranker;
  ranker_spec.feature_count = fold.train.feature_count();
  ranker_spec.initialisation = rules_of(spec.protocol).initialisation;
  Rng rng({spec.seed, run, 0, Purpose::kInitialise});
  auto ranker = make_ranker(ranker_spec, rng);
  if (!ranker) return ranker.error();
  return make_learner(spec.method, std::move(ranker).value(), method_rules(spec, run),
                      spec.settings);
}

// Null if the fold has none.
const Split* split_of(const Fold& fold, MeasuredSplit split) {
  if (split == MeasuredSplit::kTest) return &fold.test;
  return fold.validation ? &*fold.validation : nullptr;
}

// What offline performance is measured on, in every state of the worlds.
std::vector<Split> measured_splits(const Worlds& worlds, MeasuredSplit split) {
  std::vector<Split> splits;
  for (std::size_t at = 0; at < worlds.state_count(); ++at) {
    splits.push_back(*split_of(worlds.state(at).fold, split));
  }
  return splits;
}

// Requires: a checked spec.
std::vector<Metric> metrics_of(const SimulationSpec& spec) {
  std::vector<Metric> metrics;
  for (const std::string& name : spec.metrics) metrics.push_back(parse_metric(name).value());
  return metrics;
}

// Fails if the parts of a dataset, which a caller may have built, don't fit together.
// "MQ2007 Fold1", or "data" where the only fold has the dataset's name.
std::string place(const std::string& dataset, const Fold& fold) {
  return fold.name == dataset ? dataset : fmt::format("{} {}", dataset, fold.name);
}

Result<void> check_folds(const Dataset& dataset) {
  if (dataset.folds.empty())
    return Error{fmt::format("{}: no folds; expected at least 1", dataset.name)};
  if (dataset.max_label > kMaxLabel) {
    return Error{fmt::format("{}: largest label {}; labels are 0 to {}", dataset.name,
                             dataset.max_label, kMaxLabel)};
  }
  for (const Fold& fold : dataset.folds) {
    if (fold.test.feature_count() != fold.train.feature_count()) {
      return Error{fmt::format("{}: {} test features, {} training features; they must be the same",
                               place(dataset.name, fold), fold.test.feature_count(),
                               fold.train.feature_count())};
    }
    for (const Split* split : {&fold.train, &fold.test}) {
      const std::uint8_t* labels = split->storage().labels;
      for (std::uint64_t doc = 0; doc < split->doc_count(); ++doc) {
        if (labels[doc] <= dataset.max_label) continue;
        return Error{fmt::format("{}: label {}; the dataset's largest is {}",
                                 place(dataset.name, fold), labels[doc], dataset.max_label)};
      }
    }
  }
  return {};
}

Result<std::shared_ptr<const User>> user_called(const std::string& click_model,
                                                const Dataset& dataset,
                                                const SimulationSpec& spec) {
  UserOptions options;
  options.grade_count = dataset.grade_count();
  options.stop_rule = rules_of(spec.protocol).stop_rule;
  options.eta = spec.eta;
  auto user = make_user(click_model, options);
  if (!user) return user.error();
  return std::shared_ptr<const User>(std::move(user).value());
}

Result<std::shared_ptr<const User>> user_of(const Dataset& dataset, const SimulationSpec& spec) {
  if (spec.user == nullptr) return user_called(spec.click_model, dataset, spec);
  if (spec.user->name().empty()) return Error{"a user of your own needs a name"};
  if (spec.user->grade_count() <= dataset.max_label) {
    return Error{fmt::format("user \"{}\" knows {} grades; {} has labels up to {}",
                             spec.user->name(), spec.user->grade_count(), dataset.name,
                             dataset.max_label)};
  }
  return spec.user;
}

}  // namespace

Result<std::unique_ptr<Learner>> RunInputs::learner(std::uint32_t run) const {
  return make_run_learner(simulation_.spec_, simulation_.worlds_->fold_of(run), run);
}

std::uint32_t RunInputs::fold_count() const {
  return static_cast<std::uint32_t>(simulation_.worlds_->fold_count());
}

const Fold& RunInputs::loaded_fold(std::uint32_t run) const {
  return simulation_.worlds_->fold_of(run);
}

const Split& RunInputs::measured(const Fold& fold) const {
  return *split_of(fold, simulation_.spec_.split);
}

std::uint32_t RunInputs::fold(std::uint32_t run) const { return run % fold_count(); }

Result<void> check_simulation(const SimulationSpec& spec) {
  if (auto valid = check_options(simulation_options(), spec); !valid) return valid;
  if (spec.learning_rate_decay > 1) {
    return Error{
        fmt::format("learning-rate-decay: {}; expected at most 1", spec.learning_rate_decay)};
  }
  return check_drifts(spec.drift, spec.impressions);
}

Result<Simulation> Simulation::prepare(const Dataset& dataset, const SimulationSpec& spec,
                                       const Simulation* alike) {
  if (auto valid = check_simulation(spec); !valid) return valid.error();
  if (auto valid = check_folds(dataset); !valid) return valid.error();
  Simulation simulation;
  simulation.spec_ = spec;
  simulation.dataset_name_ = dataset.name;
  simulation.max_label_ = dataset.max_label;

  auto user = user_of(dataset, spec);
  if (!user) return user.error();
  simulation.users_.push_back(std::move(user).value());
  simulation.spec_.click_model = simulation.users_.front()->name();
  for (std::size_t at = 0; at < spec.drift.size(); ++at) {
    simulation.users_.push_back(simulation.users_.back());
    if (spec.drift[at].of != DriftOf::kUsers) continue;
    auto next = user_called(spec.drift[at].click_model, dataset, spec);
    if (!next) return next.error().in(fmt::format("drift {}", at + 1));
    simulation.users_.back() = std::move(next).value();
  }

  for (const Fold& fold : dataset.folds) {
    if (fold.train.query_count() == 0) {
      return Error{fmt::format("{}: no training queries", place(dataset.name, fold))};
    }
    if (fold.train.feature_count() == 0) {
      return Error{fmt::format("{}: no feature varies over the training queries",
                               place(dataset.name, fold))};
    }
    if ((spec.split == MeasuredSplit::kValidation || spec.validate) && !fold.validation) {
      return Error{fmt::format("{}: no validation queries, which split and select need",
                               place(dataset.name, fold))};
    }
  }
  if (auto valid = check_feature_ids(dataset, spec.drift); !valid) return valid.error();
  const bool is_alike =
      alike != nullptr && alike->spec_.drift == spec.drift && alike->spec_.seed == spec.seed;
  simulation.worlds_ =
      is_alike ? alike->worlds_ : std::make_shared<WorldsByRun>(dataset, spec.drift, spec.seed);
  // Worlds that differ between runs are checked when a run needs them, but for the first.
  const std::size_t known = is_drawn(spec.drift) ? 1 : dataset.folds.size();
  for (std::uint32_t run = 0; run < known; ++run) {
    if (auto worlds = simulation.worlds_of(run); !worlds) return worlds.error();
  }
  if (simulation.spec_.label.empty()) simulation.spec_.label = label_of(spec);
  // Finds an invalid method, ranker or setting now rather than in a thread.
  if (auto learner = make_run_learner(spec, dataset.folds.front(), 0); !learner) {
    return learner.error();
  }
  return simulation;
}

Error Simulation::not_finite(std::uint32_t run, std::uint64_t impressions) const {
  return Error{fmt::format(
      "{} {} under {}: run {}: a score is not finite after {} impressions; a smaller learning "
      "rate or scaled features may help",
      spec_.method, name_of(spec_.ranker.kind), spec_.click_model, run, impressions)};
}

Result<std::shared_ptr<const Worlds>> Simulation::worlds_of(std::uint32_t run) const {
  auto worlds = worlds_->of(run);
  if (!worlds || spec_.no_relevant != NoRelevant::kSkip) return worlds;
  for (const Split& measured : measured_splits(**worlds, spec_.split)) {
    if (describe(measured, max_label_).queries_without_relevant < measured.query_count()) continue;
    return Error{fmt::format(
        "{}: no {} query has a relevant document{}, so there is nothing to measure; no-relevant "
        "zero or one counts such queries",
        place(dataset_name_, worlds_->fold_of(run)), name_of(spec_.split),
        spec_.drift.empty() ? "" : fmt::format(" in one of the worlds of run {}", run))};
  }
  return worlds;
}

Result<RunRecord> Simulation::run(std::uint32_t run, const Watch& watch) const {
  if (watch.run_started) watch.run_started(spec_);
  const auto held = worlds_of(run);
  if (!held) return held.error();
  const Worlds& worlds = **held;
  const auto start = Clock::now();  // other runs share the worlds
  auto made = make_run_learner(spec_, worlds_->fold_of(run), run);
  if (!made) return made.error();
  std::unique_ptr<Learner> learner = std::move(made).value();
  Curve::Options options{.seed = spec_.seed,
                         .run = run,
                         .points = curve_points(spec_),
                         .no_relevant = spec_.no_relevant,
                         .metrics = metrics_of(spec_),
                         .max_label = max_label_};
  Curve curve(measured_splits(worlds, spec_.split), options);
  WindowMeans windows(spec_.impressions);
  auto learned = learn(run, *learner, {&curve, spec_.drift.empty() ? nullptr : &windows}, watch);
  if (!learned) return learned.error();
  RunRecord record;
  record.run = run;
  record.fold = RunInputs(*this).fold(run);
  record.curve = curve.points();
  record.metrics = curve.metrics();
  record.windows = windows.windows();
  if (!spec_.drift.empty()) record.restarts = learner->restarts();
  record.evaluation_seconds = curve.seconds();
  if (spec_.validate) {
    options.metrics.clear();
    Curve validation(measured_splits(worlds, MeasuredSplit::kValidation), options);
    std::vector<double> weights(worlds.state_count());
    worlds.weigh(spec_.impressions - 1, weights);
    const Curve::Moment end{spec_.impressions, 0, weights};
    validation.measure(end, learner->ranker(), watch.stop);
    if (auto valid = finish(run, validation, watch); !valid) return valid.error();
    record.validation = validation.points().front().offline;
    record.evaluation_seconds += validation.seconds();
  }
  record.seconds = seconds_since(start);
  if (watch.run_done) watch.run_done();
  if (watch.learned) watch.learned(run, std::move(learner));
  return record;
}

Result<void> Simulation::learn(std::uint32_t run, Learner& learner, const Measuring& measuring,
                               const Watch& watch) const {
  const auto [curve, windows] = measuring;
  const auto held = worlds_->of(run);
  if (!held) return held.error();
  const Worlds& worlds = **held;
  OnlinePerformance online;
  Ranking ranking;
  std::vector<std::uint8_t> clicks;
  std::vector<double> weights(worlds.state_count());  // of the curve's points
  for (std::uint64_t impression = 0; impression < spec_.impressions; ++impression) {
    if (watch.stop && watch.stop()) return Error{ErrorCode::kStopped, "stopped"};
    Rng world_rng({spec_.seed, run, impression, Purpose::kWorld});
    const std::size_t world = worlds.draw(world_rng, impression);
    const WorldFold& fold = worlds.state(worlds.state_of(world));
    const Split& train = fold.fold.train;
    const Query query = draw_query(spec_, run, impression, train.query_count());
    const FeatureView docs = train.features(query);
    const Judgments judgments = train.judgments(query);

    Rng ranking_rng({spec_.seed, run, impression, Purpose::kRanking});
    if (!learner.rank(docs, ranking_rng, ranking)) {
      // An earlier point of the curve may have seen such a score already.
      if (curve != nullptr) {
        if (auto valid = finish(run, *curve, watch); !valid) return valid;
      }
      return not_finite(run, impression);
    }

    clicks.resize(ranking.shown.size());
    Rng click_rng({spec_.seed, run, impression, Purpose::kClicks});
    users_[world]->click(ranking.shown, judgments, click_rng, clicks);
    const double ndcg = fold.train_ndcg.ndcg(query, judgments, ranking.shown);
    online.add(ndcg);
    if (windows != nullptr) windows->add(ndcg, fold.best[index(query)]);
    learner.learn(docs, ranking, clicks);

    const std::uint64_t done = impression + 1;
    if (curve != nullptr && curve->due(done)) {
      worlds.weigh(impression, weights);
      curve->measure({done, online.total(), weights}, learner.ranker(), watch.stop);
      if (watch.stop && watch.stop()) return Error{ErrorCode::kStopped, "stopped"};
      // A point that is still kept may be the first.
      if (curve->not_finite()) return finish(run, *curve, watch);
    }
    if (watch.advanced && done % kProgressEvery == 0) watch.advanced(kProgressEvery);
  }
  if (curve != nullptr) {
    if (auto valid = finish(run, *curve, watch); !valid) return valid;
  }
  if (watch.advanced) watch.advanced(spec_.impressions % kProgressEvery);
  return {};
}

Result<void> Simulation::finish(std::uint32_t run, Curve& curve, const Watch& watch) const {
  curve.finish(watch.stop);
  if (watch.stop && watch.stop()) return Error{ErrorCode::kStopped, "stopped"};
  if (const auto at = curve.not_finite()) return not_finite(run, *at);
  return {};
}

SavedModel Simulation::saved_model(std::uint32_t run, Learner& learner) const {
  const Fold& fold = worlds_->fold_of(run);
  SavedModel model;
  model.ranker = spec_.ranker;
  model.ranker.feature_count = fold.train.feature_count();
  model.feature_ids = fold.feature_ids;
  model.scaling = name_of(fold.scaling);
  model.parameters.resize(learner.ranker().parameter_count());
  learner.ranker().get_parameters(model.parameters);
  model.learner = learner.state();
  model.learner.impressions = spec_.impressions;
  model.settings = saved_settings(spec_.method, spec_.settings);
  return model;
}

Result<RunCost> Simulation::cost(double seconds) const {
  const auto worlds = worlds_->of(0);
  if (!worlds) return worlds.error();
  auto made = make_run_learner(spec_, worlds_->fold_of(0), 0);
  if (!made) return made.error();
  const auto start = Clock::now();
  std::uint64_t impressions = 0;
  Watch watch;
  watch.stop = [&] { return impressions++ > 0 && seconds_since(start) > seconds; };
  auto learned = learn(0, *made.value(), {}, watch);
  if (!learned && learned.error().code != ErrorCode::kStopped) return learned.error();
  RunCost cost;
  cost.impression_seconds =
      seconds_since(start) / static_cast<double>(learned ? spec_.impressions : impressions - 1);
  const std::vector<std::uint64_t> points = curve_points(spec_);
  Curve curve(measured_splits(**worlds, spec_.split),
              {.seed = spec_.seed, .points = points, .no_relevant = spec_.no_relevant});
  std::vector<double> weights((*worlds)->state_count());
  (*worlds)->weigh(0, weights);
  Ranker& ranker = made.value()->ranker();
  // As many points as share a pass over the queries.
  const std::size_t count = Curve::keeps(ranker) ? std::min(points.size(), Curve::kMostPoints) : 1;
  for (std::size_t point = 0; point < count; ++point) curve.measure({1, 0, weights}, ranker, {});
  curve.finish({});
  cost.evaluation_seconds = curve.seconds() / static_cast<double>(count);
  return cost;
}

Result<std::vector<CellSummary>> run_all(const std::vector<Simulation>& simulations,
                                         const RunOptions& options,
                                         std::vector<std::vector<RunRecord>>* runs) {
  const Watch& watch = options.watch;
  const auto start = Clock::now();
  std::vector<std::vector<RunRecord>> records(simulations.size());
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    records[at].resize(simulations[at].spec().runs);
  }
  const auto backend = make_backend(options);
  if (!backend) return backend.error();
  const Finished keep = [&records](const Job& job, RunRecord record) -> Result<void> {
    records[job.simulation][job.run] = std::move(record);
    return {};
  };
  const std::vector<Job> jobs = run_major(simulations);
  if (auto done = run_jobs({simulations, jobs}, **backend, watch, keep); !done) return done.error();
  if (watch.stop && watch.stop()) return Error{ErrorCode::kStopped, "stopped"};

  const double wall = seconds_since(start);
  double total_seconds = 0;
  std::vector<CellSummary> cells;
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    cells.push_back(simulations[at].summarise(records[at]));
    total_seconds += cells.back().seconds;
  }
  // Runs of several cells overlap: a cell's share of the wall time is its share of the work.
  for (CellSummary& cell : cells) {
    cell.seconds = total_seconds > 0 ? wall * cell.seconds / total_seconds : 0;
    const double impressions = static_cast<double>(cell.impressions) * cell.runs;
    cell.impressions_per_second = cell.seconds > 0 ? impressions / cell.seconds : 0;
  }
  if (runs != nullptr) *runs = std::move(records);
  return cells;
}

Result<std::vector<CellSummary>> run_all(const std::vector<Simulation>& simulations,
                                         unsigned threads, const Watch& watch,
                                         std::vector<std::vector<RunRecord>>* runs) {
  return run_all(simulations, RunOptions{.threads = threads, .watch = watch}, runs);
}

Result<Simulated> simulate(const Dataset& dataset, const SimulationSpec& spec,
                           const RunOptions& options) {
  auto prepared = Simulation::prepare(dataset, spec);
  if (!prepared) return prepared.error();
  const std::vector<Simulation> simulations{std::move(prepared).value()};
  Simulated simulated;
  RunOptions watched = options;
  watched.watch.learned = [&simulated](std::uint32_t run, std::unique_ptr<Learner> learner) {
    if (run == 0) simulated.learner = std::move(learner);  // one thread alone does run 0
  };
  std::vector<std::vector<RunRecord>> records;
  auto cells = run_all(simulations, watched, &records);
  if (!cells) return cells.error();
  simulated.model = simulations.front().saved_model(0, *simulated.learner);
  simulated.runs = std::move(records.front());
  simulated.summary = std::move(cells.value().front());
  return simulated;
}

}  // namespace plackett
