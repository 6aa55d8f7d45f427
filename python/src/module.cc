// plackett._engine: the engine as Python sees it. python/plackett/ makes the package of it.
#include "bindings.h"
#include "made.h"
#include "plackett/version.h"

PYBIND11_MODULE(_engine, module) {
  namespace python = plackett::python;
  pybind11::options options;
  options.disable_function_signatures();
  module.doc() = "The engine behind the package plackett.";
  module.attr("__module__") = "plackett";  // what its classes and functions say that they are of
  python::refuse_bare_objects();
  python::bind_failures(module);
  python::bind_rng(module);
  python::bind_methods(module);
  python::bind_dataset(module);
  python::bind_ranker(module);
  python::bind_impression(module);
  python::bind_learner(module);
  python::bind_click_model(module);
  python::bind_sampling(module);
  python::bind_evaluation(module);
  python::bind_simulate(module);
  python::bind_compare(module);
  module.def(
      "version", [] { return plackett::version(); }, R"(version()
--

Of the engine, as text: "0.1.0".

>>> import plackett
>>> plackett.version() == plackett.__version__
True)");
  module.def(
      "simd_target", [] { return plackett::simd_target(); },
      R"(simd_target()
--

The instructions that the inner loops use on this machine: "avx2".

>>> import plackett
>>> isinstance(plackett.simd_target(), str)
True)");
}
