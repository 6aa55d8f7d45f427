// From a comparison's lists to its cells.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "experiment/cell_names.h"
#include "experiment/spec_parts.h"
#include "experiment/world.h"
#include "plackett/make_user.h"
#include "plackett/method.h"
#include "plackett/options.h"

namespace plackett {
namespace {

bool has_setting(std::string_view method, std::string_view name) {
  const auto found = find_method(method);
  return found && find_setting(found.value()->settings, name) != nullptr;
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
      auto done = expand(surroundings, start, Of::kSurroundings,
                         [this](const ComparedCell& cell) { return add_click_models(cell); });
      if (!done) return done.error();
    }
    for (const Sweep& sweep : spec_.sweeps) {
      if (spec_.datasets.empty() || spec_.click_models.empty()) break;
      if (!used_.contains(sweep.name)) {
        return Error{fmt::format("{}: applies to none of the methods", sweep.name)};
      }
    }
    if (auto named = name_cells(spec_.baselines, cells_); !named) return named.error();
    return std::move(cells_);
  }

 private:
  enum class Of : std::uint8_t { kMethod, kSurroundings };

  // Calls add(cell) for each combination of values, the last sweep varying fastest.
  template <typename Add>
  Result<void> expand(std::span<const Sweep> sweeps, const ComparedCell& cell, Of of,
                      const Add& add) {
    if (sweeps.empty()) return add(cell);
    const Sweep& sweep = sweeps.front();
    if (of == Of::kMethod && !applies(sweep, cell.simulation)) {
      return expand(sweeps.subspan(1), cell, of, add);
    }
    used_.insert(sweep.name);
    for (const std::string& value : sweep.values) {
      ComparedCell next = cell;
      if (auto valid = set(sweep.name, value, next.simulation); !valid) {
        return valid.error().in(sweep.name);
      }
      if (of == Of::kMethod) next.sweeps.push_back(sweep.name);
      if (auto done = expand(sweeps.subspan(1), next, of, add); !done) return done;
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
        simulation.baseline = method.baseline;
        simulation.validate = spec_.select;
        cell.name = method.label;
        auto done = expand(sweeps_of(method), cell, Of::kMethod,
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
      std::set<std::string_view> values;
      for (const std::string& value : sweep.values) {
        if (values.insert(value).second) continue;
        return Error{fmt::format("{}: {} is listed twice", sweep.name, value)};
      }
      return {};
    };
    for (const Sweep& sweep : spec_.sweeps) {
      if (!names.insert(sweep.name).second) {
        return Error{fmt::format("{}: given twice", sweep.name)};
      }
      if (const auto* option = find_option(sweep.name); option && !option->changes_results) {
        return Error{fmt::format("{}: a list; all cells have the same", sweep.name)};
      }
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
    if (option.name == kEta && !reads_eta(simulation)) continue;
    text += fmt::format("{} = {}\n", option.name, option.text(simulation));
  }
  // Every curve was once whole.
  if (simulation.curve != CurveKind::kWhole) {
    text += fmt::format("curve = {}\n", name_of(simulation.curve));
  }
  if (!simulation.drift.empty()) text += fmt::format("drift = {}\n", to_text(simulation.drift));
  // They were once drawn for all runs together.
  if (is_drawn(simulation.drift)) text += "worlds = of each run\n";
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
