// A store's impressions with what became of them, for export, evaluation and fitting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

// The model of this name, or the only one if it is empty. Fails if there is none, or more than one.
Result<LoggedModel> logged_model(StoreReader& store, const std::string& name);

struct LoggedImpression {
  std::string name;  // that callers know
  StoredImpression kept;
  ResponseRow response;         // for every shown rank
  std::vector<double> rewards;  // per shown rank: 1 for a click, and the weights of further events
};

// None if it is not in the store, or damaged. With Rows::kRead and `items`, the other candidates
// are complete.
Result<std::optional<LoggedImpression>> read_logged(StoreReader& store, const LogSettings& logging,
                                                    std::int64_t id, Rows rows,
                                                    ItemVersionCache* items);

struct Settled {
  std::uint64_t end = 0;  // the store has every impression below that it will ever have
  bool more = false;      // it has some from there on, too
};
// Up to where the log can be read so that what is read later comes behind it; at least `from`.
// Lists are numbered when they are ranked and stored a little later, so that a lower number may
// come after a higher one while a service runs. One that is missing is waited for
//   - until the service has stored others for 10 s after it stored the next number: it stores lists
//     in the order in which its threads hand them over, microseconds after they are numbered;
//   - or, if no list came since, for 10 minutes by `now`: a vacuum may hold it up.
// Most of the missing ones never come: their requests failed, or a process was killed. Cost: a
// lookup per list of the last seconds.
Result<Settled> settled(StoreReader& store, std::int64_t model, std::uint64_t from,
                        std::int64_t now);

struct LoggedRange {
  std::uint64_t from = 0;                      // the first impression's number
  std::uint64_t to = ImpressionKey::kNumbers;  // the number after the last
  Rows rows = Rows::kSkip;
};

// Calls `each` for every impression of the model, in order; stops at its first error. With
// Rows::kRead, the other candidates are complete. Gives how many were damaged and left out. Memory
// does not grow with the log.
Result<std::uint64_t> each_logged(StoreReader& store, const LoggedModel& model, LoggedRange range,
                                  const std::function<Result<void>(const LoggedImpression&)>& each);

}  // namespace plackett::serving
