// How classes and functions are shown to Python. Signatures that help() and inspect read are made
// from the arguments themselves.
#pragma once

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "arguments.h"
#include "failure.h"

namespace plackett::python {

namespace py = pybind11;
using namespace py::literals;  // NOLINT(google-build-using-namespace): "name"_a

// What each file adds to the module.
void bind_rng(py::module_& module);
void bind_dataset(py::module_& module);
void bind_ranker(py::module_& module);
void bind_impression(py::module_& module);
void bind_learner(py::module_& module);
void bind_click_model(py::module_& module);
void bind_sampling(py::module_& module);
void bind_evaluation(py::module_& module);
void bind_experiments(py::module_& module);
void bind_fit(py::module_& module);
void bind_off_policy(py::module_& module);

inline std::string argument_text(const char* text) { return text; }
inline std::string argument_text(const py::kw_only& /*marker*/) { return "*"; }
inline std::string argument_text(const py::arg& argument) { return argument.name; }
inline std::string argument_text(const py::arg_v& argument) {
  return fmt::format("{}={}", argument.name, std::string(py::repr(argument.value)));
}

// "name(first, second=1)\n--\n\n": how a docstring gives the signature of its function.
template <typename... Arguments>
std::string signature(std::string_view name, const Arguments&... arguments) {
  const std::vector<std::string> parts{argument_text(arguments)...};
  return fmt::format("{}({})\n--\n\n", name, fmt::join(parts, ", "));
}

// A function's arguments: with("features"_a, "k"_a = 10).
template <typename... Arguments>
std::tuple<Arguments...> with(const Arguments&... arguments) {
  return {arguments...};
}

// What a function, method or class does with arguments that don't fit its signature: a failure that
// says what does, in place of pybind11's.
struct WrongCall {
  py::handle scope;            // the module or class that has it, or the class itself
  const char* name = nullptr;  // there; null for the class itself

  [[noreturn]] void operator()(const py::args& given, const py::kwargs& keywords) const {
    const auto calls = py::module_::import("plackett._calls");
    bad_type("{}", py::cast<std::string>(calls.attr("wrong_call")(scope, name, given, keywords)));
  }
};

// Adds a function to the module, or a method to a class.
template <typename Scope, typename Function, typename... Arguments>
void add(Scope& scope, const char* name, Function&& function,
         const std::tuple<Arguments...>& arguments, const std::string& doc) {
  const auto define = [&](const auto&... each) {
    const std::string text = std::is_same_v<Scope, py::module_> ? signature(name, each...)
                                                                : signature(name, "self", each...);
    scope.def(name, std::forward<Function>(function), each..., (text + doc).c_str());
  };
  std::apply(define, arguments);
  scope.def(name, WrongCall{scope, name});  // an overload, tried after the function itself
}

// Adds a read-only property.
template <typename Class, typename Getter>
void property(Class& type, const char* name, const char* doc, Getter&& getter) {
  type.def_property_readonly(name, std::forward<Getter>(getter), doc);
}

// To be called after the constructor was added.
template <typename Class>
void refuse_other_arguments(Class& type) {
  const WrongCall wrong{type};
  type.def(py::init([wrong](const py::args& given, const py::kwargs& keywords)
                        -> std::shared_ptr<typename Class::type> { wrong(given, keywords); }));
}

// Adds a constructor.
template <typename Class, typename Factory, typename... Arguments>
void constructor(Class& type, Factory&& factory, const Arguments&... arguments) {
  type.def(py::init(std::forward<Factory>(factory)), arguments...,
           signature("__init__", "self", arguments...).c_str());
  refuse_other_arguments(type);
}

// The operator new of classes that Python may construct, so that cls.__new__(cls) alone can't be
// used: pybind11 would allocate raw memory for its value. They are held by std::shared_ptr and made
// by std::make_shared, which does not call it.
[[noreturn]] inline void* refuse_half_made() {
  bad_type("self: made by __new__ alone; call __init__ or __setstate__ first");
}

// For classes whose objects come from the engine only.
inline void no_constructor(py::handle type) {
  auto* const object = reinterpret_cast<PyTypeObject*>(type.ptr());
  object->tp_new = [](PyTypeObject* asked, PyObject*, PyObject*) -> PyObject* {
    PyErr_Format(errors_module().attr("BadType").ptr(),
                 "%s: made by plackett; it has no constructor", asked->tp_name);
    return nullptr;
  };
  PyType_Modified(object);
}

// For classes of data that a pickle would copy whole. `advice` says what to pickle instead.
template <typename Class>
void data_only(Class& type, const char* advice) {
  no_constructor(type);
  type.def("__reduce__", [advice](Given self) -> py::object {
    bad_type("{}: it can't be pickled or copied; {}", shown_value(self), advice);
  });
}

// The parts of a pickled state.
template <typename... Parts>
std::tuple<Parts...> unpickled_parts(const py::tuple& state, std::string_view what) {
  try {
    return py::cast<std::tuple<Parts...>>(state);
  } catch (const py::cast_error&) {
    bad_value("state: {}; not a pickled {}", shown_value(state), what);
  }
}

// What Python code has set on an object of a subclass; a copy, empty if it can't.
inline py::dict attributes_of(const py::object& self) {
  const py::object attributes = py::getattr(self, "__dict__", py::none());
  if (!py::isinstance<py::dict>(attributes)) return {};
  return attributes.attr("copy")();
}

}  // namespace plackett::python
