#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "dataset/cache.h"
#include "dataset/dataset.h"
#include "dataset/info.h"
#include "dataset/synthetic.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDatasetHelp =
    "Folder of LETOR files (Fold*/train.txt ... or train.txt ..., also .gz), cache file, "
    "or synthetic[:PRESET]";

struct NamedSplit {
  std::string name;
  const Split* split = nullptr;
};

std::vector<NamedSplit> splits_of(const Fold& fold) {
  std::vector<NamedSplit> splits{{"train", &fold.train}};
  if (fold.validation) splits.push_back({"vali", &*fold.validation});
  splits.push_back({"test", &fold.test});
  return splits;
}

// Runs of ids as ranges: "1-3 7".
std::string ranges(const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (std::size_t begin = 0; begin < ids.size();) {
    std::size_t end = begin + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : " ", ids[begin]);
    if (end - begin > 1) text += fmt::format("-{}", ids[end - 1]);
    begin = end;
  }
  return text;
}

// --- info -----------------------------------------------------------------------------------

struct InfoOptions {
  std::string path;
  bool json = false;
  bool trust_cache = false;
  std::uint32_t max_feature_id = LoadOptions{}.max_feature_id;
  unsigned threads = 0;
};

struct Described {
  Dataset dataset;
  std::string scaling;  // of a cache; empty where the source is raw
};

// A cache is described as it is, however it was made.
Described describe(const InfoOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(options.path, ignored)) {
    LoadOptions load;
    load.scaling = Scaling::kNone;
    load.max_feature_id = options.max_feature_id;
    load.threads = thread_count(options.threads);
    return {take(load_dataset(options.path, load)), ""};
  }
  Cache cache = take(open_cache(options.path));
  if (!options.trust_cache) take(verify_rows(cache, options.path, thread_count(options.threads)));
  const std::string scaling = cache.scaling == Scaling::kNone ? "none" : "query-minmax";
  return {std::move(cache.dataset), scaling};
}

void print_json(const Described& described) {
  const Dataset& dataset = described.dataset;
  Json json{{"name", dataset.name},
            {"origin", dataset.origin},
            {"source_features", dataset.source_feature_count},
            {"grades", dataset.grade_count()}};
  if (!described.scaling.empty()) json["cache_scaling"] = described.scaling;
  for (const Fold& fold : dataset.folds) {
    Json splits;
    for (const auto& [name, split] : splits_of(fold)) {
      const SplitInfo info = summarise(*split, dataset.max_label);
      splits[name] = {
          {"queries", info.queries},
          {"documents", info.docs},
          {"features", info.features},
          {"documents_of_label", info.docs_of_label},
          {"documents_per_query",
           {{"min", info.min_docs}, {"median", info.median_docs}, {"max", info.max_docs}}},
          {"queries_without_relevant", info.queries_without_relevant}};
    }
    json["folds"].push_back({{"name", fold.name},
                             {"splits", splits},
                             {"feature_ids", fold.feature_ids},
                             {"constant_feature_ids", fold.constant_feature_ids}});
  }
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

using Table = std::vector<std::vector<std::string>>;

// The first two columns to the left, numbers to the right.
void print_table(const Table& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& row : table) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const auto& row : table) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      line += column < 2 ? fmt::format("{:<{}}  ", row[column], widths[column])
                         : fmt::format("{:>{}}  ", row[column], widths[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

void print_constant_features(const Dataset& dataset) {
  std::map<std::vector<std::uint32_t>, std::vector<std::string>> folds_of;
  for (const Fold& fold : dataset.folds) folds_of[fold.constant_feature_ids].push_back(fold.name);
  for (const auto& [ids, folds] : folds_of) {
    fmt::print("constant over train, {}: {}\n",
               folds_of.size() == 1 ? "every fold" : fmt::format("{}", fmt::join(folds, " ")),
               ids.empty() ? "none" : fmt::format("{} ({} features)", ranges(ids), ids.size()));
  }
}

void print_text(const Described& described) {
  const Dataset& dataset = described.dataset;
  fmt::print("{}: {}{}\n", dataset.name, dataset.origin,
             described.scaling.empty() ? "" : ", as a cache with scaling " + described.scaling);
  fmt::print("{} fold{}, {} grades, feature ids up to {}\n\n", dataset.folds.size(),
             dataset.folds.size() == 1 ? "" : "s", dataset.grade_count(),
             dataset.source_feature_count);
  Table table{{"fold", "split", "queries", "none relevant", "documents", "features",
               "docs/query min", "median", "max"}};
  for (std::uint32_t label = 0; label <= dataset.max_label; ++label) {
    table.front().push_back(fmt::format("label {}", label));
  }
  for (const Fold& fold : dataset.folds) {
    for (const auto& [name, split] : splits_of(fold)) {
      const SplitInfo info = summarise(*split, dataset.max_label);
      std::vector<std::string> row{fold.name,
                                   name,
                                   std::to_string(info.queries),
                                   std::to_string(info.queries_without_relevant),
                                   std::to_string(info.docs),
                                   std::to_string(info.features),
                                   std::to_string(info.min_docs),
                                   fmt::format("{}", info.median_docs),
                                   std::to_string(info.max_docs)};
      for (const std::uint64_t docs : info.docs_of_label) row.push_back(std::to_string(docs));
      table.push_back(std::move(row));
    }
  }
  print_table(table);
  fmt::print("\n");
  print_constant_features(dataset);
}

void add_info(CLI::App& data) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* app = data.add_subcommand("info", "Say what a dataset consists of");
  app->add_option("path", options->path, kDatasetHelp)->required();
  app->add_flag("--json", options->json, "Print one JSON object");
  app->add_flag("--trust-cache", options->trust_cache,
                "Don't check a cache's feature data against its checksums");
  app->add_option("--max-feature-id", options->max_feature_id, "Refuse larger feature ids")
      ->check(CLI::Range(1U, 1U << 30));
  app->add_option("--threads", options->threads, "Threads to read with; 0: one a core");
  app->callback([options] {
    const Described described = describe(*options);
    options->json ? print_json(described) : print_text(described);
  });
}

// --- convert --------------------------------------------------------------------------------

struct ConvertOptions {
  std::string in;
  std::string out;
  LoadOptions load;
  std::string scaling = "query-minmax";
  bool keep_constant = false;
  bool trust_cache = false;
  unsigned threads = 0;
};

void add_convert(CLI::App& data) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* app =
      data.add_subcommand("convert", "Write a dataset as one binary cache file that opens at once");
  app->add_option("in", options->in, kDatasetHelp)->required();
  app->add_option("out", options->out, "Cache file to write; appears when it is complete")
      ->required();
  app->add_option("--scaling", options->scaling,
                  "Feature scaling: within each query to [0, 1], or none")
      ->check(CLI::IsMember({"query-minmax", "none"}));
  app->add_flag("--keep-constant-features", options->keep_constant,
                "Keep features that are constant over the training file");
  app->add_option("--max-feature-id", options->load.max_feature_id, "Refuse larger feature ids")
      ->check(CLI::Range(1U, 1U << 30));
  app->add_flag("--trust-cache", options->trust_cache,
                "Where IN is a cache: don't check its feature data against its checksums");
  app->add_option("--threads", options->threads, "Threads to work with; 0: one a core");
  app->callback([options] {
    LoadOptions load = options->load;
    load.scaling = options->scaling == "none" ? Scaling::kNone : Scaling::kQueryMinMax;
    load.drop_constant_features = !options->keep_constant;
    load.verify_cache = !options->trust_cache;
    load.threads = thread_count(options->threads);
    const Dataset dataset = take(load_dataset(options->in, load));
    take(write_cache(dataset, load, options->out));
  });
}

// --- synth ----------------------------------------------------------------------------------

struct SynthOptions {
  std::string folder;
  std::string preset = "default";
  std::optional<std::uint64_t> seed;
  std::optional<std::uint32_t> folds, queries, min_docs, mean_docs, max_docs, features,
      noise_features, constant_features, grades;
};

SyntheticOptions merged(const SynthOptions& options) {
  SyntheticOptions merged = take(synthetic_preset(options.preset));
  merged.seed = options.seed.value_or(merged.seed);
  merged.folds = options.folds.value_or(merged.folds);
  merged.queries = options.queries.value_or(merged.queries);
  merged.min_docs = options.min_docs.value_or(merged.min_docs);
  merged.mean_docs = options.mean_docs.value_or(merged.mean_docs);
  merged.max_docs = options.max_docs.value_or(merged.max_docs);
  merged.features = options.features.value_or(merged.features);
  merged.noise_features = options.noise_features.value_or(merged.noise_features);
  merged.constant_features = options.constant_features.value_or(merged.constant_features);
  merged.grades = options.grades.value_or(merged.grades);
  return merged;
}

void add_synth(CLI::App& data) {
  auto options = std::make_shared<SynthOptions>();
  const SyntheticOptions standard;
  CLI::App* app = data.add_subcommand("synth", "Write made-up data as LETOR text");
  app->add_option("folder", options->folder, "Folder to write; must not be there yet")->required();
  app->add_option("--preset", options->preset, "Sizes like those of a known set")
      ->check(CLI::IsMember(synthetic_preset_names()));
  const auto number = [app](const char* name, auto& value, auto preset, const char* help) {
    app->add_option(name, value, help)
        ->default_str(fmt::format("the preset's; {} in default", preset));
  };
  number("--seed", options->seed, standard.seed, "Seed of everything drawn");
  number("--folds", options->folds, standard.folds, "Folds, 1 to 5");
  number("--queries", options->queries, standard.queries, "Queries over train, vali and test");
  number("--min-docs", options->min_docs, standard.min_docs, "Fewest documents a query");
  number("--mean-docs", options->mean_docs, standard.mean_docs, "Documents a query on average");
  number("--max-docs", options->max_docs, standard.max_docs, "Most documents a query");
  number("--features", options->features, standard.features, "Features in all");
  number("--noise-features", options->noise_features, standard.noise_features,
         "Features of pure noise");
  number("--constant-features", options->constant_features, standard.constant_features,
         "Features that never change");
  number("--grades", options->grades, standard.grades, "Grades of relevance, 3 or 5");
  app->callback([options] { take(write_synthetic(merged(*options), options->folder)); });
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "Look at, convert or make up datasets");
  data->require_subcommand(1);
  add_info(*data);
  add_convert(*data);
  add_synth(*data);
}

}  // namespace plackett::command
