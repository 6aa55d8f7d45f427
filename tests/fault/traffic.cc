#include "traffic.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <thread>

#include "plackett/rng.h"
#include "serving/experiment_spec.h"
#include "serving/served.h"

namespace plackett::testing {
namespace {

using serving::Created;
using serving::EventKind;
using serving::ExperimentInfo;
using serving::ExperimentSpec;
using serving::FeedbackEvent;
using serving::FeedbackStatus;
using serving::Mode;
using serving::ModelHandle;
using serving::Ranked;
using serving::RankRequest;
using serving::Service;
using serving::SnapshotRow;
using serving::wait_for;

constexpr std::uint32_t kDocs = 12;
constexpr std::uint32_t kFeatures = 5;
constexpr std::array<const char*, 2> kModels = {"linear", "network"};

class Client {
 public:
  Client(Service& service, const TrafficOptions& options, std::uint32_t thread)
      : service_(service),
        options_(options),
        name_(options.name + "-" + std::to_string(thread)),
        rng_({options.seed, thread, 0, Purpose::kTest}),
        scratch_(service.make_scratch()),
        candidates_(kDocs, kFeatures, options.seed) {
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) docs_.push_back(std::to_string(doc));
  }

  Story run() {
    for (std::uint32_t step = 0; step < options_.steps && !options_.over(); ++step) {
      const std::uint32_t what = rng_.below(100);
      if (what < 2) {
        options_.between();
      } else if (what < 4) {
        take_snapshot();
      } else if (what < 5 && !story_.snapshots.empty()) {
        roll_back();
      } else if (what < 8) {
        show_and_forget();
      } else if (what < 11) {
        put_items();
      } else if (what < 12) {
        vacuum();
      } else if (what < 17) {
        change_experiments();
      } else if (what < 18) {
        change_logging();
      } else if (what < 20 && options_.loads) {
        load();
      } else if (what < 59 || open_.empty()) {
        rank();
      } else {
        give_feedback();
      }
    }
    return std::move(story_);
  }

 private:
  struct Open {
    std::string model;
    Ranked ranked;
  };

  ModelHandle a_model() { return service_.find(kModels[rng_.below(kModels.size())]); }
  std::string next_id() { return name_ + "-" + std::to_string(++ids_); }
  template <typename T>
  bool refused(const Result<T>& answer) {
    if (!answer) story_.refusals.push_back(answer.error());
    return !answer;
  }

  // All documents; half of the lists take stored ones where they can.
  RankRequest a_request() {
    RankRequest request;
    request.items.assign(docs_.begin(), docs_.end());
    const bool stored = items_there_ && rng_.below(2) == 0;
    request.given.assign(kDocs, stored ? 0 : 1);
    request.blocked.assign(kDocs, 0);
    request.rows = candidates_.rows;
    return request;
  }

  void rank() {
    const ModelHandle model = a_model();
    const std::string given = rng_.below(3) == 0 ? next_id() : "";
    RankRequest request = a_request();
    request.id = given;
    const std::string unit = "unit " + std::to_string(rng_.below(4)) + " of " + name_;
    if (rng_.below(4) != 0) request.unit = unit;
    // Half of the lists are as the experiment, or the last promotion, says.
    if (rng_.below(2) == 0) {
      request.mode =
          std::array{Mode::kExploit, Mode::kGiven, Mode::kExplore}[std::min(rng_.below(8), 2U)];
    }
    auto ranked =
        wait_for<Ranked>([&](auto done) { service_.rank(model, request, *scratch_, done); });
    if (options_.over()) return;
    const std::string& name = spec_of(*model).name;
    if (ranked) {
      story_.answered.emplace_back(name, ranked->impression);
      open_.push_back({name, std::move(*ranked)});
    } else {
      story_.refusals.push_back(ranked.error());
      if (!given.empty()) story_.refused_ranks.emplace_back(name, given);
    }
  }

  void give_feedback() {
    const std::size_t at = rng_.below(static_cast<std::uint32_t>(open_.size()));
    const bool close = rng_.below(4) != 0;
    const Open& open = open_[at];
    const std::uint32_t clicks = rng_.below(3) + (close ? 0 : 1);
    const std::string request = next_id();
    Told told{open.model, {}};
    const std::uint32_t first = rng_.below(5);
    for (std::uint32_t click = 0; click < clicks; ++click) {
      told.events.push_back({open.ranked.impression,
                             docs_[open.ranked.items[(first + 3 * click) % 10].item], "",
                             EventKind::kClick});
    }
    if (rng_.below(4) == 0) {
      told.events.push_back({open.ranked.impression, docs_[open.ranked.items[first].item], "",
                             EventKind::kNamed, "purchase"});
    }
    if (close) told.events.push_back({open.ranked.impression, "", "", EventKind::kClose});
    for (std::size_t event = 0; event < told.events.size(); ++event) {
      told.events[event].event_id =
          request + "/" + std::to_string(told.events.size()) + "/" + std::to_string(event);
    }
    const ModelHandle model = service_.find(open.model);
    const auto answer = wait_for<serving::FeedbackAnswer>(
        [&](auto done) { service_.feedback(model, told.events, done); });
    // Feedback on each impression is sent once, so that all of its events are new.
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    if (options_.over()) return;
    (answer ? story_.acknowledged : story_.refused).push_back(std::move(told));
    if (refused(answer)) return;
    for (const FeedbackStatus status : answer->statuses)
      EXPECT_EQ(status, FeedbackStatus::kAccepted);
  }

  void show_and_forget() {
    const ModelHandle model = a_model();
    const std::string unit = next_id();
    RankRequest request = a_request();
    request.unit = unit;
    const auto ranked =
        wait_for<Ranked>([&](auto done) { service_.rank(model, request, *scratch_, done); });
    if (options_.over() || refused(ranked)) return;
    const bool drop = options_.drops && rng_.below(2) == 0;
    const auto count =
        wait_for<std::uint64_t>([&](auto done) { service_.forget_unit(model, unit, drop, done); });
    if (options_.over() || refused(count)) return;
    EXPECT_EQ(*count, 1U);
    story_.forgotten.emplace_back(spec_of(*model).name, unit);
  }

  // A kind of event that nobody sends tells this change from others.
  void change_logging() {
    const ModelHandle model = a_model();
    serving::ModelSpec spec = spec_of(*model);
    const std::string kind = next_id();
    spec.logging = {.candidates = std::array{0.0, 0.5, 1.0}[rng_.below(3)],
                    .events = {{"purchase", 10}, {kind, 1}}};
    const auto changed = wait_for<Created>([&](auto done) { service_.create(spec, done); });
    if (options_.over() || refused(changed)) return;
    std::string& last = kinds_[spec.name];
    if (!last.empty()) story_.replaced_kinds.emplace(spec.name, last);
    last = kind;
  }

  // Weights, or the file of the model or of the linear one.
  void load() {
    const ModelHandle model = a_model();
    const std::string& name = spec_of(*model).name;
    const std::uint32_t what = rng_.below(3);
    const auto loaded = wait_for<serving::ModelInfo>([&](auto done) {
      if (what == 0) {
        std::vector<float> weights(kFeatures);
        for (float& weight : weights) weight = static_cast<float>(rng_.uniform()) - 0.5F;
        return service_.set_weights(model, weights, done);
      }
      const ModelHandle from = what == 1 ? model : service_.find(kModels[0]);
      service_.import_file(name, service_.export_file(*from), {}, done);
    });
    if (!options_.over() && !refused(loaded)) ++story_.loads[name];
  }

  // Starts one, or changes one that is there, whoever started it.
  void change_experiments() {
    const ModelHandle model = a_model();
    const std::string& name = spec_of(*model).name;
    const auto all = service_.experiments(*model);
    if (options_.over() || refused(all)) return;
    if (all->empty() || (all->front().ended_at != 0 && rng_.below(2) == 0)) {
      return start_experiment(model);
    }
    const ExperimentInfo& one =
        (*all)[rng_.below(std::min<std::uint32_t>(3, static_cast<std::uint32_t>(all->size())))];
    const ExperimentName which(name, one.spec.name);
    const auto answered = [&](const auto& answer) {
      if (options_.over()) return false;
      // Other clients change them, and load models, too; and a network is no linear model.
      const bool expected = !answer && (answer.error().code == ErrorCode::kConflict ||
                                        answer.error().code == ErrorCode::kBusy ||
                                        answer.error().code == ErrorCode::kNotFound);
      return !expected && !refused(answer);
    };
    switch (rng_.below(5)) {
      case 0:
      case 1:
        if (answered(wait_for<ExperimentInfo>([&](auto done) {
              service_.promote(model, one.spec.name, one.spec.arms[rng_.below(2)].name, done);
            }))) {
          story_.experiments.ended.insert(which);
          ++story_.experiments.promoted[which];
        }
        break;
      case 2:
        if (answered(wait_for<ExperimentInfo>(
                [&](auto done) { service_.undo_promotion(model, one.spec.name, done); }))) {
          ++story_.experiments.undone[which];
        }
        break;
      case 3:
        if (answered(wait_for<ExperimentInfo>(
                [&](auto done) { service_.stop_experiment(model, one.spec.name, done); }))) {
          story_.experiments.ended.insert(which);
        }
        break;
      default:
        // A snapshot's model goes with its experiment, and takes lists that were answered along.
        if (one.spec.arms[1].policy.starts_with("snapshot:")) return;
        story_.experiments.deleting.insert(which);
        if (answered(wait_for<void>(
                [&](auto done) { service_.delete_experiment(model, one.spec.name, done); }))) {
          story_.experiments.deleted.insert(which);
        }
    }
  }

  void start_experiment(const ModelHandle& model) {
    const std::string& name = spec_of(*model).name;
    ExperimentSpec spec;
    spec.name = next_id();
    spec.metric = static_cast<ValueMetric>(rng_.below(4));
    const bool interleave = rng_.below(3) == 0;
    if (interleave) spec.design = serving::Design::kInterleave;
    const Mode mode = interleave || rng_.below(4) == 0 ? Mode::kExploit : Mode::kExplore;
    const double share = interleave ? 0 : 0.5;
    const bool given = rng_.below(2) == 0;
    spec.arms.push_back({"old", given ? "given" : "model", share, given ? Mode::kGiven : mode});
    std::string policy = given ? "model" : "given";
    constexpr std::size_t kMostModels = 5;
    const auto own = std::find_if(story_.snapshots.begin(), story_.snapshots.end(),
                                  [&](const auto& taken) { return taken.first == name; });
    const bool fork = own != story_.snapshots.end() && service_.models().size() < kMostModels;
    if (fork) {
      policy = "snapshot:" + std::to_string(own->second);
    } else if (rng_.below(2) == 0) {
      policy = std::string("model:") + (name == kModels[0] ? kModels[1] : kModels[0]);
    }
    spec.arms.push_back({"new", policy, share, policy == "given" ? Mode::kGiven : mode});
    const auto started = wait_for<serving::PutExperiment>(
        [&](auto done) { service_.put_experiment(model, spec, done); });
    if (options_.over()) return;
    // Another client may have started one.
    if (!started && started.error().code == ErrorCode::kConflict) return;
    if (refused(started)) return;
    story_.experiments.started.emplace(name, spec.name);
    if (fork) story_.models.push_back(serving::arm_model_name(name, spec.name, "new"));
  }

  void put_items() {
    bool all = true;
    for (const char* name : kModels) {
      const ModelHandle model = service_.find(name);
      const auto stored = wait_for<std::uint64_t>(
          [&](auto done) { service_.put_items(model, docs_, candidates_.rows, done); });
      if (options_.over()) return;
      all = all && !refused(stored);
    }
    items_there_ = items_there_ || all;
  }

  void vacuum() {
    [[maybe_unused]] const auto done =
        wait_for<void>([&](auto answer) { service_.vacuum(answer); });
  }

  void take_snapshot() {
    const ModelHandle model = a_model();
    const auto taken =
        wait_for<SnapshotRow>([&](auto done) { service_.take_snapshot(model, name_, done); });
    if (!options_.over() && !refused(taken)) {
      story_.snapshots.emplace_back(spec_of(*model).name, taken->id);
    }
  }

  void roll_back() {
    const auto& [name, snapshot] =
        story_.snapshots[rng_.below(static_cast<std::uint32_t>(story_.snapshots.size()))];
    const ModelHandle model = service_.find(name);
    const auto done = wait_for<serving::ModelInfo>(
        [&, id = snapshot](auto told) { service_.roll_back(model, id, told); });
    if (!options_.over()) refused(done);
  }

  Service& service_;
  const TrafficOptions& options_;
  std::string name_;
  Rng rng_;
  std::unique_ptr<serving::RankingScratch, void (*)(serving::RankingScratch*)> scratch_;
  serving::Candidates candidates_;
  std::vector<std::string> docs_;
  std::vector<Open> open_;
  std::map<std::string, std::string> kinds_;  // change_logging()'s last, by model
  std::uint64_t ids_ = 0;
  bool items_there_ = false;
  Story story_;
};

template <typename T>
void insert(std::set<T>& to, const std::set<T>& from) {
  to.insert(from.begin(), from.end());
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void Story::add(Story other) {
  append(models, std::move(other.models));
  insert(experiments.started, other.experiments.started);
  insert(experiments.ended, other.experiments.ended);
  insert(experiments.deleting, other.experiments.deleting);
  insert(experiments.deleted, other.experiments.deleted);
  for (const auto& [which, times] : other.experiments.promoted) {
    experiments.promoted[which] += times;
  }
  for (const auto& [which, times] : other.experiments.undone) experiments.undone[which] += times;
  for (const auto& [name, times] : other.loads) loads[name] += times;
  insert(replaced_kinds, other.replaced_kinds);
  append(answered, std::move(other.answered));
  append(refused_ranks, std::move(other.refused_ranks));
  append(acknowledged, std::move(other.acknowledged));
  append(refused, std::move(other.refused));
  append(snapshots, std::move(other.snapshots));
  append(forgotten, std::move(other.forgotten));
  append(refusals, std::move(other.refusals));
}

Result<std::unique_ptr<Service>> open_service(const store::SqliteOptions& store,
                                              std::uint64_t snapshot_every) {
  auto opened = store::open_sqlite(store);
  if (!opened) return opened.error();
  serving::ServiceOptions options;
  options.snapshot_every = snapshot_every;
  return Service::open(*std::move(opened), options);
}

void make_models(Service& service) {
  for (const char* name : kModels) {
    serving::ModelSpec spec = serving::small_spec(name, kFeatures);
    if (std::string_view(name) == "network") {
      spec.ranker.kind = RankerKind::kLinearPlusNeural;
      spec.settings = {{"steps", "adagrad"}};
    }
    spec.logging = {.candidates = 0.5, .events = {{"purchase", 10}}};
    const auto made = wait_for<Created>([&](auto done) { service.create(spec, done); });
    EXPECT_TRUE(made.ok()) << (made ? "" : made.error().message);
  }
}

Story run_traffic(Service& service, const TrafficOptions& options) {
  std::vector<Story> stories(options.threads);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < options.threads; ++thread) {
    threads.emplace_back([&, thread] { stories[thread] = Client(service, options, thread).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  Story all;
  for (Story& story : stories) all.add(std::move(story));
  return all;
}

}  // namespace plackett::testing
