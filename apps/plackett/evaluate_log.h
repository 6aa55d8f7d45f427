// plackett evaluate --log: other policies on a service's log.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "plackett/off_policy.h"
#include "serving/logged.h"
#include "serving/logged_lists.h"

namespace plackett::command {

struct EvaluateLogOptions {
  std::string log;  // the service's store
  std::string model;
  std::vector<std::string> policies;
  std::string from;  // the first list that counts, as in i-41; empty: all count
  OffPolicyOptions estimate;
  bool json = false;
};

void evaluate_log(const EvaluateLogOptions& options);

// The number of --from, or 0. Ends the command if it is not an impression's.
std::uint64_t first_impression(const std::string& from);

// The model of this name in the store, or the only one if the name is empty. Ends the command if
// there is none.
serving::LoggedModel logged_model(const std::string& log, const std::string& name);

// What the two commands that read a log print.
void print_left_out(const serving::LeftOut& left_out);
void print_values(const OffPolicyReport& report, const serving::LeftOut& left_out,
                  const EvaluateLogOptions& options, const std::string& model);
nlohmann::ordered_json to_json(const OffPolicyReport& report, const serving::LeftOut& left_out,
                               const EvaluateLogOptions& options, const std::string& model);

}  // namespace plackett::command
