#include "arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "failure.h"
#include "plackett/ranker_spec.h"

namespace plackett::python {

namespace {

// As UTF-8, whatever the text holds.
std::string readable(py::handle text) {
  const auto bytes = py::reinterpret_steal<py::object>(
      PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes) {
    forget_error();
    return "?";
  }
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

}  // namespace

void forget_error() {
  if (PyErr_Occurred() == nullptr) return;
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw py::error_already_set();
  PyErr_Clear();
}

std::string type_name(py::handle value) {
  const py::object name = py::type::handle_of(value).attr("__name__");
  return readable(name);
}

namespace {

// On one line; cut where it is longer than `most` bytes, not within a character.
std::string in_short(const std::string& whole, std::size_t most) {
  std::string line;
  for (const char one : whole) {
    const bool space = one == ' ' || one == '\n' || one == '\t';
    if (!space) line += one;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (line.size() <= most) return line;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

}  // namespace

std::string said_by(const py::error_already_set& error) {
  constexpr std::size_t kMost = 200;
  const auto said = py::reinterpret_steal<py::object>(PyObject_Str(error.value().ptr()));
  if (said) return in_short(readable(said), kMost);
  forget_error();
  return type_name(error.value());
}

std::string shown_value(py::handle value, std::size_t most) {
  const auto repr = py::reinterpret_steal<py::object>(PyObject_Repr(value.ptr()));
  if (!repr) {
    forget_error();
    return fmt::format("<{}>", type_name(value));
  }
  return in_short(readable(repr), most);
}

std::uint64_t whole(py::handle value, std::string_view name, Bounds bounds) {
  const auto rule = [&] {
    return bounds.most == kAnyWhole
               ? fmt::format("a whole number from {} to 2^64 - 1", bounds.least)
               : fmt::format("a whole number from {} to {}", bounds.least, bounds.most);
  };
  const auto as_int = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!as_int) {
    forget_error();
    bad_type("{}: {}; it is {}", name, shown_value(value), rule());
  }
  const std::uint64_t got = PyLong_AsUnsignedLongLong(as_int.ptr());
  const bool fits = PyErr_Occurred() == nullptr;
  PyErr_Clear();
  if (!fits || got < bounds.least || got > bounds.most) {
    bad_value("{}: {}; it is {}", name, shown_value(value), rule());
  }
  return got;
}

std::uint32_t whole32(py::handle value, std::string_view name, Bounds bounds) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(
      whole(value, name, {bounds.least, std::min(bounds.most, kMost)}));
}

std::uint32_t thread_number(py::handle value) { return whole32(value, "threads", {0, 4096}); }

double number(py::handle value, std::string_view name) {
  const double got = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    forget_error();
    bad_type("{}: {}; it is a number", name, shown_value(value));
  }
  if (!std::isfinite(got)) bad_value("{}: {}; it is finite", name, got);
  return got;
}

std::string text(py::handle value, std::string_view name) {
  if (!py::isinstance<py::str>(value)) {
    bad_type("{}: {}; it is a str", name, shown_value(value));
  }
  Py_ssize_t size = 0;
  const char* characters = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (characters == nullptr) {
    forget_error();
    bad_value("{}: {}; it is Unicode text", name, shown_value(value));
  }
  return {characters, static_cast<std::size_t>(size)};
}

bool truth(py::handle value, std::string_view name) {
  if (PyBool_Check(value.ptr()) == 0 &&
      !py::isinstance(value, py::module_::import("numpy").attr("bool_"))) {
    bad_type("{}: {}; it is True or False", name, shown_value(value));
  }
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::filesystem::path path(py::handle value, std::string_view name) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) {
    forget_error();
    bad_type("{}: {}; it is a path", name, shown_value(value));
  }
  const auto owner = py::reinterpret_steal<py::object>(bytes);
  return std::string(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
}

std::filesystem::path existing_path(py::handle value, std::string_view name) {
  std::filesystem::path got = path(value, name);
  std::error_code ignored;
  if (!std::filesystem::exists(got, ignored)) {
    throw Failure(Fault::kMissingFile,
                  fmt::format("{}: {}: no such file or folder", name, got.string()));
  }
  return got;
}

namespace {

void require_no_folder(const std::filesystem::path& got, std::string_view name) {
  std::error_code ignored;
  if (std::filesystem::is_directory(got, ignored)) {
    bad_value("{}: {}: a folder; a model is a file", name, got.string());
  }
}

}  // namespace

std::filesystem::path model_to_read(py::handle value, std::string_view name) {
  std::filesystem::path got = existing_path(value, name);
  require_no_folder(got, name);
  return got;
}

std::string click_model_name(py::handle value, std::string_view name) {
  std::string got;
  if (py::isinstance<py::str>(value)) {
    got = text(value, name);
  } else if (const auto given = py::reinterpret_steal<py::object>(PyOS_FSPath(value.ptr()))) {
    got = path(given, name).string();
  } else {
    forget_error();
    bad_type("{}: {}; it is the name of a click model, or the path of a .toml file", name,
             shown_value(value));
  }
  if (got.ends_with(".toml")) existing_path(value, name);
  return got;
}

std::filesystem::path model_to_write(py::handle value, std::string_view name) {
  std::filesystem::path got = path(value, name);
  require_no_folder(got, name);
  const std::filesystem::path folder = got.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    throw Failure(Fault::kMissingFile,
                  fmt::format("{}: {}: no folder {}", name, got.string(), folder.string()));
  }
  return got;
}

std::vector<std::uint32_t> hidden_layers(py::handle value) {
  constexpr Bounds kUnits{1, kMaxUnits};
  // Arrays of one dimension have a length, and so do lists; numbers and arrays of none have not.
  const bool sequence = PySequence_Check(value.ptr()) != 0 && PyObject_Size(value.ptr()) >= 0;
  forget_error();
  if (!sequence && PyIndex_Check(value.ptr()) != 0) return {whole32(value, "hidden", kUnits)};
  if (!sequence || py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value)) {
    bad_type("hidden: {}; it is the units of each hidden layer, as (64, 32)", shown_value(value));
  }
  std::vector<std::uint32_t> layers;
  for (const py::object units : py::reinterpret_borrow<py::sequence>(value)) {
    layers.push_back(whole32(units, "hidden", kUnits));
  }
  return layers;
}

namespace {

// As a command would have it: numbers in the shortest text that reads back to the same.
std::string setting_text(py::handle value, const std::string& name) {
  if (py::isinstance<py::str>(value)) return text(value, name);
  const auto refuse = [&] {
    bad_type("{}: {}; a setting is a number or a str", name, shown_value(value));
  };
  if (PyBool_Check(value.ptr()) != 0 || PyNumber_Check(value.ptr()) == 0) refuse();
  auto as_number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!as_number) {
    forget_error();
    as_number = py::reinterpret_steal<py::object>(PyNumber_Float(value.ptr()));
  }
  if (!as_number) {
    forget_error();
    refuse();
  }
  return shown_value(as_number);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string python_name(std::string_view setting) {
  std::string name(setting);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<GivenSetting> settings_of(const py::dict& keywords) {
  std::vector<GivenSetting> settings;
  for (const auto& [key, value] : keywords) {
    std::string name = text(key, "settings");
    std::string given = setting_text(value, name);
    std::replace(name.begin(), name.end(), '_', '-');
    settings.push_back({std::move(name), std::move(given)});
  }
  return settings;
}

std::string with_python_names(std::string message, std::span<const Setting> declared,
                              std::span<const GivenSetting> given) {
  for (const Setting& setting : declared) {
    const std::string name(setting.name);
    replace_all(message, name, python_name(name));
  }
  for (const GivenSetting& setting : given) {
    replace_all(message, '"' + setting.name + '"', '"' + python_name(setting.name) + '"');
  }
  return message;
}

}  // namespace plackett::python
