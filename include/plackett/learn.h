// Learns a ranker from lists that another policy showed: finds the parameters whose policy would
// have been worth most, by the off-policy estimate (off_policy.h). docs/off_policy.md shows what
// for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plackett/export.h"
#include "plackett/logged_list.h"
#include "plackett/off_policy.h"
#include "plackett/option.h"
#include "plackett/ranker.h"
#include "plackett/result.h"

namespace plackett {

// How a ranker learns from a log.
struct LearnOptions {
  // What is maximised: the value by "doubly-robust" or by "prefix-ips".
  std::string method = "doubly-robust";
  ValueMetric metric = ValueMetric::kClicks;  // what a list is worth
  std::uint32_t ranks = 0;                    // only the first few count; 0: all
  // The share of the units by which it is decided when to stop, and as large a share on which the
  // result is measured.
  double held_out = 0.2;
  double ridge = 1e-4;            // subtracts ridge * |parameters|^2 / 2 from the objective
  std::uint32_t iterations = 40;  // of each stage, at most
  std::uint64_t seed = 1;         // of a network's first parameters, and of resampling
  std::uint32_t threads = 0;      // 0: one per core; the bits don't depend on it
  // The ranker's scores will be divided by it where it ranks, so they are here, too. Finite, above
  // 0. Not among learn_options(): a service's log has it (ModelSpec).
  float temperature = 1;
  // Asked before the log is read again; once it returns true, learning fails with kStopped.
  std::function<bool()> stop = {};
  // Told which stage of how many, and which iteration of it.
  std::function<void(std::uint32_t stage, std::uint32_t stages, std::uint32_t iteration)> stepped =
      {};
};
// Their declarations.
PLACKETT_EXPORT std::span<const Option<LearnOptions>> learn_options();

// One stage: the value plus closeness times the mean log-probability of the logged lists.
struct LearnStage {
  double closeness = 0;          // infinite in the first: the logged policy is imitated
  std::uint32_t iterations = 0;  // taken
  double value = 0;              // on the units that decide, by the method's estimate
  double error = 0;              // its standard error, of whole units
  double effective_lists = 0;    // that the units that decide amount to, at the rank with fewest
  bool chosen = false;           // its parameters are the result
};

// What learning came to.
struct LearnReport {
  std::uint64_t lists = 0;              // learned from: with their candidates
  std::uint64_t deciding_lists = 0;     // likewise, of the units that decide
  std::vector<LearnStage> stages = {};  // from the closest to the log on
  // Of the result, on units that were neither learned from nor decided by.
  OffPolicyReport measured = {};
};

// Starts with an imitation of what was logged, from the ranker's parameters, and moves away from it
// in stages, as long as the value on the units that decide rises beyond its standard error. Reads
// the log many times. A function of (log, ranker's parameters, options), to the bit. Fails if an
// option is not allowed, too few lists have their candidates, a score is not finite, or the log
// can't be read; the parameters then stay as they were.
PLACKETT_EXPORT Result<LearnReport> learn(LoggedLists& lists, Ranker& ranker,
                                          const LearnOptions& options);

}  // namespace plackett
