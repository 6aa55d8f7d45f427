#include "experiment/results_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "experiment/curve.h"
#include "experiment/drift_measures.h"
#include "experiment/made_by.h"
#include "experiment/runs_file.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSpecStem = "experiment";
constexpr std::string_view kTimingsSuffix = ".timings";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Whether `text` is the start of a header whose writing was interrupted: the file holds no run.
bool incomplete_header(std::string_view text) {
  constexpr std::string_view kStart = "{\"checksum\":\"";
  constexpr std::size_t kLongest = 300;
  return text.size() < kLongest && text.find('\n') == std::string_view::npos &&
         kStart.starts_with(text.substr(0, kStart.size()));
}

void read_timings(const fs::path& path, const CellIndex& cells) {
  const auto text = read_file(path);
  if (!text) return;
  for (const auto& [key, timing] : parse_timings(*text)) {
    if (StoredCell* cell = cells.find(key.first)) cell->timings[key.second] = timing;
  }
}

}  // namespace

fs::path spec_path(const fs::path& folder, unsigned number) {
  return folder / (number == 1 ? fmt::format("{}.toml", kSpecStem)
                               : fmt::format("{}-{}.toml", kSpecStem, number));
}

std::map<unsigned, fs::path> spec_paths(const fs::path& folder) {
  std::map<unsigned, fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kSpecStem)) continue;
    unsigned number = 1;
    if (name.size() > kSpecStem.size() + 1) {
      std::from_chars(name.data() + kSpecStem.size() + 1, name.data() + name.size(), number);
    }
    if (number > 0 && entry.path() == spec_path(folder, number)) paths[number] = entry.path();
  }
  return paths;
}

fs::path part_path(const fs::path& folder, const Shard& shard) {
  return folder / kPartsName / fmt::format("{}-of-{}.jsonl", shard.number, shard.count);
}

fs::path timings_path(const fs::path& part) {
  return part.parent_path() / (part.stem().string() + std::string(kTimingsSuffix) + ".jsonl");
}

std::set<fs::path> part_paths(const fs::path& folder) {
  std::set<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / kPartsName, error)) {
    const fs::path name = entry.path().filename();
    if (name.extension() == ".jsonl" && name.stem().extension() != kTimingsSuffix) {
      paths.insert(entry.path());
    }
  }
  return paths;
}

Result<std::string> read_if_there(const fs::path& path) {
  auto text = read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

Result<void> write_if_changed(const fs::path& path, const std::string& text) {
  if (const auto there = read_file(path); there && *there == text) return {};
  return write_file(path, text);
}

Result<void> InputsSeen::add(const FinishedRun& run, const std::string& place) {
  for (const auto& [key, value] : inputs_of(run)) {
    const Input& first = inputs_.try_emplace(key, Input{value, place}).first->second;
    if (first.value == value) continue;
    return Error{
        fmt::format("made from {} {}, but {} from {}", key, value, first.place, first.value)};
  }
  return {};
}

Result<void> RunsReader::read(const fs::path& path, bool is_part) {
  auto text = read_if_there(path);
  if (!text) return text.error();
  if (incomplete_header(*text)) return {};
  if (is_part) text->erase(text->rfind('\n') + 1);
  const std::string name = path.string();
  const auto file = parse_runs(*text, {.name = name});
  if (!file) return file.error();
  if (!stored_.plackett.empty() && stored_.plackett != file->header.plackett) {
    return Error{fmt::format("{}:1: made by plackett {}, other runs by {}", name,
                             file->header.plackett, stored_.plackett)};
  }
  stored_.plackett = file->header.plackett;
  for (const std::size_t line : file->damaged) {
    stored_.damaged.push_back(fmt::format("{}:{}", name, line));
  }
  for (std::size_t at = 0; at < file->runs.size(); ++at) {
    auto added = add(file->runs[at], fmt::format("{}:{}", name, file->line_of_runs[at]));
    if (!added) return added;
  }
  return {};
}

Result<void> RunsReader::add(const FinishedRun& run, const std::string& place) {
  const auto wrong = [&](std::string_view what) {
    return Error{fmt::format("{}: {} under {} on {}, run {}: {}", place, run.method,
                             run.click_model, run.dataset, run.record.run, what)};
  };
  StoredCell* cell = cells_.find(run.cell);
  if (cell == nullptr && !run.record.windows.empty()) {
    Error error = wrong(fmt::format(
        "not a run of an experiment in this folder, or of an earlier plackett, whose runs under "
        "drift shared their worlds; {}",
        kStartOver));
    error.hint = Hint::kOtherFolderOrFresh;
    return error;
  }
  if (cell == nullptr) {
    return wrong(
        "not a run of an experiment in this folder; the command that made it adds the "
        "experiment again");
  }
  const std::vector<std::uint64_t> points = curve_points(cell->simulation);
  const auto& curve = run.record.curve;
  const bool fits = std::equal(curve.begin(), curve.end(), points.begin(), points.end(),
                               [](const CurvePoint& point, std::uint64_t impression) {
                                 return point.impression == impression;
                               });
  if (!fits) return wrong("its curve is of another number of impressions");
  const SimulationSpec& spec = cell->simulation;
  if (run.record.windows.size() != (spec.drift.empty() ? 0 : window_count(spec.impressions))) {
    return wrong("windows and drift don't go together");
  }
  if (const auto same = inputs_.add(run, place); !same) return wrong(same.error().message);
  const auto [there, added] = cell->runs.emplace(run.record.run, run);
  if (!added && !merge(run, there->second)) {
    return wrong("a second, different result of the same run");
  }
  return {};
}

Result<StoredResults> read_specs(const fs::path& folder, std::vector<StoredCell> asked) {
  StoredResults stored;
  CellIndex cells(stored.cells);
  for (const auto& [number, path] : spec_paths(folder)) {
    const auto spec = read_spec(path);
    if (!spec) return spec.error();
    auto added = empty_cells(*spec);
    if (!added) return added.error().in(path.string());
    for (StoredCell& cell : *added) cells.add(std::move(cell));
    stored.spec = *spec;
    stored.specs.push_back(path.filename().string());
  }
  for (StoredCell& cell : asked) cells.add(std::move(cell));
  return stored;
}

Result<StoredResults> read_folder(const fs::path& folder, std::vector<StoredCell> asked) {
  auto specs = read_specs(folder, std::move(asked));
  if (!specs) return specs.error();
  StoredResults stored = std::move(*specs);
  const CellIndex cells(stored.cells);
  RunsReader runs(stored, cells);
  // A process that finishes moves runs from the parts to the one file, so that comes last.
  for (const fs::path& part : part_paths(folder)) {
    if (auto read = runs.read(part, true); !read) return read.error();
    read_timings(timings_path(part), cells);
  }
  if (auto read = runs.read(folder / kRunsName, false); !read) return read.error();
  read_timings(folder / kTimingsName, cells);
  if (auto named = name_cells(stored); !named) return named.error();
  return stored;
}

Result<std::optional<StoredResults>> read_results(const fs::path& folder) {
  if (spec_paths(folder).empty()) {
    if (!is_there(folder / kRunsName)) return std::optional<StoredResults>();
    return Error{fmt::format(
        "{}: {} without {}, so nothing says what the runs are of; the command that made them "
        "restores it",
        folder.string(), kRunsName, spec_path("", 1).string())};
  }
  auto stored = read_folder(folder, {});
  if (!stored) return stored.error();
  if (stored->empty() && stored->damaged.empty()) return std::optional<StoredResults>();
  return std::optional<StoredResults>(std::move(*stored));
}

Result<StoredResults> read_results(std::span<const fs::path> folders) {
  StoredResults all;
  CellIndex cells(all.cells);
  InputsSeen inputs;
  std::optional<CurveKind> curve;
  std::set<std::string> versions;
  for (const fs::path& folder : folders) {
    auto read = read_results(folder);
    if (!read) return read.error();
    if (!read->has_value()) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("{}: no results; plackett compare makes them", folder.string())};
    }
    for (StoredCell& cell : (*read)->cells) {
      const CurveKind own = cell.simulation.curve;
      if (!cell.runs.empty() && curve.value_or(own) != own) {
        return Error{fmt::format("{}: its runs are made with curve {}, those of {} with {}",
                                 folder.string(), name_of(own), folders.front().string(),
                                 name_of(*curve))};
      }
      if (!cell.runs.empty()) curve = own;
      const StoredCell* there = cells.find(key_of(cell));
      for (const auto& [number, run] : cell.runs) {
        if (const auto same = inputs.add(run, folder.string()); !same) {
          return same.error().in(folder.string());
        }
        if (there == nullptr || !there->runs.contains(number)) continue;
        FinishedRun both = there->runs.at(number);
        if (merge(run, both)) continue;
        return Error{fmt::format("{}: {} under {} on {}, run {}: not what a folder before it gives",
                                 folder.string(), run.method, run.click_model, run.dataset,
                                 number)};
      }
      cells.add(std::move(cell));
    }
    all.spec = (*read)->spec;
    for (const std::string& spec : (*read)->specs) {
      all.specs.push_back(folders.size() == 1 ? spec : (folder / spec).string());
    }
    versions.insert((*read)->plackett);
    all.damaged.insert(all.damaged.end(), (*read)->damaged.begin(), (*read)->damaged.end());
  }
  all.plackett = fmt::format("{}", fmt::join(versions, ", "));
  if (auto named = name_cells(all); !named) return named.error();
  return all;
}

}  // namespace plackett
