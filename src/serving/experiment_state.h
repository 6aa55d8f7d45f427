// What has become of an experiment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "offpolicy/lift.h"
#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::serving {

struct ExperimentState {
  struct Stopped {
    std::string arm{};
    std::string because{};
    std::int64_t at = 0;  // 0: not known, nor is the rest
    // The arm's results at that time.
    std::optional<double> value{};
    std::optional<Lift> lift{};
    std::string no_lift{};
  };
  // What an undone promotion returns to.
  struct Before {
    Mode serves = Mode::kExplore;
    std::int64_t snapshot = 0;  // with the parameters; 0: they stay
  };

  // Per arm, the id of the other model that makes its lists; 0: none does. Names can be used again,
  // ids are not.
  std::vector<std::int64_t> makers{};
  std::string ended_because{};  // empty while it runs
  std::vector<Stopped> stopped{};
  std::string promoted{};          // an arm; empty if none was, or if that was undone
  std::optional<Before> before{};  // while `promoted` can be undone
  std::int64_t promotion = 0;      // which of the model's, from 1

  // Null if the arm was not stopped.
  [[nodiscard]] const Stopped* find_stopped(std::string_view arm) const;
};

// As the store keeps it: a JSON object (docs/formats/store.md).
std::string to_json(const ExperimentState& state);
Result<ExperimentState> parse_experiment_state(std::string_view text);

}  // namespace plackett::serving
