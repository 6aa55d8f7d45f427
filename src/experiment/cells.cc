// From a comparison's lists to its cells.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "experiment/spec_parts.h"
#include "plackett/make_user.h"
#include "plackett/method.h"
#include "plackett/options.h"

namespace plackett {
namespace {

constexpr std::string_view kRanker = "ranker";
// The simulation options that belong to the method, not to its surroundings.
constexpr std::array kOfMethod =
    std::to_array<std::string_view>({"hidden", "activation", "learning-rate-decay"});
constexpr std::array kOfNetwork = std::to_array<std::string_view>({"hidden", "activation"});
constexpr std::string_view kEta = "eta";

template <typename List, typename T>
bool contains(const List& list, const T& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

const Option<SimulationSpec>* find_option(std::string_view name) {
  for (const auto& option : simulation_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

bool has_setting(std::string_view method, std::string_view name) {
  const auto found = find_method(method);
  if (!found) return false;
  const auto settings = found.value()->settings;
  return std::any_of(settings.begin(), settings.end(),
                     [&](const Setting& setting) { return setting.name == name; });
}

bool has_setting(const SimulationSpec& simulation, std::string_view name) {
  return std::any_of(simulation.settings.begin(), simulation.settings.end(),
                     [&](const GivenSetting& given) { return given.name == name; });
}

bool reads_eta(std::string_view click_model) {
  return click_model == click_model_names().back() || click_model.ends_with(".toml");
}

bool is_of_surroundings(const Sweep& sweep) {
  return find_option(sweep.name) != nullptr && !contains(kOfMethod, sweep.name);
}

// Whether a value of the sweep changes what the simulation's method does.
bool applies(const Sweep& sweep, const SimulationSpec& simulation) {
  if (contains(kOfNetwork, sweep.name)) return has_network(simulation.ranker.kind);
  if (contains(kOfMethod, sweep.name)) return true;
  if (sweep.name == kRanker) {
    const auto method = find_method(simulation.method);
    return method && simulation.ranker.kind == method.value()->default_ranker;
  }
  return has_setting(simulation.method, sweep.name) && !has_setting(simulation, sweep.name);
}

Result<void> set(const std::string& name, const std::string& value, SimulationSpec& simulation) {
  if (const auto* option = find_option(name)) return option->set(simulation, value);
  if (name != kRanker) {
    simulation.settings.push_back({name, value});
    return {};
  }
  auto kind = parse_ranker_kind(value);
  if (!kind) return kind.error();
  simulation.ranker.kind = *kind;
  return {};
}

std::string label_of(const SimulationSpec& simulation, const std::vector<SweptValue>& swept) {
  SimulationSpec shown = simulation;
  std::vector<std::string> others;  // that a label made from the settings does not show
  for (const auto& [name, value] : swept) {
    if (!simulation.label.empty()) others.push_back(fmt::format("{} {}", name, value));
    if (name != kRanker && !has_setting(shown, name)) shown.settings.push_back({name, value});
  }
  if (simulation.label.empty()) return plackett::label_of(shown);
  if (others.empty()) return simulation.label;
  return fmt::format("{} ({})", simulation.label, fmt::join(others, ", "));
}

// The label of a method without what is swept.
std::string family_of(const SimulationSpec& simulation, const std::vector<Sweep>& sweeps) {
  std::string label = plackett::label_of(simulation);
  const bool is_ranker_swept = std::any_of(sweeps.begin(), sweeps.end(), [&](const Sweep& sweep) {
    return sweep.name == kRanker && sweep.values.size() > 1 && applies(sweep, simulation);
  });
  if (!is_ranker_swept) return label;
  const auto method = find_method(simulation.method);
  label = method ? method.value()->title : std::string_view(simulation.method);
  std::vector<std::string> settings;
  for (const GivenSetting& given : simulation.settings) {
    settings.push_back(fmt::format("{} {}", given.name, given.value));
  }
  if (!settings.empty()) label += fmt::format(" ({})", fmt::join(settings, ", "));
  return label;
}

// Whether a method with some of its settings is the simulation's.
bool fits(const MethodEntry& entry, const SimulationSpec& simulation) {
  return entry.method == simulation.method && entry.ranker == simulation.ranker.kind &&
         std::all_of(entry.settings.begin(), entry.settings.end(),
                     [&](const GivenSetting& one) { return contains(simulation.settings, one); });
}

// Of cells with a simulation and a family.
template <typename Cell>
Result<void> mark_baselines(const std::vector<std::string>& names, std::vector<Cell>& cells) {
  if (names.empty()) return {};
  for (Cell& cell : cells) cell.simulation.baseline = false;
  for (const std::string& name : names) {
    const auto entry = parse_method_entry(name);
    const std::string text = entry ? to_text(canonical(*entry)) : "";
    const auto mark = [&](auto is_named) {
      bool found = false;
      for (Cell& cell : cells) {
        if (!is_named(cell)) continue;
        cell.simulation.baseline = found = true;
      }
      return found;
    };
    if (mark([&](const Cell& cell) {
          return name == cell.simulation.label || text == to_text(entry_of(cell.simulation));
        })) {
      continue;
    }
    if (mark([&](const Cell& cell) {
          return name == cell.family || (entry && fits(canonical(*entry), cell.simulation));
        })) {
      continue;
    }
    std::vector<std::string> known;
    for (const Cell& cell : cells) {
      const std::string there = to_text(entry_of(cell.simulation));
      if (!contains(known, there)) known.push_back(there);
    }
    return Error{
        fmt::format("baselines: no method \"{}\"; there are {}", name, fmt::join(known, ", "))};
  }
  return {};
}

class Expansion {
 public:
  explicit Expansion(const ComparisonSpec& spec) : spec_(spec) {}

  Result<std::vector<ComparedCell>> cells() {
    if (auto valid = check_sweeps(); !valid) return valid.error();
    std::vector<Sweep> surroundings;
    std::copy_if(spec_.sweeps.begin(), spec_.sweeps.end(), std::back_inserter(surroundings),
                 is_of_surroundings);
    for (const Sweep& sweep : surroundings) used_.insert(sweep.name);
    for (std::size_t dataset = 0; dataset < spec_.datasets.size(); ++dataset) {
      const ComparedCell start{.dataset = dataset, .simulation = spec_.common};
      auto done = expand(surroundings, start, &ComparedCell::surroundings,
                         [this](const ComparedCell& cell) { return add_click_models(cell); });
      if (!done) return done.error();
    }
    for (const Sweep& sweep : spec_.sweeps) {
      if (spec_.datasets.empty() || spec_.click_models.empty()) break;
      if (!used_.contains(sweep.name)) {
        return Error{fmt::format("{}: applies to none of the methods", sweep.name)};
      }
    }
    if (auto marked = mark_baselines(spec_.baselines, cells_); !marked) return marked.error();
    return std::move(cells_);
  }

 private:
  // Calls add(cell) for each combination of values, the last sweep varying fastest.
  template <typename Add>
  Result<void> expand(std::span<const Sweep> sweeps, const ComparedCell& cell,
                      std::vector<SweptValue> ComparedCell::*values, const Add& add) {
    if (sweeps.empty()) return add(cell);
    const Sweep& sweep = sweeps.front();
    const bool of_method = values == &ComparedCell::swept;
    if (of_method && !applies(sweep, cell.simulation)) {
      return expand(sweeps.subspan(1), cell, values, add);
    }
    used_.insert(sweep.name);
    for (const std::string& value : sweep.values) {
      ComparedCell next = cell;
      if (auto valid = set(sweep.name, value, next.simulation); !valid) {
        return valid.error().in(sweep.name);
      }
      if (sweep.values.size() > 1) (next.*values).push_back({sweep.name, value});
      if (auto done = expand(sweeps.subspan(1), next, values, add); !done) return done;
    }
    return {};
  }

  Result<void> add_click_models(const ComparedCell& start) {
    for (const std::string& click_model : spec_.click_models) {
      for (const ComparedMethod& method : spec_.methods) {
        ComparedCell cell = start;
        SimulationSpec& simulation = cell.simulation;
        apply(method.entry, simulation);
        simulation.click_model = click_model;
        simulation.user = own_user(spec_, click_model);
        simulation.label = method.label;
        simulation.baseline = method.baseline;
        simulation.validate = spec_.select;
        const std::vector<Sweep> sweeps = sweeps_of(method);
        cell.family = method.label.empty() ? family_of(simulation, sweeps) : method.label;
        auto done = expand(sweeps, cell, &ComparedCell::swept,
                           [this](const ComparedCell& made) { return add_cell(made); });
        if (!done) return done;
      }
    }
    return {};
  }

  // The method's own before the comparison's; the ranker first, since others depend on it.
  [[nodiscard]] std::vector<Sweep> sweeps_of(const ComparedMethod& method) const {
    std::vector<Sweep> sweeps = method.sweeps;
    for (const Sweep& sweep : spec_.sweeps) {
      const bool own = std::any_of(method.sweeps.begin(), method.sweeps.end(),
                                   [&](const Sweep& one) { return one.name == sweep.name; });
      if (!own && !is_of_surroundings(sweep)) sweeps.push_back(sweep);
    }
    std::stable_partition(sweeps.begin(), sweeps.end(),
                          [](const Sweep& sweep) { return sweep.name == kRanker; });
    return sweeps;
  }

  Result<void> add_cell(ComparedCell cell) {
    SimulationSpec& simulation = cell.simulation;
    simulation.settings = canonical_settings(simulation.method, simulation.settings);
    simulation.label = label_of(simulation, cell.swept);
    const std::uint64_t key = identity(spec_.datasets[cell.dataset], simulation);
    if (seen_.insert(key).second) cells_.push_back(std::move(cell));
    return {};
  }

  [[nodiscard]] Result<void> check_sweeps() const {
    std::set<std::string_view> names;
    const auto check = [&](const Sweep& sweep, bool is_known) -> Result<void> {
      if (!is_known) {
        return Error{fmt::format("\"{}\" is neither an option nor a setting of one of the methods",
                                 sweep.name)};
      }
      if (sweep.values.empty()) return Error{fmt::format("{}: no values", sweep.name)};
      for (auto at = sweep.values.begin(); at != sweep.values.end(); ++at) {
        if (std::find(sweep.values.begin(), at, *at) == at) continue;
        return Error{fmt::format("{}: {} is listed twice", sweep.name, *at)};
      }
      return {};
    };
    for (const Sweep& sweep : spec_.sweeps) {
      if (!names.insert(sweep.name).second) {
        return Error{fmt::format("{}: given twice", sweep.name)};
      }
      if (sweep.name == "runs") return Error{"runs: a list; cells have the same number of runs"};
      const bool is_setting = std::any_of(spec_.methods.begin(), spec_.methods.end(),
                                          [&](const ComparedMethod& method) {
                                            return has_setting(method.entry.method, sweep.name);
                                          });
      const bool is_known =
          is_setting || sweep.name == kRanker || find_option(sweep.name) != nullptr;
      if (auto valid = check(sweep, is_known); !valid) return valid;
    }
    for (const ComparedMethod& method : spec_.methods) {
      for (const Sweep& sweep : method.sweeps) {
        const bool is_known = sweep.name == kRanker || has_setting(method.entry.method, sweep.name);
        if (auto valid = check(sweep, is_known); !valid) {
          return valid.error().in(to_text(method.entry));
        }
      }
    }
    return {};
  }

  const ComparisonSpec& spec_;
  std::vector<ComparedCell> cells_;
  std::set<std::uint64_t> seen_;
  std::set<std::string> used_;  // sweeps that some cell took a value of
};

}  // namespace

Result<std::vector<ComparedCell>> cells_of(const ComparisonSpec& spec) {
  return Expansion(spec).cells();
}

Result<void> set_baselines(StoredResults& stored) {
  return mark_baselines(stored.spec.baselines, stored.cells);
}

std::uint64_t run_count(const ComparisonSpec& spec) {
  const auto cells = cells_of(spec);
  return cells ? std::uint64_t{cells->size()} * spec.common.runs : 0;
}

std::uint64_t identity(const ComparedDataset& dataset, const SimulationSpec& simulation) {
  std::string text = fmt::format("dataset = {}\nmethod = {}\nclick-model = {}\n", dataset.name,
                                 to_text(canonical(entry_of(simulation))), simulation.click_model);
  for (const auto& option : dataset_options()) {
    if (option.changes_results) text += fmt::format("{} = {}\n", option.name, option.text(dataset));
  }
  for (const auto& option : simulation_options()) {
    if (!option.changes_results) continue;
    if (contains(kOfNetwork, option.name) && !has_network(simulation.ranker.kind)) continue;
    if (option.name == kEta && !reads_eta(simulation.click_model)) continue;
    text += fmt::format("{} = {}\n", option.name, option.text(simulation));
  }
  if (simulation.validate) text += "validate\n";
  return checksum(std::string_view(text));
}

std::uint64_t identity(const ComparisonSpec& spec) {
  std::vector<std::uint64_t> keys;
  if (const auto cells = cells_of(spec)) {
    for (const ComparedCell& cell : *cells) {
      keys.push_back(identity(spec.datasets[cell.dataset], cell.simulation));
    }
  }
  return checksum(std::as_bytes(std::span(keys)));
}

}  // namespace plackett
