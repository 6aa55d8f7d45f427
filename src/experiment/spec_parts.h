// A comparison's runs, one by one, and what each takes of the spec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plackett/comparison_spec.h"
#include "plackett/dataset.h"
#include "plackett/method_entry.h"
#include "plackett/simulation.h"

namespace plackett {

// A run's place in a spec.
struct RunPlace {
  std::size_t dataset = 0;
  std::uint32_t run = 0;
  std::size_t click_model = 0;
  std::size_t method = 0;

  // In the order of the members, which is the order of a finished results file.
  bool operator<(const RunPlace& other) const {
    if (dataset != other.dataset) return dataset < other.dataset;
    if (run != other.run) return run < other.run;
    if (click_model != other.click_model) return click_model < other.click_model;
    return method < other.method;
  }
};

// A run as results name it.
struct RunName {
  std::string_view dataset;
  std::string_view method;  // to_text of its canonical entry
  std::string_view click_model;
  std::uint32_t run = 0;
};

// Nothing where the spec asks for no such run.
std::optional<RunPlace> place_of(const ComparisonSpec& spec, const RunName& name);

// All the runs that the spec asks for.
std::uint64_t run_count(const ComparisonSpec& spec);

// The spec's own user of that name; null where it has none.
std::shared_ptr<const User> own_user(const ComparisonSpec& spec, std::string_view click_model);

// What Simulation::prepare takes for one cell.
SimulationSpec simulation_spec(const ComparisonSpec& spec, const ComparedMethod& method,
                               const std::string& click_model);

// What load_dataset takes, threads and trust apart.
LoadOptions load_options(const ComparedDataset& dataset);

// The entry with its settings in the order of their declaration, their numbers in shortest form
// and those left out that are the method's own, so that two ways to write one method are equal.
// Requires: parse_method_entry accepts it.
MethodEntry canonical(const MethodEntry& entry);

// A dataset's name where its user gives none: "synthetic:mq2008" as it is, else the last part of
// the path without ".plk".
std::string dataset_name(const std::string& path);

// Whether a dataset's path means embedded data.
bool is_synthetic(std::string_view path);

// How the error ends that two datasets of one name give.
inline constexpr std::string_view kGiveAnotherName = "give one of them another name";

// What check() finds without looking for the datasets.
Result<void> check_apart_from_data(const ComparisonSpec& spec);

}  // namespace plackett
