#include "failure.h"

#include "bindings.h"

namespace plackett::python {
namespace {

struct Exceptions {
  PyObject* value = nullptr;
  PyObject* type = nullptr;
  PyObject* missing_file = nullptr;
};
Exceptions exceptions;  // for as long as the process lasts

PyObject* make(py::module_& module, const char* name, const char* doc, PyObject* base,
               PyObject* built_in) {
  const std::string full = std::string("plackett.") + name;
  const py::tuple bases = built_in == nullptr
                              ? py::make_tuple(py::handle(base))
                              : py::make_tuple(py::handle(base), py::handle(built_in));
  PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (made == nullptr) throw py::error_already_set();
  module.add_object(name, made);
  return made;
}

PyObject* exception_of(Fault fault) {
  switch (fault) {
    case Fault::kType:
      return exceptions.type;
    case Fault::kMissingFile:
      return exceptions.missing_file;
    case Fault::kValue:
      break;
  }
  return exceptions.value;
}

}  // namespace

void bind_failures(py::module_& module) {
  PyObject* error = make(module, "Error", "Whatever plackett finds wrong: base of its exceptions.",
                         PyExc_Exception, nullptr);
  exceptions.value =
      make(module, "BadValue", "A value that can't be: says which, and what is allowed.", error,
           PyExc_ValueError);
  exceptions.type =
      make(module, "BadType", "An argument of a type that can't be used.", error, PyExc_TypeError);
  exceptions.missing_file = make(module, "MissingFile", "A file or folder that is not there.",
                                 error, PyExc_FileNotFoundError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      PyErr_SetString(exception_of(failure.fault()), failure.what());
    }
  });
}

}  // namespace plackett::python
