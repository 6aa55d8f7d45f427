// Data and runs for the tests of drift.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/drift.h"
#include "plackett/simulation.h"

namespace plackett {

inline const Drift kIntents{.of = DriftOf::kLabels, .at = 1'000};

inline const Dataset& dataset() {
  static const Dataset data = [] {
    Dataset all = load_dataset("synthetic", {}).value();
    all.folds.resize(1);
    return all;
  }();
  return data;
}

inline SimulationSpec spec_with(std::vector<Drift> drift) {
  SimulationSpec spec;
  spec.impressions = 2'000;
  spec.drift = std::move(drift);
  return spec;
}

inline RunRecord run_of(const SimulationSpec& spec, std::uint32_t run = 0) {
  return Simulation::prepare(dataset(), spec)->run(run, {}).value();
}

}  // namespace plackett
