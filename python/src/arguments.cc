#include "arguments.h"

#include <fmt/ranges.h>
#include <pybind11/eval.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>

#include "failure.h"
#include "plackett/ranker_spec.h"

namespace plackett::python {

void clear_error() {
  if (PyErr_Occurred() == nullptr) return;
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw py::error_already_set();
  PyErr_Clear();
}

std::string shown_value(py::handle value) { return py::str(errors_module().attr("shown")(value)); }

py::object as_integer(py::handle value) {
  auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  clear_error();
  return integer;
}

std::uint64_t integer(py::handle value, std::string_view name, Bounds bounds) {
  const auto rule = [&] {
    return fmt::format("{}; expected an integer from {} to {}", shown_value(value), bounds.least,
                       bounds.most == Bounds{}.most ? "2^64 - 1" : std::to_string(bounds.most));
  };
  const py::object as_int = as_integer(value);
  if (!as_int) bad_type("{}: {}", name, rule());
  const std::uint64_t got = PyLong_AsUnsignedLongLong(as_int.ptr());
  const bool fits = PyErr_Occurred() == nullptr;
  PyErr_Clear();
  if (!fits || got < bounds.least || got > bounds.most) bad_value("{}: {}", name, rule());
  return got;
}

std::uint32_t integer32(py::handle value, std::string_view name, Bounds bounds) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  bounds.most = std::min(bounds.most, kMost);
  return static_cast<std::uint32_t>(integer(value, name, bounds));
}

double number(py::handle value, std::string_view name) {
  const double got = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    clear_error();
    bad_type("{}: {}; expected a number", name, shown_value(value));
  }
  if (!std::isfinite(got)) bad_value("{}: {}; must be finite", name, got);
  return got;
}

std::string text(py::handle value, std::string_view name) {
  if (!py::isinstance<py::str>(value)) {
    bad_type("{}: {}; expected a str", name, shown_value(value));
  }
  Py_ssize_t size = 0;
  const char* characters = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (characters == nullptr) {
    clear_error();
    bad_value("{}: {}; not valid Unicode", name, shown_value(value));
  }
  return {characters, static_cast<std::size_t>(size)};
}

bool truth(py::handle value, std::string_view name) {
  if (!py::isinstance<py::bool_>(value) &&
      !py::isinstance(value, py::module_::import("numpy").attr("bool_"))) {
    bad_type("{}: {}; expected True or False", name, shown_value(value));
  }
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::string path(py::handle value, std::string_view name) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) {
    clear_error();
    if (py::isinstance<py::str>(value)) text(value, name);  // says what is wrong with it
    bad_type("{}: {}; expected a str or a path", name, shown_value(value));
  }
  return py::reinterpret_steal<py::bytes>(bytes);
}

std::vector<std::uint32_t> hidden_layers(py::handle value) {
  constexpr Bounds kUnits{1, kMaxUnits};
  if (const py::object units = as_integer(value)) return {integer32(units, "hidden", kUnits)};
  if (!py::isinstance<py::sequence>(value) || py::isinstance<py::str>(value) ||
      py::isinstance<py::bytes>(value)) {
    bad_type("hidden: {}; expected the units of each hidden layer, as (64, 32)",
             shown_value(value));
  }
  std::vector<std::uint32_t> layers;
  for (const py::object units : py::reinterpret_borrow<py::sequence>(value)) {
    layers.push_back(integer32(units, "hidden", kUnits));
  }
  return layers;
}

std::string setting_text(py::handle value, std::string_view name) {
  if (py::isinstance<py::str>(value)) return text(value, name);
  py::object as_number;
  if (!py::isinstance<py::bool_>(value) && PyNumber_Check(value.ptr()) != 0) {
    as_number = as_integer(value);
    if (!as_number) as_number = py::reinterpret_steal<py::object>(PyNumber_Float(value.ptr()));
    clear_error();
  }
  if (!as_number) bad_type("{}: {}; expected a number or a str", name, shown_value(value));
  return py::repr(as_number);
}

std::string python_name(std::string_view setting) {
  std::string name(setting);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<GivenSetting> settings_of(const Method& method, const py::dict& keywords,
                                      std::string_view function) {
  // Checked under their Python names, so that the engine's message has those.
  std::vector<Setting> declared(method.settings.begin(), method.settings.end());
  std::vector<std::string> names;
  for (const Setting& setting : declared) names.push_back(python_name(setting.name));
  for (std::size_t at = 0; at < names.size(); ++at) declared[at].name = names[at];
  std::vector<GivenSetting> given;
  for (const auto& [key, value] : keywords) {
    const std::string name = python_name(text(key, "settings"));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const auto calls = py::module_::import("plackett._calls");
      bad_type("{}", py::cast<std::string>(
                         calls.attr("unknown_setting")(function, name, py::cast(names))));
    }
    given.push_back({name, setting_text(value, name)});
  }
  take(SettingValues::make(declared, given), method.name);
  for (GivenSetting& setting : given) {
    std::replace(setting.name.begin(), setting.name.end(), '_', '-');
  }
  return given;
}

py::object setting_value(const Setting& setting, double value) {
  if (!setting.names.empty()) return py::cast(setting.names[static_cast<std::size_t>(value)]);
  if (setting.whole) return py::int_(static_cast<std::int64_t>(value));
  return py::float_(value);
}

std::string with_dashes(std::string text) {
  bool in_name = true;  // and not in a value
  for (char& one : text) {
    if (one == ':') in_name = true;
    if (one == '=') in_name = false;
    if (in_name && one == '_') one = '-';
  }
  return text;
}

MethodEntry method_entry(const std::string& text, std::string_view name) {
  return take(parse_method_entry(with_dashes(text)), name);
}

py::object option_value(const OptionForm& form, const std::string& text) {
  const OptionKind kind = form.kind;
  if (form.repeats) {
    return text.empty() ? py::tuple() : py::tuple(py::str(text).attr("split")(", "));
  }
  if (kind == OptionKind::kInteger) return py::int_(py::str(text));
  if (kind == OptionKind::kNumber) return py::float_(py::str(text));
  if (kind == OptionKind::kIntegers) return py::eval(fmt::format("({},)", text));
  if (kind == OptionKind::kFlag) return py::bool_(text == "true");
  return py::str(text);
}

namespace {

// "MAP,MRR", from one name or several.
std::string names_text(py::handle value, std::string_view name) {
  if (py::isinstance<py::str>(value)) return text(value, name);
  if (!py::isinstance<py::sequence>(value)) {
    bad_type("{}: {}; expected a str or several", name, shown_value(value));
  }
  std::vector<std::string> names;
  for (const py::object one : py::reinterpret_borrow<py::sequence>(value)) {
    names.push_back(text(one, name));
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

std::string option_text(const OptionForm& form, py::handle value, std::string_view name) {
  const OptionKind kind = form.kind;
  if (form.repeats) return names_text(value, name);
  if (kind == OptionKind::kInteger) return std::to_string(integer(value, name, form.bounds));
  if (kind == OptionKind::kNumber) return py::repr(py::float_(number(value, name)));
  if (kind == OptionKind::kIntegers) return fmt::format("{}", fmt::join(hidden_layers(value), ","));
  if (kind == OptionKind::kFlag) return truth(value, name) ? "true" : "false";
  return text(value, name);
}

Rng rng_of(py::handle seed, Rng::Stream stream) {
  if (py::isinstance<Rng>(seed)) bad_type("seed: a plackett.Rng; give it as rng");
  stream.seed = integer(seed, "seed");
  return Rng(stream);
}

Rng& drawn_from(py::handle seed, py::handle rng, Rng::Stream stream, std::optional<Rng>& own) {
  if (seed.is_none() == rng.is_none()) {
    bad_type(
        "seed, rng: {}; give one of them: with a seed every call draws the same, an rng "
        "(plackett.stream(1)) advances",
        seed.is_none() ? "neither" : "both");
  }
  if (rng.is_none()) return own.emplace(rng_of(seed, stream));
  if (!py::isinstance<Rng>(rng)) bad_type("rng: {}; expected a plackett.Rng", shown_value(rng));
  return py::cast<Rng&>(rng);
}

}  // namespace plackett::python
