// Methods' settings as Python has them.
#pragma once

#include <pybind11/pybind11.h>

#include "plackett/setting.h"

namespace plackett::python {

namespace py = pybind11;

// A setting's value: an int where it is whole, a str where it is a choice, else a float.
py::object setting_value(const Setting& setting, double value);

}  // namespace plackett::python
