// Single arguments as Python gives them. A wrong one fails with its name, its value and the rule.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
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

// The argument `threads`; 0 for one a core.
std::uint32_t thread_number(py::handle value);

// Finite.
double number(py::handle value, std::string_view name);

std::string text(py::handle value, std::string_view name);

bool truth(py::handle value, std::string_view name);

// A str or whatever os.fspath takes.
std::filesystem::path path(py::handle value, std::string_view name);

// Like path, but it must be there.
std::filesystem::path existing_path(py::handle value, std::string_view name);

// A model file to read: it must be there.
std::filesystem::path model_to_read(py::handle value, std::string_view name);

// A model file to write: its folder must be there.
std::filesystem::path model_to_write(py::handle value, std::string_view name);

// A click model's name, or the path of its .toml file, which must be there.
std::string click_model_name(py::handle value, std::string_view name);

// A whole number or a sequence of them: units of hidden layers.
std::vector<std::uint32_t> hidden_layers(py::handle value);

// learning_rate: how Python writes a setting's name.
std::string python_name(std::string_view setting);

// A method's settings from keywords: learning_rate=0.1 is the setting learning-rate of 0.1.
std::vector<GivenSetting> settings_of(const py::dict& keywords);

// "list", "numpy.ndarray": what a value is, for messages.
std::string type_name(py::handle value);

// repr(value) on one line, cut where it is longer than `most` bytes.
std::string shown_value(py::handle value, std::size_t most = 60);

// What Python has to say of an exception.
std::string said_by(const py::error_already_set& error);

// Lets go of the error that Python has set, so that a better one can be told. One that is no
// Exception, such as KeyboardInterrupt, is thrown.
void forget_error();

// An engine's message about settings with their Python names: learning_rate for learning-rate.
std::string with_python_names(std::string message, std::span<const Setting> declared,
                              std::span<const GivenSetting> given);

}  // namespace plackett::python
