#include "failure.h"

#include <array>
#include <string_view>
#include <utility>

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

std::string in_python_words(const Error& error) {
  // What the engine advises, and the argument that does it; the first that fits.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kHints{{
      {"give another folder, or begin anew in this one", " (out=, fresh=True)"},
      {"give another folder", " (out=)"},
      {"give one of them another name", " (load(..., name=))"},
  }};
  std::string message = error.message;
  for (const auto& [advice, hint] : kHints) {
    const std::size_t place = message.find(advice);
    if (place != std::string::npos) return message.insert(place + advice.size(), hint);
  }
  return message;
}

void bind_failures(py::module_& module) {
  PyObject* error = make(module, "Error", R"(Whatever plackett finds wrong: base of its exceptions.

>>> import plackett
>>> try:
...     plackett.ndcg([5], labels=[1, 0])
... except plackett.Error as error:
...     print(error)
ranking: document 5; documents are 0 to 1)",
                         PyExc_Exception, nullptr);
  exceptions.value =
      make(module, "BadValue", R"(A value that can't be: says which, and what is allowed.

>>> import plackett
>>> plackett.PDGD(features=3, shown=0)
Traceback (most recent call last):
    ...
plackett.BadValue: shown: 0; it is a whole number from 1 to 100)",
           error, PyExc_ValueError);
  exceptions.type = make(module, "BadType", R"(An argument of a type that can't be used.

>>> import plackett
>>> plackett.PDGD(features=3, shown="ten")
Traceback (most recent call last):
    ...
plackett.BadType: shown: 'ten'; it is a whole number from 1 to 100)",
                         error, PyExc_TypeError);
  exceptions.missing_file = make(module, "MissingFile", R"(A file or folder that is not there.

>>> import plackett
>>> plackett.Ranker.load("nowhere.plk")
Traceback (most recent call last):
    ...
plackett.MissingFile: path: nowhere.plk: no such file or folder)",
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
