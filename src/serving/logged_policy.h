// Policies to evaluate on a model's log, by their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "plackett/model_file.h"
#include "plackett/off_policy.h"
#include "plackett/result.h"
#include "serving/logged.h"
#include "serving/store.h"
#include "serving/version.h"

namespace plackett::serving {

// "snapshot:3@0.5": what to rank with, and a temperature.
struct PolicyName {
  std::string source;       // "snapshot:3", "current", "logged", "order:FILE", or a model file
  double temperature = -1;  // below 0: the model's own
};
// Fails on a temperature that is not a finite number of at least 0.
Result<PolicyName> parse_policy_name(std::string_view text);

// A state of the model that the store has: "snapshot:ID" or "current"; or "logged": the scores that
// each list was sampled by. As the service would show it: above temperature 0 sampled from what the
// learner explores with, at 0 sorted by what it has learned. Fails if the store does not have it.
Result<std::unique_ptr<TargetPolicy>> stored_policy(const PolicyName& name,
                                                    const LoggedModel& model, StoreReader& store);

// A state of the model that the caller has, likewise.
std::unique_ptr<TargetPolicy> version_policy(const PolicyName& name, const Version& version,
                                             const ModelSpec& spec);

// Any policy that has a name: one of the store's, "order:FILE" (order_policy.h), or a model file.
Result<std::unique_ptr<TargetPolicy>> find_policy(const std::string& text, const LoggedModel& model,
                                                  StoreReader& store);

// Whether the policy of this name needs the ids of candidates, which forgotten lists lack
// (StoredLists::leave_out_forgotten).
bool needs_ids(std::string_view text);

// A model file for the features of the model: their number, and their scaling, must be the same.
Result<std::unique_ptr<TargetPolicy>> file_policy(const PolicyName& name, const SavedModel& file,
                                                  const LoggedModel& model);

}  // namespace plackett::serving
