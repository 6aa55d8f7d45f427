// Single arguments as Python gives them. A wrong one fails with its name, its value and the rule.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "failure.h"
#include "plackett/method.h"
#include "plackett/method_entry.h"
#include "plackett/options.h"
#include "plackett/rng.h"

namespace plackett::python {

namespace py = pybind11;

struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

// Of `threads`; 0 stands for one per core.
inline constexpr Bounds kThreads{0, 4096};

// Python's int if the value is one of Python's or NumPy's integers, else null.
py::object as_integer(py::handle value);

std::uint64_t integer(py::handle value, std::string_view name, Bounds bounds = {});
std::uint32_t integer32(py::handle value, std::string_view name, Bounds bounds = {});

// Finite.
double number(py::handle value, std::string_view name);

std::string text(py::handle value, std::string_view name);

bool truth(py::handle value, std::string_view name);

// A str, or whatever os.fspath takes.
std::string path(py::handle value, std::string_view name);

// An integer, or a sequence of integers: units of each hidden layer.
std::vector<std::uint32_t> hidden_layers(py::handle value);

// learning_rate: how Python writes a setting's name.
std::string python_name(std::string_view setting);

// A setting's value as a command would write it: numbers in the shortest form that reads back to
// the same value.
std::string setting_text(py::handle value, std::string_view name);

// A method's settings from the keywords of `function` ("simulate"): learning_rate=0.1 is the
// setting learning-rate of 0.1. Fails if the method does not take them.
std::vector<GivenSetting> settings_of(const Method& method, const py::dict& keywords,
                                      std::string_view function);

// A setting's value: an int if it is whole, a str if it is a choice, else a float.
py::object setting_value(const Setting& setting, double value);

// What parse_method_entry reads, with the settings' names as Python or as the command writes them:
// "pdgd:learning_rate=0.1". Fails with the argument's name.
MethodEntry method_entry(const std::string& text, std::string_view name);

// A method with its settings' names as the command writes them.
std::string with_dashes(std::string text);

// What an option holds.
struct OptionForm {
  OptionKind kind{};
  bool repeats = false;  // a list of names
  Bounds bounds{};
};
template <typename Target>
OptionForm form_of(const Option<Target>& option) {
  return {option.kind, option.repeats, {option.least, option.most}};
}

// An option's value as Python has it, from its text.
py::object option_value(const OptionForm& form, const std::string& text);

// Its text, from a value as Python gives it.
std::string option_text(const OptionForm& form, py::handle value, std::string_view name);

// The defaults of options by their Python names.
template <typename Target>
py::dict defaults_of(std::span<const Option<Target>> options) {
  py::dict values;
  for (const Option<Target>& option : options) {
    values[python_name(option.name).c_str()] = option_value(form_of(option), option.text(Target{}));
  }
  return values;
}

// Sets all options from a dict like that. Fails on wrong values.
template <typename Target>
void set_options(std::span<const Option<Target>> options, const py::dict& values, Target& target) {
  for (const Option<Target>& option : options) {
    const std::string name = python_name(option.name);
    take(option.set(target, option_text(form_of(option), values[name.c_str()], name)), name);
  }
}

// Streams are numbered below 2^56.
inline constexpr std::uint64_t kMaxStreamImpression = (std::uint64_t{1} << 56) - 1;

// That stream with `seed`, an integer.
Rng rng_of(py::handle seed, Rng::Stream stream);

// What a call draws from: `rng`, which advances, or that stream with `seed`, in `own`. Fails unless
// exactly one of them is not None: a default seed would draw the same in every call.
Rng& drawn_from(py::handle seed, py::handle rng, Rng::Stream stream, std::optional<Rng>& own);

// repr(value), shortened, for messages.
std::string shown_value(py::handle value);

// Clears the error that Python has set, to report a better one. Throws it if it is no Exception,
// such as KeyboardInterrupt.
void clear_error();

}  // namespace plackett::python
