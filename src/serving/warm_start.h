// Loading what was learned elsewhere into a model.
#pragma once

#include <cstdint>
#include <functional>

#include "plackett/model_file.h"
#include "plackett/result.h"
#include "serving/model_spec.h"
#include "serving/writer_thread.h"

namespace plackett::serving {

// What a model of `spec` becomes by the file: all of it if learner and ranker are the same, else
// its parameters. Fails if they don't fit.
Result<SavedModel> adapted(const ModelSpec& spec, SavedModel file);

// Stores the model as a snapshot that came from elsewhere, and gives its id.
std::int64_t insert_imported(Transaction& transaction, const Model& model, const SavedModel& loaded,
                             std::string note);

}  // namespace plackett::serving
