#include "experiment/made_by.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/build_id.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/kernels.h"
#include "experiment/results_files.h"
#include "experiment/runs_file.h"
#include "plackett/method.h"
#include "plackett/options.h"

namespace plackett {
namespace {

constexpr std::string_view kPlackett = "plackett";
constexpr std::string_view kData = "data";
constexpr std::string_view kClickModel = "click-model";
constexpr std::string_view kCurve = "curve";

// A line of the file is a kind, for most kinds a name in quotes, and a value without spaces.
std::string key_of(std::string_view kind, std::string_view name) {
  return fmt::format("{} {:?}", kind, name);
}

std::string_view kind_of(std::string_view key) { return key.substr(0, key.find(' ')); }

// An address in the program or shared library that defines a method.
const void* code_of(const decltype(Method::make)& make) {
  using Plain = std::unique_ptr<Learner> (*)(std::unique_ptr<Ranker>, const MethodRules&,
                                             const SettingValues&);
  if (const auto* plain = make.target<Plain>()) return reinterpret_cast<const void*>(*plain);
  return &make.target_type();  // a class of the caller's own: its type information
}

bool is_loading(std::string_view kind) {
  const auto options = dataset_options();
  return std::any_of(options.begin(), options.end(),
                     [&](const auto& option) { return option.name == kind; });
}

// Whether finished runs and their specs tell it.
bool is_in_runs(std::string_view kind) {
  return kind == kPlackett || kind == kData || kind == kClickModel || kind == kCurve ||
         is_loading(kind);
}

void add_loading(const ComparedDataset& dataset, MadeBy& to) {
  for (const auto& option : dataset_options()) {
    if (!option.changes_results) continue;
    to.try_emplace(key_of(option.name, dataset.name), option.text(dataset));
  }
}

MadeBy parse_made_by(std::string_view text) {
  MadeBy made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos) continue;
    made.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return made;
}

Result<MadeBy> recorded(const std::filesystem::path& folder) {
  const auto text = read_if_there(folder / kMadeByName);
  if (!text) return text.error();
  return parse_made_by(*text);
}

std::string difference(const std::string& key, const std::string& there, const std::string& own) {
  const std::string_view kind = kind_of(key);
  const std::string_view name = std::string_view(key).substr(std::min(key.size(), kind.size() + 1));
  if (kind == kPlackett) {
    return fmt::format("its runs are made by plackett {}, this is {}", there, own);
  }
  if (kind == kData) {
    return fmt::format(
        "dataset {}: not the data that its runs are made from (fingerprint {} there, {} now)", name,
        there, own);
  }
  if (kind == kClickModel) {
    return fmt::format("click model {}: has changed since runs were made from it", name);
  }
  if (kind == kCurve) {
    return fmt::format("its runs are made with curve {}, not {}", there, own);
  }
  if (is_loading(kind)) {
    return fmt::format("its runs on {} are made with {} {}, not {}", name, kind, there, own);
  }
  return "its runs are made by another build of plackett or on another kind of processor, and may "
         "differ from what this one gives";
}

Result<void> unite(const std::filesystem::path& folder, const MadeBy& own, MadeBy& all) {
  for (const auto& [key, value] : own) {
    const std::string& there = all.try_emplace(key, value).first->second;
    if (there == value) continue;
    return Error{
        ErrorCode::kConflict,
        fmt::format("{}: {}; {}", folder.string(), difference(key, there, value), kStartOver),
        Hint::kOtherFolderOrFresh};
  }
  return {};
}

}  // namespace

Result<std::uint64_t> user_file_checksum(const std::string& click_model) {
  if (!click_model.ends_with(".toml")) return std::uint64_t{0};
  const auto text = read_file(click_model);
  if (!text) return text.error();
  return checksum(std::string_view(*text));
}

Result<std::map<std::string, std::uint64_t>> drift_file_checksums(std::span<const Drift> drifts) {
  std::map<std::string, std::uint64_t> checksums;
  for (const Drift& drift : drifts) {
    const auto file = user_file_checksum(drift.click_model);
    if (!file) return file.error();
    if (*file != 0) checksums.emplace(drift.click_model, *file);
  }
  return checksums;
}

// All instruction sets with fused multiply-add agree. A method that a program added is identified
// by the file that holds its code.
Result<MadeBy> made_by(const std::vector<StoredCell>& cells, const std::string& version) {
  const std::string_view kernels_name = kernels().name;
  const bool fused = kernels_name == "avx2" || kernels_name == "avx512";
  MadeBy made{{std::string(kPlackett), version},
              {"build", std::string(build_id())},
              {"arithmetic", std::string(fused ? "fused" : kernels_name)}};
  std::set<std::string> seen;
  for (const StoredCell& cell : cells) {
    const std::string& name = cell.simulation.method;
    const auto found = find_method(name);
    if (found && !is_built_in(*found.value())) {
      made.try_emplace("method " + name, file_id(code_of(found.value()->make)));
    }
    made.try_emplace(std::string(kCurve), name_of(cell.simulation.curve));
    if (seen.insert(cell.dataset.name).second) add_loading(cell.dataset, made);
    const auto drift_files = drift_file_checksums(cell.simulation.drift);
    if (!drift_files) return drift_files.error();
    for (const auto& [file, sum] : *drift_files) made.emplace(key_of(kClickModel, file), hex(sum));
    const std::string& click_model = cell.simulation.click_model;
    if (!click_model.ends_with(".toml") || made.contains(key_of(kClickModel, click_model))) {
      continue;
    }
    const auto file = user_file_checksum(click_model);
    if (!file) return file.error();
    made.emplace(key_of(kClickModel, click_model), hex(*file));
  }
  return made;
}

MadeBy inputs_of(const FinishedRun& run) {
  MadeBy made{{key_of(kData, run.dataset), hex(run.data)}};
  if (run.user_file != 0) made.emplace(key_of(kClickModel, run.click_model), hex(run.user_file));
  for (const auto& [file, sum] : run.drift_files) made.emplace(key_of(kClickModel, file), hex(sum));
  return made;
}

Result<MadeBy> agreed(const std::filesystem::path& folder, const StoredResults& stored,
                      const MadeBy& own, bool others_at_work) {
  auto all = recorded(folder);
  if (!all) return all.error();
  std::erase_if(*all, [&](const auto& line) {
    return !others_at_work && (stored.empty() || is_in_runs(kind_of(line.first)));
  });
  if (!stored.empty()) all->try_emplace(std::string(kPlackett), stored.plackett);
  std::set<std::string> seen;
  for (const StoredCell& cell : stored.cells) {
    if (cell.runs.empty()) continue;
    all->try_emplace(std::string(kCurve), name_of(cell.simulation.curve));
    if (seen.insert(cell.dataset.name).second) add_loading(cell.dataset, *all);
    all->merge(inputs_of(cell.runs.begin()->second));
  }
  if (auto same = unite(folder, own, *all); !same) return same.error();
  return all;
}

Result<void> record(const std::filesystem::path& folder, const MadeBy& made) {
  std::string lines;
  for (const auto& [key, value] : made) lines += fmt::format("{} {}\n", key, value);
  return write_if_changed(folder / kMadeByName, lines);
}

Result<void> claim(const std::filesystem::path& folder, const MadeBy& own) {
  auto all = recorded(folder);
  if (!all) return all.error();
  if (auto same = unite(folder, own, *all); !same) return same;
  return record(folder, *all);
}

}  // namespace plackett
