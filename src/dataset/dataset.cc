#include "plackett/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>
#include <string_view>

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
  auto file = LetorFile::open(path);
  if (!file) return file.error();
  LetorOptions parse;
  parse.path = path.string();
  parse.max_feature_id = options.max_feature_id;
  parse.threads = options.threads;
  return parse_letor(file->text(), parse);
}

// The texts of one fold.
struct FoldTexts {
  std::unique_ptr<LetorText> train, validation, test;

  [[nodiscard]] std::uint32_t max_id() const {
    return std::max({train->max_id(), test->max_id(), validation ? validation->max_id() : 0});
  }
};

Result<FoldTexts> parse_fold(const LetorFold& files, const LoadOptions& options) {
  FoldTexts texts;
  const auto parse = [&](const fs::path& path, std::unique_ptr<LetorText>& into) -> Result<void> {
    auto text = parse_file(path, options);
    if (!text) return text.error();
    into = std::move(*text);
    return {};
  };
  if (auto done = parse(files.train, texts.train); !done) return done.error();
  if (files.validation) {
    if (auto done = parse(*files.validation, texts.validation); !done) return done.error();
  }
  if (auto done = parse(files.test, texts.test); !done) return done.error();
  return texts;
}

// The largest feature id of any file. Costs a parse of all of them.
Result<std::uint32_t> largest_id(const std::vector<LetorFold>& folds, const LoadOptions& options) {
  std::uint32_t largest = 0;
  for (const LetorFold& fold : folds) {
    const auto texts = parse_fold(fold, options);
    if (!texts) return texts.error();
    largest = std::max(largest, texts->max_id());
  }
  return largest;
}

Result<Fold> load_fold(const LetorFold& files, const LoadOptions& options,
                       std::uint32_t& source_feature_count) {
  const auto texts = parse_fold(files, options);
  if (!texts) return texts.error();
  source_feature_count = std::max(source_feature_count, texts->max_id());
  return build_fold({files.name, files.train.string(), texts->train.get(), texts->validation.get(),
                     texts->test.get()},
                    options, source_feature_count);
}

Result<Dataset> load_letor(const fs::path& folder, const LoadOptions& options) {
  auto files = find_letor_folds(folder);
  if (!files) return files.error();
  Dataset dataset;
  dataset.name = folder_name(folder);
  dataset.origin = "LETOR text";
  if (!options.drop_constant_features && !options.keep_feature_ids && files->size() > 1) {
    // Every fold must have the columns of all folds.
    auto largest = largest_id(*files, options);
    if (!largest) return largest.error();
    dataset.source_feature_count = *largest;
  }
  std::vector<std::uint32_t> known_ids;  // per fold: constant ids are known up to this one
  for (const LetorFold& fold_files : *files) {
    auto fold = load_fold(fold_files, options, dataset.source_feature_count);
    if (!fold) return fold.error();
    known_ids.push_back(dataset.source_feature_count);
    dataset.folds.push_back(std::move(*fold));
  }
  for (std::size_t number = 0; number < dataset.folds.size(); ++number) {
    Fold& fold = dataset.folds[number];
    // Ids that only later folds have are missing from this one's training file.
    for (std::uint32_t id = known_ids[number] + 1; id <= dataset.source_feature_count; ++id) {
      fold.constant_feature_ids.push_back(id);
    }
    dataset.max_label =
        std::max({dataset.max_label, largest_label(fold.train), largest_label(fold.test),
                  fold.validation ? largest_label(*fold.validation) : 0});
  }
  return dataset;
}

Result<void> check(const LoadOptions& options) {
  if (!options.keep_feature_ids) return {};
  if (options.keep_feature_ids->empty()) return Error{"no feature ids to keep; give at least one"};
  std::set<std::uint32_t> seen;
  for (const std::uint32_t id : *options.keep_feature_ids) {
    if (id == 0) return Error{"feature id 0 to keep; ids start at 1"};
    if (!seen.insert(id).second) return Error{fmt::format("feature id {} to keep twice", id)};
  }
  return {};
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
  if (auto valid = check(options); !valid) return valid.error();
  if (is_synthetic(where)) {
    const auto synthetic = synthetic_at(where);
    if (!synthetic) return synthetic.error();
    return make_synthetic(*synthetic, options);
  }
  std::error_code error;
  if (fs::is_directory(where, error)) return load_letor(where, options);
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
  std::error_code error;
  if (fs::is_directory(where, error)) {
    const auto folds = find_letor_folds(where);
    if (!folds) return folds.error();
    return 0U;
  }
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
