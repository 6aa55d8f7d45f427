// Single arguments as Python gives them. A wrong one fails with its name, its value and the rule.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/setting.h"

namespace plackett::python {

namespace py = pybind11;

inline constexpr std::uint64_t kAnyWhole = ~std::uint64_t{0};

struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = kAnyWhole;
};

// Python's and NumPy's whole numbers.
std::uint64_t whole(py::handle value, std::string_view name, Bounds bounds);
std::uint32_t whole32(py::handle value, std::string_view name, Bounds bounds);

// Finite.
double number(py::handle value, std::string_view name);

std::string text(py::handle value, std::string_view name);

bool truth(py::handle value, std::string_view name);

// A str or whatever os.fspath takes.
std::filesystem::path path(py::handle value, std::string_view name);

// Like path, but it must be there.
std::filesystem::path existing_path(py::handle value, std::string_view name);

// A path whose folder must be there: for a file about to be written.
std::filesystem::path path_in_folder(py::handle value, std::string_view name);

// A whole number or a sequence of them: units of hidden layers.
std::vector<std::uint32_t> hidden_layers(py::handle value);

// learning_rate: how Python writes a setting's name.
std::string python_name(std::string_view setting);

// A method's settings from keywords: learning_rate=0.1 is the setting learning-rate of 0.1.
std::vector<GivenSetting> settings_of(const py::dict& keywords);

// "list", "numpy.ndarray": what a value is, for messages.
std::string type_name(py::handle value);

// repr(value), cut where it is long.
std::string shown_value(py::handle value);

// Lets go of the error that Python has set, so that a better one can be told. One that is no
// Exception, such as KeyboardInterrupt, is thrown.
void forget_error();

// An engine's message about settings with their Python names: learning_rate for learning-rate.
std::string with_python_names(std::string message, std::span<const Setting> declared,
                              std::span<const GivenSetting> given);

}  // namespace plackett::python
