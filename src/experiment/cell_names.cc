#include "experiment/cell_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "experiment/spec_parts.h"
#include "plackett/method.h"
#include "users/click_models.h"

namespace plackett {
namespace {

// What the cell's method has for a name that can be swept; nothing if that makes no difference.
std::optional<std::string> value_of(const SimulationSpec& simulation, std::string_view name) {
  if (name == kRanker) return std::string(name_of(simulation.ranker.kind));
  if (contains(kOfMethod, name)) {
    if (contains(kOfNetwork, name) && !has_network(simulation.ranker.kind)) return std::nullopt;
    std::string text = find_option(name)->text(simulation);
    std::erase(text, ' ');  // "64,32" among other settings
    return text;
  }
  for (const GivenSetting& given : simulation.settings) {
    if (given.name == name) return given.value;
  }
  const auto method = find_method(simulation.method);
  if (!method) return std::nullopt;
  for (const Setting& setting : method.value()->settings) {
    if (setting.name == name) return setting.text(setting.fallback);
  }
  return std::nullopt;
}

// What a method's cells differ in, of what was swept for one of them or has no place in a label.
struct MethodSweeps {
  std::vector<std::string> names = {};  // in the order in which they were asked for
  std::map<std::string, std::set<std::string>> values = {};

  void add_name(const std::string& name) {
    if (!contains(names, name)) names.push_back(name);
  }
};

template <typename Cell>
void set_swept(std::vector<Cell>& cells) {
  std::map<std::string, MethodSweeps> methods;
  for (const Cell& cell : cells) {
    MethodSweeps& sweeps = methods[cell.simulation.method];
    for (const std::string& name : cell.sweeps) sweeps.add_name(name);
  }
  for (auto& [method, sweeps] : methods) {
    for (const std::string_view name : kOfMethod) sweeps.add_name(std::string(name));
  }
  for (const Cell& cell : cells) {
    MethodSweeps& sweeps = methods[cell.simulation.method];
    for (const std::string& name : sweeps.names) {
      if (auto value = value_of(cell.simulation, name)) sweeps.values[name].insert(*value);
    }
  }
  for (Cell& cell : cells) {
    const MethodSweeps& sweeps = methods[cell.simulation.method];
    cell.swept.clear();
    for (const std::string& name : sweeps.names) {
      const auto values = sweeps.values.find(name);
      if (values == sweeps.values.end() || values->second.size() < 2) continue;
      if (auto value = value_of(cell.simulation, name)) cell.swept.push_back({name, *value});
    }
  }
}

// Adds what the cells differ in of one thing. text(cell) is empty where it makes no difference.
template <typename Cell, typename Text>
void add_surroundings(std::string_view name, std::vector<Cell>& cells, const Text& text) {
  std::vector<std::string> texts;
  for (const Cell& cell : cells) texts.push_back(text(cell));
  std::set<std::string> values(texts.begin(), texts.end());
  values.erase("");
  if (values.size() < 2) return;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    if (!texts[at].empty()) cells[at].surroundings.push_back({std::string(name), texts[at]});
  }
}

template <typename Cell>
void set_surroundings(std::vector<Cell>& cells) {
  for (Cell& cell : cells) cell.surroundings.clear();
  for (const auto& option : simulation_options()) {
    if (!option.changes_results || contains(kOfMethod, option.name)) continue;
    add_surroundings(option.name, cells, [&](const Cell& cell) {
      const bool applies = option.name != kEta || reads_eta(cell.simulation);
      return applies ? option.text(cell.simulation) : "";
    });
  }
  add_surroundings("drift", cells, [](const Cell& cell) {
    return cell.simulation.drift.empty() ? "none" : to_text(cell.simulation.drift);
  });
}

// The label of the method without what is swept. `name` is the one that it was given, if any.
std::string family_of(const SimulationSpec& simulation, const std::string& name,
                      const std::vector<SweptValue>& swept) {
  if (!name.empty()) return name;
  SimulationSpec shown = simulation;
  bool is_ranker_swept = false;
  for (const SweptValue& one : swept) {
    is_ranker_swept |= one.name == kRanker;
    std::erase_if(shown.settings,
                  [&](const GivenSetting& given) { return given.name == one.name; });
  }
  if (!is_ranker_swept) return label_of(shown);
  const auto method = find_method(simulation.method);
  std::string label(method ? method.value()->title : std::string_view(simulation.method));
  std::vector<std::string> settings;
  for (const GivenSetting& given : shown.settings) {
    settings.push_back(fmt::format("{} {}", given.name, given.value));
  }
  if (!settings.empty()) label += fmt::format(" ({})", fmt::join(settings, ", "));
  return label;
}

std::string label_of(const SimulationSpec& simulation, const std::string& name,
                     const std::vector<SweptValue>& swept) {
  if (name.empty()) {
    SimulationSpec shown = simulation;
    for (const SweptValue& one : swept) {
      if (one.name == kRanker || has_setting(shown, one.name)) continue;
      shown.settings.push_back({one.name, one.value});
    }
    return plackett::label_of(shown);
  }
  if (swept.empty()) return name;
  std::vector<std::string> values;
  for (const SweptValue& one : swept) values.push_back(fmt::format("{} {}", one.name, one.value));
  return fmt::format("{} ({})", name, fmt::join(values, ", "));
}

template <typename Cell>
void set_labels(std::vector<Cell>& cells) {
  for (Cell& cell : cells) {
    cell.family = family_of(cell.simulation, cell.name, cell.swept);
    cell.simulation.label = label_of(cell.simulation, cell.name, cell.swept);
  }
}

// Whether a method with some of its settings is the simulation's.
bool fits(const MethodEntry& entry, const SimulationSpec& simulation) {
  return entry.method == simulation.method && entry.ranker == simulation.ranker.kind &&
         std::all_of(entry.settings.begin(), entry.settings.end(),
                     [&](const GivenSetting& one) { return contains(simulation.settings, one); });
}

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

template <typename Cell>
Result<void> name_all(const std::vector<std::string>& baselines, std::vector<Cell>& cells) {
  set_swept(cells);
  set_surroundings(cells);
  set_labels(cells);
  return mark_baselines(baselines, cells);
}

// Different specs may give one name to several methods: tables must tell them apart.
void separate_labels(std::vector<StoredCell>& cells) {
  using Place = std::tuple<std::string, std::string, std::vector<SweptValue>, std::string>;
  std::map<Place, std::vector<StoredCell*>> places;
  for (StoredCell& cell : cells) {
    places[{cell.dataset.name, cell.simulation.click_model, cell.surroundings,
            cell.simulation.label}]
        .push_back(&cell);
  }
  for (const auto& [place, same] : places) {
    if (same.size() < 2) continue;
    for (StoredCell* cell : same) {
      const std::string method = to_text(entry_of(cell->simulation));
      cell->simulation.label += fmt::format(" [{}]", method);
      cell->family += fmt::format(" [{}]", method);
    }
  }
}

}  // namespace

const Option<SimulationSpec>* find_option(std::string_view name) {
  for (const auto& option : simulation_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

bool has_setting(const SimulationSpec& simulation, std::string_view name) {
  return std::any_of(simulation.settings.begin(), simulation.settings.end(),
                     [&](const GivenSetting& given) { return given.name == name; });
}

bool reads_eta(const SimulationSpec& simulation) {
  const auto reads = [](std::string_view click_model) {
    return click_model == kPositionBased || click_model == kTrustBias ||
           click_model.ends_with(".toml");
  };
  return reads(simulation.click_model) ||
         std::any_of(simulation.drift.begin(), simulation.drift.end(),
                     [&](const Drift& drift) { return reads(drift.click_model); });
}

Result<void> name_cells(const std::vector<std::string>& baselines,
                        std::vector<ComparedCell>& cells) {
  return name_all(baselines, cells);
}

Result<void> name_cells(StoredResults& stored) {
  auto named = name_all(stored.spec.baselines, stored.cells);
  if (named) separate_labels(stored.cells);
  return named;
}

}  // namespace plackett
