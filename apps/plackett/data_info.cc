// plackett data info: what a dataset holds.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "plackett/cache.h"
#include "report/numbers.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  DataOptions data;
  bool json = false;
};

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

void print_text(const Dataset& dataset) {
  fmt::print("{} ({})\n", dataset.name, dataset.origin);
  fmt::print("{}, {} features in its files, labels 0 to {}\n\n",
             counted(dataset.folds.size(), "fold"), dataset.source_feature_count,
             dataset.max_label);
  std::vector<std::vector<TableCell>> rows{{{"fold"},
                                            {"split"},
                                            {"queries"},
                                            {"docs"},
                                            {"min/query"},
                                            {"median"},
                                            {"max"},
                                            {"none relevant"},
                                            {"features"}}};
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
  for (const std::string& line :
       table_lines(rows, {.size = {kAnyWidth, rows.size()}, .names = 2})) {
    fmt::print("{}\n", line);
  }
  fmt::print("\nnone relevant: queries whose labels are all 0; features: those kept of {}\n",
             dataset.source_feature_count);
  print_constant(dataset);
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
    folds.push_back({{"name", fold.name},
                     {"features_kept", fold.feature_ids.size()},
                     {"constant_feature_ids", fold.constant_feature_ids},
                     {"splits", std::move(splits)}});
  }
  return {{"name", dataset.name},
          {"origin", dataset.origin},
          {"features_in_file", dataset.source_feature_count},
          {"max_label", dataset.max_label},
          {"folds", std::move(folds)}};
}

// A cache is described as it is, whatever options it was made with.
Dataset load_to_describe(const DataOptions& options) {
  const std::string& path = options.dataset.path;
  const LoadOptions load = load_options(options);
  if (!is_cache(path)) return take(load_dataset(path, load));
  CachedDataset cached =
      take(open_cache(path, {.verify_features = load.verify_cache, .threads = load.threads}));
  cached.dataset.origin += fmt::format("; cached, scaling {}", name_of(cached.loaded_with.scaling));
  return std::move(cached.dataset);
}

void info(const InfoOptions& options) {
  const Dataset dataset = load_to_describe(options.data);
  if (options.json) {
    print_json(to_json(dataset));
  } else {
    print_text(dataset);
  }
}

}  // namespace

void add_data_info(CLI::App& data) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = data.add_subcommand("info", "What a dataset holds");
  command
      ->add_option("path", options->data.dataset.path,
                   "a LETOR folder, a cache file, synthetic or synthetic:PRESET")
      ->required();
  add_loading_options(*command, options->data);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { info(*options); });
}

}  // namespace plackett::command
