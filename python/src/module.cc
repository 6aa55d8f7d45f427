// plackett._engine: the engine as Python sees it. python/plackett/ makes the package from it.
#include <array>

#include "classes.h"
#include "plackett/rng.h"
#include "plackett/version.h"

namespace plackett::python {
namespace {

// How Python users follow a hint, by its value.
constexpr std::array<std::string_view, 5> kAdvice{"", " (out=)", " (out=, fresh=True)",
                                                  " (load(..., name=))", ""};
static_assert(static_cast<std::size_t>(Hint::kRefresh) + 1 == kAdvice.size());

py::handle errors;  // plackett/_errors.py

// Translates failures from then on.
void bind_failures() {
  errors = py::module_::import("plackett._errors").release();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const py::object type = errors.attr(failure.exception);
      PyErr_SetString(type.ptr(), failure.what());
    }
  });
}

// Constructing an object of pybind11's common base class would end the process, and pickle's
// protocols 0 and 1 do that. Refuses it; classes made later are constructed as before.
void refuse_bare_objects(py::handle common_base) {
  static PyTypeObject* const base = reinterpret_cast<PyTypeObject*>(common_base.ptr());
  static const newfunc make = base->tp_new;
  base->tp_new = [](PyTypeObject* asked, PyObject* arguments, PyObject* keywords) -> PyObject* {
    if (asked != base) return make(asked, arguments, keywords);
    PyErr_SetString(PyExc_TypeError,
                    "pybind11_object: it can't be constructed; pickle's protocols 0 and 1 try to, "
                    "later ones don't");
    return nullptr;
  };
  PyType_Modified(base);
}

}  // namespace

py::handle errors_module() { return errors; }

Failure::Failure(const Error& error, std::string_view argument)
    : Failure(error.code == ErrorCode::kNotFound ? "MissingFile" : "BadValue",
              fmt::format("{}{}{}{}", argument, argument.empty() ? "" : ": ", error.message,
                          kAdvice.at(static_cast<std::size_t>(error.hint)))) {}

}  // namespace plackett::python

PYBIND11_MODULE(_engine, module) {
  using namespace plackett::python;  // NOLINT(google-build-using-namespace)
  py::options options;
  options.disable_function_signatures();
  module.doc() = "The engine behind the package plackett.";
  module.attr("__module__") = "plackett";  // of its classes and functions
  bind_failures();
  bind_rng(module);
  refuse_bare_objects(py::type::of<plackett::Rng>().attr("__base__"));
  bind_dataset(module);
  bind_ranker(module);
  bind_impression(module);
  bind_learner(module);
  bind_click_model(module);
  bind_sampling(module);
  bind_evaluation(module);
  bind_experiments(module);
  bind_fit(module);
  bind_off_policy(module);
  add(module, "version", &plackett::version, with(),
      R"(The engine's version, as text: "0.1.0".

>>> plackett.version() == plackett.__version__
True)");
  add(module, "simd_target", &plackett::simd_target, with(),
      R"(The instruction set that the inner loops use on this machine: "avx2".

>>> isinstance(plackett.simd_target(), str)
True)");
}
