#include "experiment/run_comparison.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "experiment/fingerprint.h"
#include "experiment/run_jobs.h"

namespace plackett {
namespace {

Result<std::uint64_t> user_file_checksum(const std::string& click_model) {
  if (!click_model.ends_with(".toml")) return std::uint64_t{0};
  const auto text = read_file(click_model);
  if (!text) return text.error();
  return checksum(std::string_view(*text));
}

Error changed_user(const std::string& click_model) {
  return Error{fmt::format("{}: has changed since the finished runs were made from it; {}",
                           click_model, kOrBeginAnew),
               Hint::kOtherFolderOrFresh};
}

Result<void> require_same_inputs(const FinishedRun& finished, const FinishedRun& now) {
  if (finished.data != now.data) {
    return Error{fmt::format("dataset {}: the data is not what the finished runs were made from "
                             "(fingerprint {:016x} then, {:016x} now); {}",
                             now.dataset, finished.data, now.data, kOrBeginAnew),
                 Hint::kOtherFolderOrFresh};
  }
  if (finished.user_file != now.user_file) {
    return changed_user(now.click_model);
  }
  return {};
}

}  // namespace

Result<void> require_same_users(const StoredResults& stored) {
  for (std::size_t at = 0; at < stored.spec.click_models.size(); ++at) {
    const std::string& click_model = stored.spec.click_models[at];
    const auto now = user_file_checksum(click_model);
    if (!now) return now.error();
    for (const auto& [place, run] : stored.runs) {
      if (place.click_model == at && run.user_file != *now) return changed_user(click_model);
    }
  }
  return {};
}

std::uint64_t finished_runs(const StoredResults& stored, std::size_t dataset) {
  return static_cast<std::uint64_t>(std::distance(stored.runs.lower_bound({dataset, 0, 0, 0}),
                                                  stored.runs.lower_bound({dataset + 1, 0, 0, 0})));
}

Result<std::vector<Simulation>> prepare_cells(const ComparisonSpec& spec, const Dataset& dataset) {
  std::vector<Simulation> simulations;
  std::set<std::string> users;
  for (const std::string& click_model : spec.click_models) {
    for (const ComparedMethod& method : spec.methods) {
      auto simulation = Simulation::prepare(dataset, simulation_spec(spec, method, click_model));
      if (!simulation) {
        return Error{fmt::format("dataset {}: {}", dataset.name, simulation.error().message)};
      }
      simulations.push_back(std::move(simulation).value());
    }
    const std::string& user = simulations.back().spec().click_model;
    if (!users.insert(user).second) {
      return Error{fmt::format("two click models are called \"{}\"; names must differ", user)};
    }
  }
  return simulations;
}

RunPlace place_of_job(const ComparisonSpec& spec, std::size_t dataset, const Job& job) {
  const std::size_t methods = spec.methods.size();
  return {dataset, job.run, job.simulation / methods, job.simulation % methods};
}

Result<void> run_dataset(ResultsFolder& folder, std::size_t number, const Dataset& dataset,
                         unsigned threads, const ComparisonWatch& watch) {
  const ComparisonSpec& spec = folder.stored().spec;
  auto simulations = prepare_cells(spec, dataset);
  if (!simulations) return simulations.error();
  const std::size_t methods = spec.methods.size();

  // What the runs of each cell have in common.
  std::vector<FinishedRun> cells;
  const std::uint64_t data = fingerprint(dataset);
  for (std::size_t at = 0; at < simulations->size(); ++at) {
    const std::string& click_model = spec.click_models[at / methods];
    auto user_file = user_file_checksum(click_model);
    if (!user_file) return user_file.error();
    cells.push_back({.dataset = dataset.name,
                     .method = to_text(canonical(spec.methods[at % methods].entry)),
                     .click_model = click_model,
                     .user = (*simulations)[at].spec().click_model,
                     .data = data,
                     .user_file = user_file.value(),
                     .record = {}});
  }

  std::vector<Job> jobs;
  for (const Job& job : run_major(simulations.value())) {
    const auto finished = folder.stored().runs.find(place_of_job(spec, number, job));
    if (finished == folder.stored().runs.end()) {
      jobs.push_back(job);
    } else if (auto same = require_same_inputs(finished->second, cells[job.simulation]); !same) {
      return same;
    }
  }
  return run_jobs(simulations.value(), jobs, threads, watch.runs,
                  [&](const Job& job, RunRecord record) -> Result<void> {
                    const RunPlace place = place_of_job(spec, number, job);
                    FinishedRun run = cells[job.simulation];
                    run.record = std::move(record);
                    if (auto kept = folder.append(place, std::move(run), threads); !kept) {
                      return kept;
                    }
                    if (watch.kept) watch.kept(place, folder.stored().runs.at(place).record);
                    return {};
                  });
}

}  // namespace plackett
