// What each file of the module adds to it.
#pragma once

#include <pybind11/pybind11.h>

namespace plackett::python {

namespace py = pybind11;

void bind_failures(py::module_& module);
void bind_rng(py::module_& module);
void bind_methods(py::module_& module);
void bind_dataset(py::module_& module);
void bind_ranker(py::module_& module);
void bind_impression(py::module_& module);
void bind_learner(py::module_& module);
void bind_click_model(py::module_& module);
void bind_sampling(py::module_& module);
void bind_evaluation(py::module_& module);
void bind_simulate(py::module_& module);
void bind_compare(py::module_& module);

}  // namespace plackett::python
