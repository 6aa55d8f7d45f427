// Objects that Python can't have half made. cls.__new__(cls) alone makes an object without its
// value, and pybind11 would then hand out raw memory for it.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>

#include "arguments.h"
#include "failure.h"

namespace plackett::python {

namespace py = pybind11;

// For classes that Python may make, as their operator new. They are held by std::shared_ptr and
// made by std::make_shared, which doesn't call it; what does is the first use of an object without
// a value.
[[noreturn]] inline void* refuse_half_made() {
  bad_type("self: made by __new__ alone; __init__ or __setstate__ comes before anything else");
}

// The class that pybind11 puts above all others: an object of its own would end the process, and
// pickle's protocols 0 and 1 make one. After this it is refused. Other classes are made as before.
inline void refuse_bare_objects() {
  static PyTypeObject* const base =
      reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
  static const newfunc make = base->tp_new;
  base->tp_new = [](PyTypeObject* asked, PyObject* arguments, PyObject* keywords) -> PyObject* {
    if (asked != base) return make(asked, arguments, keywords);
    PyErr_SetString(PyExc_TypeError,
                    "pybind11_object: it has no objects of its own; pickle's protocols 0 and 1 ask "
                    "for one, later ones don't");
    return nullptr;
  };
  PyType_Modified(base);
}

// For classes whose objects come from the engine alone.
template <typename Class>
void from_the_engine_alone(Class& type) {
  auto* const object = reinterpret_cast<PyTypeObject*>(type.ptr());
  object->tp_new = [](PyTypeObject* asked, PyObject*, PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError, "%s: plackett makes these; they have no constructor",
                 asked->tp_name);
    return nullptr;
  };
  PyType_Modified(object);
}

// What help() and inspect take a class's signature from: its __init__'s docstring, from the line
// with which the class's own begins, "Ranker(kind=None)".
inline std::string init_doc(const std::string& signature) {
  const std::size_t open = signature.find('(') + 1;
  return "__init__(self, " + signature.substr(open) + "\n--\n\n";
}

// For classes of data that a pickle would copy whole: says what to pickle in their place.
template <typename Class>
void never_pickled(Class& type, const char* advice) {
  type.def("__reduce__", [advice](const py::object& self) -> py::object {
    bad_type("{}: it can't be pickled or copied; {}", type_name(self), advice);
  });
}

}  // namespace plackett::python
