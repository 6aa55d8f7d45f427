// Methods' settings as Python has them.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

#include "plackett/method_entry.h"
#include "plackett/setting.h"

namespace plackett::python {

namespace py = pybind11;

// A setting's value: an int where it is whole, a str where it is a choice, else a float.
py::object setting_value(const Setting& setting, double value);

// What parse_method_entry reads, the settings' names as Python writes them or as the command does:
// "pdgd:learning_rate=0.1". Fails with the argument's name.
MethodEntry method_entry(std::string_view text, std::string_view name);

}  // namespace plackett::python
