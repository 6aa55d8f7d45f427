#include "plackett/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "base/file.h"
#include "base/gzip.h"
#include "dataset/build_fold.h"
#include "dataset/cache_format.h"
#include "dataset/known_grades.h"
#include "dataset/letor_files.h"
#include "dataset/letor_parser.h"
#include "plackett/synthetic.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSynthetic = "synthetic";

Result<std::unique_ptr<LetorText>> parse_file(const fs::path& path, const LoadOptions& options) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const LetorOptions parse{.path = path.string(),
                           .max_feature_id = options.max_feature_id,
                           .out_of_range = options.out_of_range,
                           .unlabelled = options.unlabelled,
                           .threads = options.threads};
  if (path.extension() == ".gz") {
    const auto text = unpack_gzip(file->bytes(), parse.path);
    if (!text) return text.error();
    return parse_letor(*text, parse);
  }
  const auto* text = reinterpret_cast<const char*>(file->bytes().data());
  return parse_letor({text, file->bytes().size()}, parse);
}

void add_changes(const LetorText& text, const fs::path& path, LoadChanges& changes) {
  changes.unlabelled_documents += text.unlabelled_documents();
  changes.unlabelled_queries += text.unlabelled_queries();
  const auto counts = text.out_of_range();
  for (std::uint32_t feature = 0; feature < counts.size(); ++feature) {
    if (counts[feature].count == 0) continue;
    auto& all = changes.out_of_range;
    auto at = std::lower_bound(
        all.begin(), all.end(), feature + 1,
        [](const OutOfRangeValues& values, std::uint32_t id) { return values.feature_id < id; });
    if (at == all.end() || at->feature_id != feature + 1) {
      at = all.insert(at,
                      {feature + 1, 0,
                       fmt::format("{}:{}", path.filename().string(), counts[feature].first_line)});
    }
    at->count += counts[feature].count;
  }
}

Result<RawFold> parse_fold(const LetorFold& files, const LoadOptions& options) {
  RawFold raw{files.name, files.train.string()};
  for (const auto& [path, into] :
       {std::pair{&files.train, &raw.train}, std::pair{&files.validation, &raw.validation},
        std::pair{&files.test, &raw.test}}) {
    if (path->empty()) continue;
    auto text = parse_file(*path, options);
    if (!text) return text.error();
    add_changes(**text, *path, raw.changes);
    *into = std::move(*text);
  }
  return raw;
}

Result<Dataset> load_letor(const fs::path& where, const LoadOptions& options) {
  const auto files = find_letor_folds(where);
  if (!files) return files.error();
  Dataset dataset;
  dataset.name = folder_name(where);
  dataset.origin = "LETOR text";
  if (!options.drop_constant_features && !options.keep_feature_ids && files->size() > 1) {
    // Every fold must have the columns of all folds. Costs a parse of all of them.
    for (const LetorFold& fold : *files) {
      const auto raw = parse_fold(fold, options);
      if (!raw) return raw.error();
      dataset.source_feature_count = std::max(dataset.source_feature_count, raw->max_id());
    }
  }
  std::vector<std::uint32_t> known_ids;  // per fold: constant ids are known up to this one
  for (const LetorFold& fold_files : *files) {
    const auto raw = parse_fold(fold_files, options);
    if (!raw) return raw.error();
    dataset.source_feature_count = std::max(dataset.source_feature_count, raw->max_id());
    known_ids.push_back(dataset.source_feature_count);
    auto fold = build_fold(*raw, options, dataset.source_feature_count);
    if (!fold) return fold.error();
    dataset.folds.push_back(std::move(*fold));
  }
  for (std::size_t number = 0; number < dataset.folds.size(); ++number) {
    Fold& fold = dataset.folds[number];
    // Ids that only later folds have are missing from this one's training file.
    for (std::uint32_t id = known_ids[number] + 1; id <= dataset.source_feature_count; ++id) {
      fold.constant_feature_ids.push_back(id);
    }
    for (const auto& [part, split] : splits_of(fold)) {
      dataset.max_label = std::max(dataset.max_label, largest_label(*split));
    }
  }
  return dataset;
}

Result<SyntheticOptions> synthetic_at(const std::string& where) {
  return synthetic_preset(where == kSynthetic ? "default" : where.substr(kSynthetic.size() + 1));
}

Error not_a_dataset(const std::string& where) {
  std::error_code error;
  const bool exists = fs::exists(where, error);
  return {exists ? ErrorCode::kInvalid : ErrorCode::kNotFound,
          fmt::format("{}: {}; a dataset is a folder of LETOR files, a cache or '{}'", where,
                      exists ? "not a dataset" : "no such file or folder", kSynthetic)};
}

Result<Dataset> load(const std::string& where, const LoadOptions& options) {
  if (const auto& ids = options.keep_feature_ids) {
    if (ids->empty()) return Error{"no feature ids to keep; give at least one"};
    if (const auto reason = ids_complaint(*ids); !reason.empty()) {
      return Error{"features to keep: " + reason};
    }
  }
  if (is_synthetic(where)) {
    const auto synthetic = synthetic_at(where);
    if (!synthetic) return synthetic.error();
    return make_synthetic(*synthetic, options);
  }
  if (is_letor(where)) return load_letor(where, options);
  if (is_cache(where)) return load_cache(where, options);
  return not_a_dataset(where);
}

}  // namespace

bool is_synthetic(std::string_view where) {
  return where == kSynthetic || where.starts_with(fmt::format("{}:", kSynthetic));
}

Result<std::uint32_t> known_grades(const std::string& where) {
  if (is_synthetic(where)) {
    const auto synthetic = synthetic_at(where);
    if (!synthetic) return synthetic.error();
    return synthetic->grades;
  }
  if (is_letor(where)) {
    const auto folds = find_letor_folds(where);
    if (!folds) return folds.error();
    return 0U;
  }
  std::error_code error;
  if (!fs::exists(where, error)) return not_a_dataset(where);
  const auto cache = open_cache(where, {.verify_features = false});
  if (!cache) return cache.error();
  return cache->dataset.grade_count();
}

std::uint32_t Dataset::grade_count() const {
  if (max_label <= 1) return 2;
  if (max_label == 2) return 3;
  return std::max(max_label + 1, 5U);
}

SplitInfo describe(const Split& split, std::uint32_t max_label) {
  SplitInfo info;
  info.queries = split.query_count();
  info.documents = split.doc_count();
  info.label_counts.assign(max_label + 1, 0);
  std::vector<std::uint32_t> doc_counts;
  doc_counts.reserve(info.queries);
  for (std::uint32_t query = 0; query < info.queries; ++query) {
    const auto labels = split.judgments(Query{query}).labels();
    bool relevant = false;
    for (const std::uint8_t label : labels) {
      if (label >= info.label_counts.size()) info.label_counts.resize(label + 1U, 0);
      ++info.label_counts[label];
      relevant = relevant || label > 0;
    }
    if (!relevant) ++info.queries_without_relevant;
    doc_counts.push_back(static_cast<std::uint32_t>(labels.size()));
  }
  if (doc_counts.empty()) return info;
  std::sort(doc_counts.begin(), doc_counts.end());
  info.min_docs = doc_counts.front();
  info.max_docs = doc_counts.back();
  const std::size_t middle = doc_counts.size() / 2;
  const std::uint32_t below = doc_counts[(doc_counts.size() - 1) / 2];
  info.median_docs = (static_cast<double>(below) + doc_counts[middle]) / 2;
  return info;
}

Result<Dataset> load_dataset(const std::string& where, const LoadOptions& options) {
  try {
    return load(where, options);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kUnavailable, fmt::format("{}: out of memory", where)};
  } catch (const std::filesystem::filesystem_error& error) {
    return Error{ErrorCode::kUnavailable, fmt::format("{}: {}", where, error.code().message())};
  }
}

}  // namespace plackett
