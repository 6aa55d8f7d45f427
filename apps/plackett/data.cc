// plackett data: what a dataset holds, a dataset as one cache file, generated data as LETOR text;
// data_check.cc has the rest.
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "command.h"
#include "data_commands.h"
#include "plackett/cache.h"
#include "plackett/synthetic.h"
#include "report/numbers.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct NamedSplit {
  std::string_view name;
  const Split* split = nullptr;
};

std::vector<NamedSplit> splits_of(const Fold& fold) {
  std::vector<NamedSplit> splits{{"train", &fold.train}};
  if (fold.validation) splits.push_back({"validation", &*fold.validation});
  splits.push_back({"test", &fold.test});
  return splits;
}

// Ascending ids as ranges: "6-10, 42".
std::string ranges(const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (std::size_t at = 0; at < ids.size();) {
    std::size_t last = at;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == at ? fmt::format("{}", ids[at]) : fmt::format("{}-{}", ids[at], ids[last]);
    at = last + 1;
  }
  return text.empty() ? "none" : text;
}

void print_constant(const Dataset& dataset) {
  const auto& first = dataset.folds.front().constant_feature_ids;
  const bool same =
      std::all_of(dataset.folds.begin(), dataset.folds.end(),
                  [&first](const Fold& fold) { return fold.constant_feature_ids == first; });
  if (same) {
    fmt::print("constant over train: {}{}\n", ranges(first),
               dataset.folds.size() > 1 ? " (in every fold)" : "");
    return;
  }
  for (const Fold& fold : dataset.folds) {
    fmt::print("constant over {}'s train: {}\n", fold.name, ranges(fold.constant_feature_ids));
  }
}

// What loading changed, one line for each fold and feature.
void print_changes(const Dataset& dataset, const LoadOptions& loaded_with) {
  const std::string_view made =
      loaded_with.out_of_range == OutOfRange::kClamp ? "clamped" : "taken for 0";
  for (const Fold& fold : dataset.folds) {
    const LoadChanges& changes = fold.changes;
    for (const OutOfRangeValues& values : changes.out_of_range) {
      fmt::print("{}: feature {}: {} out of a float's range, {}; first at {}\n", fold.name,
                 values.feature_id, counted(values.count, "value"), made, values.first);
    }
    if (changes.unlabelled_documents == 0) continue;
    fmt::print("{}: left out {} without a label; queries that had no others: {}\n", fold.name,
               counted(changes.unlabelled_documents, "document"),
               report::grouped(changes.unlabelled_queries));
  }
}

void print_info(const Dataset& dataset, const LoadOptions& loaded_with) {
  fmt::print("{} ({})\n", dataset.name, dataset.origin);
  fmt::print("{}, {} features in its files, labels 0 to {}\n\n",
             counted(dataset.folds.size(), "fold"), dataset.source_feature_count,
             dataset.max_label);
  std::vector<std::vector<TableCell>> rows(1);
  for (const char* title : {"fold", "split", "queries", "docs", "min/query", "median", "max",
                            "none relevant", "features"}) {
    rows[0].push_back({title});
  }
  for (std::uint32_t label = 0; label <= dataset.max_label; ++label) {
    rows[0].push_back({fmt::format("label {}", label)});
  }
  for (const Fold& fold : dataset.folds) {
    for (const auto& [name, split] : splits_of(fold)) {
      const SplitInfo info = describe(*split, dataset.max_label);
      auto& row = rows.emplace_back();
      row = {{name == "train" ? fold.name : ""},
             {std::string(name)},
             {report::grouped(info.queries)},
             {report::grouped(info.documents)},
             {report::grouped(info.min_docs)},
             {fmt::format("{}", info.median_docs)},
             {report::grouped(info.max_docs)},
             {report::grouped(info.queries_without_relevant)},
             {report::grouped(fold.feature_ids.size())}};
      for (const std::uint64_t count : info.label_counts) row.push_back({report::grouped(count)});
    }
  }
  constexpr std::size_t kAnyWidth = 10'000;  // nothing is left out
  print_table(rows, kAnyWidth);
  fmt::print("\nnone relevant: queries whose labels are all 0; features: those kept of {}\n",
             dataset.source_feature_count);
  print_constant(dataset);
  print_changes(dataset, loaded_with);
}

Json to_json(const Dataset& dataset) {
  Json folds = Json::array();
  for (const Fold& fold : dataset.folds) {
    Json splits = Json::object();
    for (const auto& [name, split] : splits_of(fold)) {
      const SplitInfo info = describe(*split, dataset.max_label);
      splits[std::string(name)] = {
          {"queries", info.queries},
          {"documents", info.documents},
          {"docs_per_query",
           {{"min", info.min_docs}, {"median", info.median_docs}, {"max", info.max_docs}}},
          {"queries_without_relevant", info.queries_without_relevant},
          {"label_counts", info.label_counts}};
    }
    Json out_of_range = Json::array();
    for (const OutOfRangeValues& values : fold.changes.out_of_range) {
      out_of_range.push_back(
          {{"feature_id", values.feature_id}, {"values", values.count}, {"first", values.first}});
    }
    folds.push_back({{"name", fold.name},
                     {"features_kept", fold.feature_ids.size()},
                     {"constant_feature_ids", fold.constant_feature_ids},
                     {"out_of_range", std::move(out_of_range)},
                     {"unlabelled_documents", fold.changes.unlabelled_documents},
                     {"unlabelled_queries", fold.changes.unlabelled_queries},
                     {"splits", std::move(splits)}});
  }
  return {{"name", dataset.name},
          {"origin", dataset.origin},
          {"features_in_file", dataset.source_feature_count},
          {"max_label", dataset.max_label},
          {"folds", std::move(folds)}};
}

// With the options that it was loaded with. Options that are not given are a cache's own.
CachedDataset load_to_describe(const CLI::App& command, const DataOptions& options) {
  const std::string& path = options.dataset.path;
  LoadOptions load = load_options(options);
  if (!is_cache(path)) return {take(load_dataset(path, load)), load};
  const LoadOptions with = take(open_cache(path, {.verify_features = false})).loaded_with;
  const auto given = [&command](const char* name) { return command.count(name) > 0; };
  if (!given("--scaling")) load.scaling = with.scaling;
  if (!given("--out-of-range")) load.out_of_range = with.out_of_range;
  if (!given("--unlabelled")) load.unlabelled = with.unlabelled;
  if (!given("--keep-constant-features")) {
    load.drop_constant_features = with.drop_constant_features;
    load.keep_feature_ids = with.keep_feature_ids;
  }
  Dataset dataset = take(load_dataset(path, load));
  dataset.origin += fmt::format("; cached, scaling {}", name_of(load.scaling));
  return {std::move(dataset), load};
}

void convert(const DataOptions& data, const std::string& out, bool force) {
  const auto start = Clock::now();
  require_outputs({{"out", out}});
  const bool directly = written_directly(out);
  if (!force && !directly && fs::exists(out)) {
    fail({fmt::format("{}: already exists; --force overwrites it", out)});
  }
  const LoadOptions load = load_options(data);
  const Dataset dataset = take(load_dataset(data.dataset.path, load));
  take(write_cache(dataset, load, out));
  std::uint64_t documents = 0;
  for (const Fold& fold : dataset.folds) {
    for (const NamedSplit& one : splits_of(fold)) documents += one.split->doc_count();
  }
  // Not on standard output, which may be where the cache went.
  fmt::print(directly ? stderr : stdout, "{}: {} documents in {}, {}{:.2f} s\n", out, documents,
             counted(dataset.folds.size(), "fold"),
             directly ? "" : fmt::format("{} bytes, ", fs::file_size(out)), seconds_since(start));
}

struct SynthOptions {
  std::string folder;
  std::string preset = SyntheticOptions{}.preset;
  SimulationSpec spec;  // of which the seed is read
  // Numbers in place of the preset's.
  std::vector<std::pair<std::uint32_t SyntheticOptions::*, std::uint32_t>> given;
};

void synth(const SynthOptions& options) {
  const auto start = Clock::now();
  SyntheticOptions synthetic = take(synthetic_preset(options.preset));
  synthetic.seed = options.spec.seed;
  for (const auto& [number, value] : options.given) synthetic.*number = value;
  take(write_synthetic(synthetic, options.folder));
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(options.folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  fmt::print("{}: generated {} queries in {}, {} features, labels 0 to {}, {} bytes, {:.1f} s\n",
             options.folder, synthetic.queries, counted(synthetic.folds, "fold"),
             synthetic.features, synthetic.grades - 1, bytes, seconds_since(start));
}

void add_info(CLI::App& data) {
  auto options = std::make_shared<DataOptions>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = data.add_subcommand("info", "What a dataset holds");
  command->add_option("path", options->dataset.path, kDatasetHelp)->required();
  add_loading_options(*command, *options);
  command->add_flag("--json", *json, "print one JSON object");
  command->callback([command, options, json] {
    const CachedDataset loaded = load_to_describe(*command, *options);
    if (*json) return print_json(to_json(loaded.dataset));
    print_info(loaded.dataset, loaded.loaded_with);
  });
}

void add_convert(CLI::App& data) {
  auto options = std::make_shared<DataOptions>();
  auto out = std::make_shared<std::string>();
  auto force = std::make_shared<bool>(false);
  CLI::App* command =
      data.add_subcommand("convert", "Write a dataset as one cache file that opens at once");
  command->add_option("in", options->dataset.path, kDatasetHelp)->required();
  command->add_option("out", *out, "the cache file")->required();
  add_loading_options(*command, *options);
  command->add_flag("--force", *force, "overwrite an existing file (default: refuse)");
  command->callback([options, out, force] { convert(*options, *out, *force); });
}

void add_synth(CLI::App& data) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = data.add_subcommand("synth", "Generate a dataset and write it as LETOR text");
  command->add_option("folder", options->folder, "a folder that does not exist yet")->required();
  command->add_option(
      "--preset", options->preset,
      fmt::format("what to start from: {}", fmt::join(synthetic_preset_names(), ", ")));
  add_options(*command, simulation_options(), options->spec, {"seed"});
  using Made = SyntheticOptions;
  const auto add = [&](const char* name, std::uint32_t Made::*number, const char* help) {
    command
        ->add_option_function<std::uint32_t>(
            name,
            [options = options.get(), number](std::uint32_t value) {
              options->given.emplace_back(number, value);
            },
            fmt::format("{} (the preset's; {} in {})", help, Made{}.*number, Made{}.preset))
        ->type_name("UINT");
  };
  add("--folds", &Made::folds, "folds, 1 to 5");
  add("--queries", &Made::queries, "queries over train, validation and test");
  add("--docs", &Made::mean_docs, "documents per query, on average");
  add("--min-docs", &Made::min_docs, "fewest documents per query");
  add("--max-docs", &Made::max_docs, "most documents per query");
  add("--features", &Made::features, "features, including noise and constant ones");
  add("--noise-features", &Made::noise_features, "random features");
  add("--constant-features", &Made::constant_features, "constant features");
  add("--grades", &Made::grades, "labels, 3 or 5");
  command->callback([options] { synth(*options); });
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* data =
      app.add_subcommand("data", "Look at a dataset, convert it, check it, or generate one");
  data->require_subcommand(1);
  add_info(*data);
  add_convert(*data);
  add_synth(*data);
  add_check(*data);
}

}  // namespace plackett::command
