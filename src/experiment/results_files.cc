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

Result<void> add_runs(RunsFile file, const std::string& name, const CellIndex& cells) {
  for (std::size_t at = 0; at < file.runs.size(); ++at) {
    FinishedRun& run = file.runs[at];
    StoredCell* cell = cells.find(run.cell);
    const auto wrong = [&](std::string_view what) {
      return Error{fmt::format("{}:{}: {} under {} on {}, run {}: {}", name, file.line_of_runs[at],
                               run.method, run.click_model, run.dataset, run.record.run, what)};
    };
    if (cell == nullptr) {
      return wrong(
          "not a run of an experiment in this folder; the command that made it adds the "
          "experiment again");
    }
    const std::vector<std::uint64_t> points = curve_points(cell->simulation.impressions);
    const auto& curve = run.record.curve;
    const bool fits = std::equal(curve.begin(), curve.end(), points.begin(), points.end(),
                                 [](const CurvePoint& point, std::uint64_t impression) {
                                   return point.impression == impression;
                                 });
    if (!fits) return wrong("its curve is of another number of impressions");
    const auto [there, added] = cell->runs.emplace(run.record.run, run);
    if (!added && to_line(there->second) != to_line(run)) {
      return wrong("a second, different result of the same run");
    }
  }
  return {};
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

Result<void> read_runs(const fs::path& path, bool is_part, StoredResults& stored,
                       const CellIndex& cells) {
  auto text = read_if_there(path);
  if (!text) return text.error();
  if (incomplete_header(*text)) return {};
  if (is_part) text->erase(text->rfind('\n') + 1);
  const std::string name = path.string();
  auto file = parse_runs(*text, {.name = name});
  if (!file) return file.error();
  if (!stored.plackett.empty() && stored.plackett != file->header.plackett) {
    return Error{fmt::format("{}:1: made by plackett {}, other runs by {}", name,
                             file->header.plackett, stored.plackett)};
  }
  stored.plackett = file->header.plackett;
  for (const std::size_t line : file->damaged) {
    stored.damaged.push_back(fmt::format("{}:{}", name, line));
  }
  return add_runs(std::move(*file), name, cells);
}

Result<StoredResults> read_folder(const fs::path& folder, std::vector<StoredCell> asked) {
  StoredResults stored;
  CellIndex cells(stored.cells);
  for (const auto& [number, path] : spec_paths(folder)) {
    const auto spec = read_spec(path);
    if (!spec) return spec.error();
    auto added = empty_cells(*spec);
    if (!added) return added.error().in(path.string());
    for (StoredCell& cell : *added) cells.add(std::move(cell));
    stored.spec = *spec;
  }
  for (StoredCell& cell : asked) cells.add(std::move(cell));
  // A process that finishes moves runs from the parts to the one file, so that comes last.
  for (const fs::path& part : part_paths(folder)) {
    if (auto read = read_runs(part, true, stored, cells); !read) return read.error();
    read_timings(timings_path(part), cells);
  }
  if (auto read = read_runs(folder / kRunsName, false, stored, cells); !read) return read.error();
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
  if (stored->finished() == 0 && stored->damaged.empty()) return std::optional<StoredResults>();
  return std::optional<StoredResults>(std::move(*stored));
}

Result<StoredResults> read_results(std::span<const fs::path> folders) {
  StoredResults all;
  CellIndex cells(all.cells);
  std::map<std::string, std::uint64_t> data;  // fingerprints by dataset
  std::set<std::string> versions;
  for (const fs::path& folder : folders) {
    auto read = read_results(folder);
    if (!read) return read.error();
    if (!read->has_value()) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("{}: no results; plackett compare makes them", folder.string())};
    }
    for (StoredCell& cell : (*read)->cells) {
      const StoredCell* there = cells.find(key_of(cell));
      for (const auto& [number, run] : cell.runs) {
        if (data.try_emplace(run.dataset, run.data).first->second != run.data) {
          return Error{fmt::format("{}: dataset {}: not the data of the folders before it",
                                   folder.string(), run.dataset)};
        }
        if (there == nullptr || !there->runs.contains(number)) continue;
        if (to_line(there->runs.at(number)) == to_line(run)) continue;
        return Error{fmt::format("{}: {} under {} on {}, run {}: not what a folder before it gives",
                                 folder.string(), run.method, run.click_model, run.dataset,
                                 number)};
      }
      cells.add(std::move(cell));
    }
    all.spec = (*read)->spec;
    versions.insert((*read)->plackett);
    all.damaged.insert(all.damaged.end(), (*read)->damaged.begin(), (*read)->damaged.end());
  }
  all.plackett = fmt::format("{}", fmt::join(versions, ", "));
  if (auto named = name_cells(all); !named) return named.error();
  return all;
}

}  // namespace plackett
