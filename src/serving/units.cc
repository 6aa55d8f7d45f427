// Forgets units, and rewrites the store without what was deleted.
#include <algorithm>
#include <span>
#include <utility>

#include "serving/impression.h"
#include "serving/service_parts.h"
#include "serving/stored_experiment.h"

namespace plackett::serving {
namespace {

// Per transaction, so that other requests don't wait long.
constexpr std::uint32_t kForgottenAtOnce = 500;

// A unit that is being forgotten, over as many transactions as that takes. Whatever ends it early,
// what is left has the unit still, so that the same call again finishes it.
struct Forgetting {
  ServiceParts& parts;
  ModelHandle model;
  std::string unit;
  Done<std::uint64_t> done;
  std::uint64_t end = 0;               // drop: impressions from here on come later
  std::int64_t snapshot = 0;           // drop: the log up to here is replaced by a snapshot
  ModelHandle asked{};                 // if only lists for this model's experiments count
  std::vector<std::int64_t> closed{};  // drop: the impressions that are closed, which go
  // What parts change.
  struct Progress {
    std::uint64_t count = 0;               // impressions so far
    std::uint64_t next = 0;                // the first number that was not looked at yet
    std::size_t closed_count = 0;          // drop: of `closed`, without the part in progress
    std::uint64_t were_open = 0;           // drop: that the part in progress closes
    std::vector<std::uint64_t> dropped{};  // drop: numbers that the part in progress drops
  };
  Progress progress{};
};
using ForgettingHandle = std::shared_ptr<Forgetting>;

// Has the writer do a part; calls `then` with whether there is more.
void submit_part(const ForgettingHandle& state, std::function<bool(Transaction&)> part,
                 std::function<void(bool)> then) {
  Job next = job<bool>(
      [state, part = std::move(part), before = state->progress](Transaction& transaction) {
        if (state->model->removed) throw Failed{model_removed()};
        state->progress = before;
        return part(transaction);
      },
      [state, then = std::move(then)](const Result<bool>& more) {
        if (!more) return state->done(more.error());
        then(*more);
      });
  next.own = state->progress.count > 0;  // what was begun is not refused half way
  next.touched.models = {state->model->id};
  state->parts.writer->submit(std::move(next));
}

void anonymise(Store& store, std::int64_t id) {
  auto row = take(store.read().impression(id));
  if (!row) return;
  auto impression = unpack(*row);
  if (!impression) {
    // Damaged: nobody can read it, but its bytes may have ids.
    return take(store.drop_impression(id));
  }
  // A reference to a stored item is an id, too. If the item is gone, so are the others.
  if (auto found = find_others(store.read(), *impression); !found) {
    if (found.error().code == ErrorCode::kUnavailable) throw Failed{found.error()};
    impression->others.clear();
    impression->other_rows.clear();
    impression->bounds.clear();
    impression->kept = false;
  }
  for (ShownItem& item : impression->shown) item.id.clear();
  for (OtherItem& item : impression->others) item.id.clear();
  impression->context.clear();
  ImpressionRow without = pack(*impression);
  without.id = id;
  take(store.anonymise(without));
}

// What experiments counted of the unit stays in their sums, without the unit.
void forget_totals(const Forgetting& state, Store& store) {
  for (const ExperimentRow& row : take(store.read().experiments())) {
    if (row.model != state.model->id) continue;
    take(store.delete_unit_totals(row.id, static_cast<std::int64_t>(unit_key(row.id, state.unit))));
  }
}

void anonymise_all(const ForgettingHandle& state) {
  submit_part(
      state,
      [state](Transaction& transaction) {
        StoreReader& read = transaction.store.read();
        const auto ids = take(
            read.of_unit(state->model->id, state->unit, state->progress.next, kForgottenAtOnce));
        take(transaction.store.lock({.impressions = ids}));
        for (const std::int64_t id : ids) {
          state->progress.next = ImpressionKey::of(id).number + 1;
          if (state->asked != nullptr) {
            // What another model showed to a unit of the same name is not the caller's.
            const auto row = take(read.impression(id));
            if (!row || !state->asked->has_experiment(row->in.experiment)) continue;
          }
          anonymise(transaction.store, id);
          ++state->progress.count;
        }
        forget_totals(*state, transaction.store);
        return ids.size() == kForgottenAtOnce;
      },
      [state](bool more) {
        if (more) return anonymise_all(state);
        state->done(state->progress.count);
      });
}

// Closes an impression that may still be learned from, so that it never is. False if it is closed.
bool close_unlearned(Store& store, std::int64_t id) {
  auto response = take(store.read().response(id)).value_or(ResponseRow{});
  if (response.closed != Closed::kNo) return false;
  const auto kept = take(read_impression(store.read(), id, Rows::kSkip));
  const std::size_t shown = kept ? kept->impression.shown.size() : 0;
  response.clicked.resize(shown);
  response.viewed.resize(shown);
  response.closed = Closed::kUnlearned;
  take(store.set_response(id, response));
  return true;
}

// Drops the unit's impressions, which the snapshot replaces.
void drop_all(const ForgettingHandle& state) {
  submit_part(
      state,
      [state](Transaction& transaction) {
        Store& store = transaction.store;
        state->progress.dropped.clear();
        const std::span<const std::int64_t> left =
            std::span(state->closed).subspan(state->progress.count);
        const auto ids = left.first(std::min<std::size_t>(left.size(), kForgottenAtOnce));
        take(store.lock({.impressions = {ids.begin(), ids.end()}}));
        for (const std::int64_t id : ids) {
          const std::uint64_t number = ImpressionKey::of(id).number;
          if (take(store.read().last_log_of(state->model->id, number, number + 1)) >
              state->snapshot) {
            throw Failed{{ErrorCode::kBusy,
                          "the model has not learned from all lists of the unit; try again later"}};
          }
          take(store.drop_impression(id));
          state->progress.dropped.push_back(number);
        }
        state->progress.count += ids.size();
        return ids.size() < left.size();
      },
      [state](bool more) {
        // On the writer's thread: nothing was logged.
        Model& model = *state->model;
        for (const std::uint64_t number : state->progress.dropped) {
          if (number >= model.expired) model.dropped_early.insert(number);
        }
        if (more) return drop_all(state);
        state->done(state->progress.count);
      });
}

// The log up to the snapshot goes, since it needs the impressions. Upkeep drops it in parts.
void replace_log(const ForgettingHandle& state) {
  submit_part(
      state,
      [state](Transaction& transaction) {
        transaction.lead(state->model);
        ModelRow marks = state->model->marks();
        marks.dropped_log = std::max(marks.dropped_log, state->snapshot);
        forget_totals(*state, transaction.store);
        // Another job of this transaction may have raised it already.
        for (const ModelRow& row : take(transaction.store.read().models())) {
          if (row.id == marks.id) marks.dropped_log = std::max(marks.dropped_log, row.dropped_log);
        }
        take(transaction.store.set_model_marks(marks));
        return false;
      },
      [state](bool /*more*/) {
        // On the writer's thread: nothing was logged.
        state->model->dropped_log = std::max(state->model->dropped_log, state->snapshot);
        drop_all(state);
      });
}

void take_snapshot_first(const ForgettingHandle& state) {
  auto asked = std::make_shared<bool>(false);
  ServiceParts& parts = state->parts;
  parts.learner->submit({.model = state->model,
                         .ask =
                             [state, asked, &parts](const Trainer& trainer) {
                               *asked = true;
                               SnapshotRow row = trainer.snapshot();
                               row.kind = SnapshotKind::kAutomatic;
                               state->snapshot = row.log;
                               parts.writer->submit(
                                   snapshot_job(state->model, std::move(row),
                                                parts.options.automatic_snapshots_kept,
                                                [state](const Result<SnapshotRow>& kept) {
                                                  if (!kept) return state->done(kept.error());
                                                  replace_log(state);
                                                }));
                             },
                         .answer =
                             [state, asked] {
                               if (!*asked) state->done(not_learned_here(*state->model));
                             }});
}

// Closes the unit's impressions, so that no entry of the log is about them after the snapshot.
void close_all(const ForgettingHandle& state) {
  submit_part(
      state,
      [state](Transaction& transaction) {
        state->closed.resize(state->progress.closed_count);
        const auto ids = take(transaction.store.read().of_unit(
            state->model->id, state->unit, state->progress.next, kForgottenAtOnce));
        take(transaction.store.lock({.impressions = ids}));
        // Those that other nodes have closed: nothing is queued about them any more.
        transaction.take_queued(state->model);
        // Here, too: all lists of the unit may be with other models.
        forget_totals(*state, transaction.store);
        state->progress.were_open = 0;
        for (const std::int64_t id : ids) {
          const std::uint64_t number = ImpressionKey::of(id).number;
          if (number >= state->end) return false;
          // What is below `expired` is counted as closed.
          if (close_unlearned(transaction.store, id) && number >= state->model->expired) {
            ++state->progress.were_open;
          }
          state->closed.push_back(id);
          state->progress.closed_count = state->closed.size();
          state->progress.next = number + 1;
        }
        return ids.size() == kForgottenAtOnce;
      },
      [state](bool more) {
        std::atomic<std::uint64_t>& open = state->model->open;
        open -= std::min(state->progress.were_open, open.load());
        if (more) return close_all(state);
        if (state->progress.next == 0) return state->done(std::uint64_t{0});
        take_snapshot_first(state);
      });
}

// Forgets the unit in the models, one after the other.
void forget_in(ServiceParts& parts, std::vector<ModelHandle> models, const std::string& unit,
               bool drop, Done<std::uint64_t> done, std::uint64_t count = 0) {
  const ModelHandle asked = models.front();
  const ModelHandle model = std::move(models.back());
  models.pop_back();
  Done<std::uint64_t> next = std::move(done);
  if (!models.empty()) {
    next = [&parts, models, unit, drop, count,
            last = std::move(next)](const Result<std::uint64_t>& forgotten) {
      // An arm's model may have been removed meanwhile.
      if (!forgotten && forgotten.error().code != ErrorCode::kNotFound) {
        return last(forgotten.error());
      }
      const std::uint64_t so_far = count + (forgotten ? *forgotten : 0);
      forget_in(parts, models, unit, drop, last, so_far);
    };
  } else if (count > 0) {
    next = [count, last = std::move(next)](const Result<std::uint64_t>& forgotten) {
      last(forgotten ? Result<std::uint64_t>(count + *forgotten) : forgotten.error());
    };
  }
  auto state = std::make_shared<Forgetting>(Forgetting{parts, model, unit, std::move(next)});
  const bool own = model == asked || asked->is_fork(model);
  if (!own) state->asked = asked;
  if (!drop || !own) return anonymise_all(state);
  // The log before the snapshot goes, so that this is the leading node's to do.
  with_lead(parts, model, state->done, [state] {
    const Model& led = *state->model;
    state->end = led.shared ? ImpressionKey::kNumbers : led.next_number.load();
    close_all(state);
  });
}

}  // namespace

void Service::forget_unit(const ModelHandle& model, std::string unit, bool drop,
                          Done<std::uint64_t> done) {
  // Lists of its experiments may be with the models that made them: as the store knows it, since
  // this process may have been started after they ended.
  ServiceParts& parts = *parts_;
  parts.writer->submit(job<bool>(
      [&parts, model](Transaction& transaction) {
        if (model->removed) throw Failed{model_removed()};
        remember_all(parts, model, transaction.store.read());
        return true;
      },
      [&parts, model, unit = std::move(unit), drop,
       done = std::move(done)](const Result<bool>& known) {
        if (!known) return done(known.error());
        std::vector<ModelHandle> models = model->arm_models();
        models.insert(models.begin(), model);  // the last one answers for it
        forget_in(parts, std::move(models), unit, drop, done);
      }));
}

void Service::vacuum(Done<void> done) { parts_->writer->vacuum(std::move(done)); }

}  // namespace plackett::serving
