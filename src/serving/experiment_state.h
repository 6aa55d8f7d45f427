// What has become of an experiment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::serving {

struct ExperimentState {
  struct Stopped {
    std::string arm{};
    std::string because{};
  };
  // What an undone promotion returns to.
  struct Before {
    Mode serves = Mode::kExplore;
    std::int64_t snapshot = 0;  // 0: the parameters did not change
  };

  // Per arm, the id of the other model that makes its lists; 0: none does. Names can be used again,
  // ids are not.
  std::vector<std::int64_t> makers{};
  std::string ended_because{};  // empty while it runs
  std::vector<Stopped> stopped{};
  std::string promoted{};          // an arm; empty if none was, or if that was undone
  std::optional<Before> before{};  // while `promoted` can be undone
  std::int64_t promotion = 0;      // which of the model's, from 1

  // Why an arm was stopped; empty if it was not.
  [[nodiscard]] std::string stopped_because(std::string_view arm) const;
};

// As the store keeps it: a JSON object (docs/formats/store.md).
std::string to_json(const ExperimentState& state);
Result<ExperimentState> parse_experiment_state(std::string_view text);

}  // namespace plackett::serving
