// Forgets units, and rewrites the store without what was deleted.
#include <utility>

#include "serving/impression.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// Per transaction, so that other requests don't wait long.
constexpr std::uint32_t kForgottenAtOnce = 500;

// A unit that is being forgotten, over as many transactions as that takes.
struct Forgetting {
  ServiceParts& parts;
  ModelHandle model;
  std::string unit;
  bool drop = false;
  Done<std::uint64_t> done;
  std::uint64_t count = 0;                // impressions so far
  std::vector<std::int64_t> forgotten{};  // their ids, if they are to be dropped
};
using ForgettingHandle = std::shared_ptr<Forgetting>;

void anonymise(Store& store, const Model& model, std::int64_t id, bool close) {
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
  if (!close) return;
  auto response = take(store.read().response(id)).value_or(ResponseRow{});
  if (response.closed != Closed::kNo || ImpressionKey::of(id).number < model.expired) return;
  response.clicked.resize(impression->shown.size());
  response.viewed.resize(impression->shown.size());
  response.closed = Closed::kUnlearned;
  take(store.set_response(id, response));
}

void drop_forgotten(const ForgettingHandle& state);

// Forgets the next few, then goes on until none is left.
void forget_some(const ForgettingHandle& state) {
  state->parts.writer->submit(job<bool>(
      [state](Transaction& transaction) {
        if (state->model->removed) throw Failed{model_removed()};
        const auto ids =
            take(transaction.store.read().of_unit(state->model->id, state->unit, kForgottenAtOnce));
        for (const std::int64_t id : ids) {
          anonymise(transaction.store, *state->model, id, state->drop);
          if (state->drop) state->forgotten.push_back(id);
        }
        state->count += ids.size();
        return ids.size() == kForgottenAtOnce;
      },
      [state](const Result<bool>& more) {
        if (!more) return state->done(more.error());
        if (*more) return forget_some(state);
        if (state->forgotten.empty()) return state->done(state->count);
        drop_forgotten(state);
      }));
}

// Takes a snapshot that includes what was learned from them. With it go the log so far, which
// needs them, and the impressions.
void drop_forgotten(const ForgettingHandle& state) {
  auto asked = std::make_shared<bool>(false);
  state->parts.learner->submit(
      {.model = state->model,
       .ask =
           [state, asked](const Trainer& trainer) {
             *asked = true;
             auto row = std::make_shared<SnapshotRow>(trainer.snapshot());
             const auto apply = [state, row](Transaction& transaction) {
               const ModelHandle& model = state->model;
               if (model->removed) throw Failed{model_removed()};
               Store& store = transaction.store;
               row->model = model->id;
               row->created_at = transaction.now;
               row->note = "before a unit's impressions were dropped";
               take(store.insert_snapshot(*row));
               ModelRow marks = model->marks();
               marks.dropped_log = std::max(marks.dropped_log, row->log);
               take(store.set_model_marks(marks));
               while (!take(store.drop_log(model->id, marks.dropped_log, kForgottenAtOnce))) {
               }
               for (const std::int64_t id : state->forgotten) take(store.drop_impression(id));
               return marks.dropped_log;
             };
             state->parts.writer->submit(job<std::int64_t>(
                 apply,
                 [state](const Result<std::int64_t>& dropped) {
                   state->done(dropped ? Result<std::uint64_t>(state->count) : dropped.error());
                 },
                 [state](const std::int64_t& dropped) { state->model->dropped_log = dropped; }));
           },
       .answer =
           [state, asked] {
             if (!*asked) state->done(model_removed());
           }});
}

}  // namespace

void Service::forget_unit(const ModelHandle& model, std::string unit, bool drop,
                          Done<std::uint64_t> done) {
  forget_some(std::make_shared<Forgetting>(
      Forgetting{*parts_, model, std::move(unit), drop, std::move(done)}));
}

void Service::vacuum(Done<void> done) { parts_->writer->vacuum(std::move(done)); }

}  // namespace plackett::serving
