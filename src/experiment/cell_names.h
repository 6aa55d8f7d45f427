// How cells are told apart: what differs among them, and what they are called by it.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/comparison_spec.h"
#include "plackett/options.h"
#include "plackett/results.h"

namespace plackett {

// The simulation options that belong to the method, not to its surroundings.
inline constexpr std::array kOfMethod =
    std::to_array<std::string_view>({"hidden", "activation", "learning-rate-decay"});
inline constexpr std::array kOfNetwork = std::to_array<std::string_view>({"hidden", "activation"});
inline constexpr std::string_view kRanker = "ranker";  // swept like a setting
inline constexpr std::string_view kEta = "eta";

template <typename List, typename T>
bool contains(const List& list, const T& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

// Null if there is none of that name.
const Option<SimulationSpec>* find_option(std::string_view name);
// Whether it was given to the simulation's method.
bool has_setting(const SimulationSpec& simulation, std::string_view name);
// Whether its users depend on the option eta.
bool reads_eta(const SimulationSpec& simulation);

// Sets the cells' labels, families, swept values and surroundings by what differs among all of
// them: a setting of a method counts as swept if it was so for one of the method's cells. Then
// makes those cells baselines that `baselines` names, unless it is empty, by the same names as for
// stored ones.
Result<void> name_cells(const std::vector<std::string>& baselines,
                        std::vector<ComparedCell>& cells);

}  // namespace plackett
