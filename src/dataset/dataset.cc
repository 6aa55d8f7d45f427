#include "plackett/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>
#include <string_view>

#include "dataset/build_fold.h"
#include "dataset/cache.h"
#include "dataset/letor_files.h"
#include "dataset/letor_parser.h"
#include "dataset/synthetic.h"

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

std::uint32_t largest_label(const Split& split) {
  const auto& storage = split.storage();
  const std::uint8_t* end = storage.labels + split.doc_count();
  return *std::max_element(storage.labels, end);
}

// The largest feature id of any file. Costs a parse of all of them.
Result<std::uint32_t> largest_id(const std::vector<LetorFold>& folds, const LoadOptions& options) {
  std::uint32_t largest = 0;
  for (const LetorFold& fold : folds) {
    std::vector<fs::path> paths{fold.train};
    if (fold.validation) paths.push_back(*fold.validation);
    paths.push_back(fold.test);
    for (const fs::path& path : paths) {
      auto text = parse_file(path, options);
      if (!text) return text.error();
      largest = std::max(largest, (*text)->max_id());
    }
  }
  return largest;
}

Result<Fold> load_fold(const LetorFold& files, const LoadOptions& options,
                       std::uint32_t& source_feature_count) {
  auto train = parse_file(files.train, options);
  if (!train) return train.error();
  std::unique_ptr<LetorText> validation;
  if (files.validation) {
    auto text = parse_file(*files.validation, options);
    if (!text) return text.error();
    validation = std::move(*text);
  }
  auto test = parse_file(files.test, options);
  if (!test) return test.error();
  source_feature_count = std::max({source_feature_count, (*train)->max_id(), (*test)->max_id(),
                                   validation ? validation->max_id() : 0});
  return build_fold({files.name, files.train.string(), train->get(), validation.get(), test->get()},
                    options, source_feature_count);
}

Result<Dataset> load_letor(const fs::path& folder, const LoadOptions& options) {
  auto files = find_letor_folds(folder);
  if (!files) return files.error();
  Dataset dataset;
  fs::path named = fs::absolute(folder).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  dataset.name = named.filename().string();
  dataset.origin = "LETOR text";
  if (!options.drop_constant_features && !options.keep_feature_ids && files->size() > 1) {
    // Every fold must have the columns of all.
    auto largest = largest_id(*files, options);
    if (!largest) return largest.error();
    dataset.source_feature_count = *largest;
  }
  std::vector<std::uint32_t> known_ids;  // per fold, up to where it knows its constant ones
  for (const LetorFold& fold_files : *files) {
    auto fold = load_fold(fold_files, options, dataset.source_feature_count);
    if (!fold) return fold.error();
    known_ids.push_back(dataset.source_feature_count);
    dataset.folds.push_back(std::move(*fold));
  }
  for (std::size_t number = 0; number < dataset.folds.size(); ++number) {
    Fold& fold = dataset.folds[number];
    // Ids that only later folds have are absent from this one's training file.
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

Result<Dataset> load(const std::string& where, const LoadOptions& options) {
  if (auto valid = check(options); !valid) return valid.error();
  if (where == kSynthetic || where.starts_with(fmt::format("{}:", kSynthetic))) {
    const std::string preset =
        where == kSynthetic ? "default" : where.substr(kSynthetic.size() + 1);
    auto synthetic = synthetic_preset(preset);
    if (!synthetic) return synthetic.error();
    return make_synthetic(*synthetic, options);
  }
  std::error_code error;
  const fs::path path = where;
  if (!fs::exists(path, error)) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format(
            "{}: no such file or folder; a dataset is a folder of LETOR files, a cache or '{}'",
            where, kSynthetic)};
  }
  if (fs::is_directory(path, error)) return load_letor(path, options);
  if (is_cache(path)) return load_cache(path, options);
  return Error{
      fmt::format("{}: not a dataset; a dataset is a folder of LETOR files, a cache or '{}'", where,
                  kSynthetic)};
}

}  // namespace

std::uint32_t Dataset::grade_count() const {
  if (max_label <= 1) return 2;
  if (max_label == 2) return 3;
  return std::max(max_label + 1, 5U);
}

Result<Dataset> load_dataset(const std::string& where, const LoadOptions& options) {
  try {
    return load(where, options);
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{}: out of memory", where)};
  } catch (const std::filesystem::filesystem_error& error) {
    return Error{fmt::format("{}: {}", where, error.code().message())};
  }
}

}  // namespace plackett
