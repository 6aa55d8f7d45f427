#include "serving/promotion.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serving/warm_start.h"

namespace plackett::serving {
namespace {

// Ends it and keeps the last sums. What is served then is the caller's to log.
void end(Transaction& transaction, StoredExperiment& stored, std::string because) {
  stored.row.ended_at = transaction.now;
  stored.state.ended_because = std::move(because);
  take(transaction.write_arms());
  take(transaction.store.add_arm_point(stored.row.id, transaction.now));
  transaction.ended.insert(stored.row.id);
  write_state(transaction, stored);
}

// For undo, before the arm is served: what requests without a mode get outside of the test, which
// starting a test does not change.
void keep_what_is_served(Transaction& transaction, const Model& model, StoredExperiment& stored,
                         const ArmSpec& arm) {
  const auto version = model.publication.latest();
  // Also where the arm is the model itself, which learns on. Not at an entry of the log, so not one
  // that replay compares.
  const std::int64_t snapshot =
      insert_imported(transaction, model, saved_model(model.spec, *version),
                      fmt::format("before {} of {} was promoted", arm.name, stored.spec.name));
  stored.state.promoted = arm.name;
  stored.state.before = ExperimentState::Before{.serves = version->serves, .snapshot = snapshot};
  stored.state.promotion = 1 + promotions_of(experiments_of(model, transaction.store.read())).last;
}

// A job that changes an experiment and answers with it.
Job changing_job(const Service& service, const ModelHandle& model, std::string name,
                 std::function<void(Transaction&, StoredExperiment&)> change,
                 std::function<void()> committed, Done<ExperimentInfo> done) {
  return {.apply =
              [model, name, change = std::move(change)](Transaction& transaction) {
                if (model->removed) throw Failed{model_removed()};
                transaction.lead(model);
                transaction.change(model);
                StoredExperiment stored = find_experiment(*model, name, transaction.store.read());
                change(transaction, stored);
              },
          .committed = std::move(committed),
          .answer =
              [&service, model, name, done = std::move(done)](const Result<void>& settled) {
                done(settled ? service.experiment(*model, name) : settled.error());
              },
          .touched = {.models = {model->id}}};
}

}  // namespace

Promotions promotions_of(const std::vector<ExperimentRow>& rows) {
  Promotions all;
  for (const ExperimentRow& row : rows) {
    if (row.ended_at == 0) {
      all.none_now = fmt::format("experiment \"{}\" runs; stop it first", row.name);
    }
    if (const auto state = parse_experiment_state(row.state)) {
      all.last = std::max(all.last, state->promotion);
    }
  }
  return all;
}

std::string undo_refusal(const StoredExperiment& stored, const Promotions& all) {
  if (stored.state.promoted.empty() || !stored.state.before) {
    return fmt::format("experiment \"{}\" has no promotion to undo", stored.spec.name);
  }
  if (!all.none_now.empty()) return all.none_now;
  if (stored.state.promotion != all.last) {
    return "another experiment was promoted later; undo that first";
  }
  return {};
}

void log_served(Transaction& transaction, const ModelHandle& model, Mode mode,
                std::int64_t snapshot) {
  const LogKind kind = mode == Mode::kGiven     ? LogKind::kServeGiven
                       : mode == Mode::kExploit ? LogKind::kServeExploit
                                                : LogKind::kServeExplore;
  take(transaction.log(model, kind, snapshot));
}

Result<SavedModel> promotable(const Model& model, const Model& maker) {
  // What is served then must be what was tested.
  if (maker.spec.temperature != model.spec.temperature) {
    return Error{
        ErrorCode::kConflict,
        fmt::format("the temperature of model \"{}\" is {}; that of \"{}\" is {}", maker.spec.name,
                    maker.spec.temperature, model.spec.name, model.spec.temperature)};
  }
  return adapted(model.spec, saved_model(maker.spec, *maker.publication.latest()));
}

void stop_in(Transaction& transaction, StoredExperiment& stored, std::string because) {
  end(transaction, stored, std::move(because));
}

void refuse_unlearned(const Model& model, StoreReader& store) {
  constexpr std::uint32_t kMost = 10'000;
  const auto entries = take(store.log(model.id, model.publication.latest()->log, kMost));
  const auto matters = [](const LogEntry& entry) {
    return entry.kind == LogKind::kRollback || entry.kind == LogKind::kServeExplore ||
           entry.kind == LogKind::kServeGiven || entry.kind == LogKind::kServeExploit;
  };
  if (entries.size() < kMost && std::none_of(entries.begin(), entries.end(), matters)) return;
  throw Failed{{ErrorCode::kBusy, "the model is being changed by another request; try again"}};
}

void fall_back_in(Transaction& transaction, const ModelHandle& model, StoredExperiment& stored,
                  std::string because) {
  const ArmSpec& baseline = stored.spec.arms[stored.spec.baseline];
  const Mode serves = model->publication.latest()->serves;
  // An interleaved arm is sorted by score: serving it would end what the model learns.
  const bool is_model = maker_name(*model, stored.spec, baseline) == model->spec.name;
  if (stored.spec.design == Design::kInterleave && is_model && serves == Mode::kExplore) {
    return end(transaction, stored, std::move(because));
  }
  if (serves != baseline.mode) {
    keep_what_is_served(transaction, *model, stored, baseline);
  }
  end(transaction, stored, std::move(because));
  log_served(transaction, model, baseline.mode, 0);
}

void promote_in(const ServiceParts& parts, Transaction& transaction, const ModelHandle& model,
                StoredExperiment& stored, const ArmSpec& arm, const std::string& because) {
  refuse_unlearned(*model, transaction.store.read());
  const bool runs = stored.row.ended_at == 0;
  std::int64_t winner = 0;
  const std::string name = maker_name(*model, stored.spec, arm);
  if (!name.empty() && name != model->spec.name) {
    const ModelHandle maker = find_maker(parts, *model, stored, arm);
    if (maker == nullptr) {
      refuse_conflict(fmt::format("model \"{}\" of the arm was removed", name), "arm");
    }
    auto loaded = promotable(*model, *maker);
    if (!loaded) refuse_conflict(loaded.error().message, "arm");
    winner = insert_imported(transaction, *model, *loaded,
                             fmt::format("{} of {}, promoted", arm.name, stored.spec.name));
  }
  keep_what_is_served(transaction, *model, stored, arm);
  if (runs) {
    end(transaction, stored, because);
  } else {
    write_state(transaction, stored);
  }
  log_served(transaction, model, arm.mode, winner);
}

void Service::stop_experiment(const ModelHandle& model, std::string name,
                              Done<ExperimentInfo> done) {
  auto id = std::make_shared<std::int64_t>(0);
  const auto change = [model, id](Transaction& transaction, StoredExperiment& stored) {
    if (stored.row.ended_at != 0) return;
    *id = stored.row.id;
    stop_in(transaction, stored, "asked");
  };
  with_lead(*parts_, model, done, [this, model, name = std::move(name), change, id, done] {
    parts_->writer->submit(changing_job(
        *this, model, name, change, [this, model, id] { withdraw(*parts_, *model, *id); }, done));
  });
}

void Service::promote(const ModelHandle& model, std::string name, std::string arm,
                      Done<ExperimentInfo> done) {
  auto id = std::make_shared<std::int64_t>(0);
  const auto change = [this, model, arm = std::move(arm), id](Transaction& transaction,
                                                              StoredExperiment& stored) {
    const auto found = std::find_if(stored.spec.arms.begin(), stored.spec.arms.end(),
                                    [&](const ArmSpec& one) { return one.name == arm; });
    if (found == stored.spec.arms.end()) {
      throw Failed{{ErrorCode::kInvalid, fmt::format("unknown arm \"{}\"", arm), "arm"}};
    }
    if (!stored.state.promoted.empty()) {
      refuse_conflict(
          fmt::format("\"{}\" is promoted already; undo that first", stored.state.promoted));
    }
    if (stored.row.ended_at != 0) {
      const auto why = promotions_of(experiments_of(*model, transaction.store.read())).none_now;
      if (!why.empty()) refuse_conflict(why);
    }
    *id = stored.row.id;
    promote_in(*parts_, transaction, model, stored, *found, "promoted by request");
  };
  with_lead(*parts_, model, done, [this, model, name = std::move(name), change, id, done] {
    parts_->writer->submit(changing_job(
        *this, model, name, change, [this, model, id] { withdraw(*parts_, *model, *id); }, done));
  });
}

void Service::undo_promotion(const ModelHandle& model, std::string name,
                             Done<ExperimentInfo> done) {
  const auto change = [model](Transaction& transaction, StoredExperiment& stored) {
    const auto why =
        undo_refusal(stored, promotions_of(experiments_of(*model, transaction.store.read())));
    if (!why.empty()) refuse_conflict(why);
    const ExperimentState::Before before = *stored.state.before;
    stored.state.ended_because += fmt::format("; promotion of {} undone", stored.state.promoted);
    stored.state.promoted.clear();
    stored.state.before.reset();
    stored.state.promotion = 0;
    write_state(transaction, stored);
    log_served(transaction, model, before.serves, before.snapshot);
  };
  with_lead(*parts_, model, done, [this, model, name = std::move(name), change, done] {
    parts_->writer->submit(changing_job(*this, model, name, change, {}, done));
  });
}

}  // namespace plackett::serving
