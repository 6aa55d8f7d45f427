// The table of methods and settings.
#include "methods.h"

#include <pybind11/stl.h>

#include "bindings.h"
#include "failure.h"
#include "plackett/method.h"
#include "plackett/simulation.h"
#include "spec.h"

namespace plackett::python {

py::object setting_value(const Setting& setting, double value) {
  if (!setting.names.empty()) return py::cast(setting.names[static_cast<std::size_t>(value)]);
  if (setting.whole) return py::int_(static_cast<std::int64_t>(value));
  return py::float_(value);
}

MethodEntry method_entry(std::string_view text, std::string_view name) {
  std::string command(text);
  bool in_name = true;  // and not in a value
  for (char& one : command) {
    if (one == ':') in_name = true;
    if (one == '=') in_name = false;
    if (in_name && one == '_') one = '-';
  }
  return take(parse_method_entry(command), name);
}

namespace {

py::dict described(const Setting& setting) {
  py::dict entry;
  entry["name"] = setting.name;
  entry["help"] = setting.help;
  entry["default"] = setting_value(setting, setting.fallback);
  if (setting.names.empty()) {
    entry["least"] = setting.least;
    entry["most"] = setting.most;
  } else {
    py::list names;
    for (const std::string_view name : setting.names) names.append(name);
    entry["names"] = names;
  }
  return entry;
}

py::list method_table() {
  py::list table;
  for (const Method* method : methods()) {
    py::dict entry;
    entry["name"] = method->name;
    entry["title"] = method->title;
    entry["summary"] = method->summary;
    entry["baseline"] = method->baseline;
    entry["learns_late"] = method->servable;
    entry["ranker"] = name_of(method->default_ranker);
    py::list settings;
    for (const Setting& setting : method->settings) settings.append(described(setting));
    entry["settings"] = settings;
    table.append(entry);
  }
  return table;
}

py::dict learner_defaults() {
  const MethodRules rules;
  const SimulationSpec& simulation = default_spec();
  py::dict defaults;
  defaults["shown"] = rules.shown;
  defaults["seed"] = simulation.seed;
  defaults["protocol"] = name_of(simulation.protocol);
  return defaults;
}

}  // namespace

void bind_methods(py::module_& module) {
  module.def("methods", method_table, R"(methods()
--

Every method there is, with its settings: a list of dicts.

>>> import plackett
>>> [method["name"] for method in plackett.methods()]
['cascade', 'dbgd', 'mgd', 'pairwise', 'pdgd'])");
  module.attr("learner_defaults") = learner_defaults();
}

}  // namespace plackett::python
