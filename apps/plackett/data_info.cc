// plackett data info: what a dataset holds.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "data_commands.h"
#include "data_options.h"
#include "dataset/cache.h"
#include "dataset/info.h"
#include "report/numbers.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;
using TableRow = std::vector<std::string>;

constexpr std::size_t kNames = 2;  // columns of names on a table's left; the others are numbers

struct InfoOptions {
  DataOptions data;
  unsigned threads = 0;
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

// Ascending ids, runs shortened: "6-10, 42".
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

// A header of two lines, then columns as wide as their widest cell: names to the left,
// numbers to the right. A cell of the first line may reach to the left over empty ones.
void print_table(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(rows[1].size(), 0);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    for (std::size_t at = 0; at < widths.size(); ++at) {
      widths[at] = std::max(widths[at], rows[row][at].size());
    }
  }
  std::string groups;
  std::size_t end = 0;
  for (std::size_t at = 0; at < widths.size(); ++at) {
    end += widths[at] + (at > 0 ? 2 : 0);
    const std::string& name = rows[0][at];
    if (name.empty()) continue;
    const std::size_t begin = end - std::min(end, name.size());
    groups.resize(std::max(begin, groups.size()), ' ');
    groups += name;
  }
  fmt::print("{}\n", groups);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    std::string line;
    for (std::size_t at = 0; at < widths.size(); ++at) {
      if (at > 0) line += "  ";
      line += at < kNames ? fmt::format("{:<{}}", rows[row][at], widths[at])
                          : fmt::format("{:>{}}", rows[row][at], widths[at]);
    }
    fmt::print("{}\n", line);
  }
}

std::vector<TableRow> headers(std::uint32_t max_label) {
  TableRow above{"", "", "", "", "", "", "docs a query", "none", "kept"};
  TableRow below{"fold",   "split", "queries",  "docs",    "min",
                 "median", "max",   "relevant", "features"};
  for (std::uint32_t label = 0; label <= max_label; ++label) {
    above.emplace_back(label == max_label ? "  docs by label" : "");
    below.push_back(fmt::format("{}", label));
  }
  return {above, below};
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
  fmt::print("{} fold{}, {} features in its files, labels 0 to {}\n\n", dataset.folds.size(),
             dataset.folds.size() == 1 ? "" : "s", dataset.source_feature_count, dataset.max_label);
  std::vector<TableRow> rows = headers(dataset.max_label);
  for (const Fold& fold : dataset.folds) {
    for (const auto& [name, split] : splits_of(fold)) {
      const SplitInfo info = describe(*split, dataset.max_label);
      TableRow row{
          name == "train" ? fold.name : "",        std::string(name),
          report::grouped(info.queries),           report::grouped(info.documents),
          report::grouped(info.min_docs),          fmt::format("{}", info.median_docs),
          report::grouped(info.max_docs),          report::grouped(info.queries_without_relevant),
          report::grouped(fold.feature_ids.size())};
      for (const std::uint64_t count : info.label_counts) row.push_back(report::grouped(count));
      rows.push_back(std::move(row));
    }
  }
  print_table(rows);
  fmt::print(
      "\nnone relevant: queries whose labels are all 0; kept features: of the {} in the files\n",
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

// A cache is looked at as it is, whatever it was made with.
Dataset load_to_describe(const InfoOptions& options) {
  const unsigned threads = thread_count(options.threads);
  if (!is_cache(options.data.where)) return load(options.data, threads);
  const LoadOptions asked = load_options(options.data, threads);
  CachedDataset cached = take(open_cache(
      options.data.where, {.verify_features = asked.verify_cache, .threads = asked.threads}));
  cached.dataset.origin += fmt::format("; cached, scaling {}", name_of(cached.loaded_with.scaling));
  return std::move(cached.dataset);
}

void info(const InfoOptions& options) {
  const Dataset dataset = load_to_describe(options);
  if (options.json) {
    // A folder's name may hold any bytes; JSON may not.
    print_json(to_json(dataset));
  } else {
    print_text(dataset);
  }
}

}  // namespace

void add_data_info(CLI::App& data) {
  auto options = std::make_shared<InfoOptions>();
  options->data.where.clear();
  CLI::App* command = data.add_subcommand("info", "What a dataset holds");
  command
      ->add_option("path", options->data.where,
                   "a LETOR folder, a cache file, synthetic or synthetic:PRESET")
      ->required();
  add_loading_options(*command, options->data);
  add_threads_option(*command, options->threads);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { info(*options); });
}

}  // namespace plackett::command
