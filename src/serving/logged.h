// A store's impressions with what became of them, for export, evaluation and fitting.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plackett/result.h"
#include "serving/impression.h"
#include "serving/model_spec.h"
#include "serving/store.h"

namespace plackett::serving {

// A model as the store has it.
struct LoggedModel {
  ModelRow row;
  ModelSpec spec;
};
// The model of this name, or all if it is empty. Fails if there is none.
Result<std::vector<LoggedModel>> logged_models(StoreReader& store, const std::string& name);

struct LoggedImpression {
  std::string name;  // that callers know
  StoredImpression kept;
  ResponseRow response;         // for every shown rank
  std::vector<double> rewards;  // per shown rank: 1 for a click, and the weights of further events
};

struct LoggedRange {
  std::uint64_t from = 0;  // the first impression's number
  Rows rows = Rows::kSkip;
};

// Calls `each` for every impression of the model, in order; stops at its first error. With
// Rows::kRead, the other candidates are complete. Gives how many were damaged and left out. Memory
// does not grow with the log.
Result<std::uint64_t> each_logged(StoreReader& store, const LoggedModel& model, LoggedRange range,
                                  const std::function<Result<void>(const LoggedImpression&)>& each);

}  // namespace plackett::serving
