// How experiments end, and what is served then. Each change of what is served is one entry in the
// model's log. For the writer's thread; all throw Failed.
#pragma once

#include <string>
#include <vector>

#include "plackett/model_file.h"
#include "serving/stored_experiment.h"

namespace plackett::serving {

// Of all experiments of a model.
struct Promotions {
  std::string none_now{};  // why nothing is promoted or undone, since one runs; or empty
  std::int64_t last = 0;   // the newest that was not undone; 0 if there is none
};
// Damaged rows have no promotion.
Promotions promotions_of(const std::vector<ExperimentRow>& rows);
// Why the experiment's promotion can't be undone now; empty if it can.
std::string undo_refusal(const StoredExperiment& stored, const Promotions& all);

// How lists are made for requests without a mode from now on. The model loads the snapshot, if that
// is not 0.
void log_served(Transaction& transaction, const ModelHandle& model, Mode mode,
                std::int64_t snapshot);

// What the model becomes if an arm is promoted whose lists `maker` makes. Fails if it can't be.
Result<SavedModel> promotable(const Model& model, const Model& maker);

// Ends it; what is served is what was before it started.
void stop_in(Transaction& transaction, StoredExperiment& stored, std::string because);
// Refuses as busy if the model's log has a change of its parameters or of what is served that is
// not published yet: undoing a promotion must return to it.
void refuse_unlearned(const Model& model, StoreReader& store);
// Ends it; the baseline is served, as if it was promoted: what was before may be what the guard has
// stopped. An interleaved baseline that is the model leaves it exploring, if it did.
// Requires: refuse_unlearned() passes.
void fall_back_in(Transaction& transaction, const ModelHandle& model, StoredExperiment& stored,
                  std::string because);
// Ends it, if it runs, and serves the arm: if another model makes its lists, with what that has
// learned.
void promote_in(const ServiceParts& parts, Transaction& transaction, const ModelHandle& model,
                StoredExperiment& stored, const ArmSpec& arm, const std::string& because);

}  // namespace plackett::serving
