// Experiments as Python asks for them, and their results as Python gets them.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "plackett/record.h"
#include "plackett/simulation.h"

namespace plackett::python {

namespace py = pybind11;

// A spec as nobody changed it: what the engine does where nothing is said.
const SimulationSpec& default_spec();

// Every option's own value.
py::dict simulation_defaults();

// The spec with these options; fails on values that can't be.
SimulationSpec spec_of(const py::dict& options);

// Fails where the spec's network is another than the default: for where nothing has one.
void require_default_network(const SimulationSpec& spec);

py::dict summary_of(const CellSummary& cell);
py::dict curve_of(const CellSummary& cell);

// Arrays of runs x points, and what each run was.
py::dict runs_of(const std::vector<RunRecord>& runs);

}  // namespace plackett::python
