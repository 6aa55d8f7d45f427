#include "dataset/synthetic.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <system_error>

#include "base/file.h"
#include "dataset/build_fold.h"
#include "dataset/synthetic_model.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kParts = 5;
constexpr std::uint32_t kTrainParts = 3;
// Informative features are views of the factors: with fewer, a part of the truth is unseen.
constexpr std::uint32_t kMostFeatures = 20'000;
constexpr std::uint32_t kMostDocs = 1'000'000;

// As large, in queries, documents, features and grades, as the set each is named after.
const std::array kPresets = {
    SyntheticOptions{},
    SyntheticOptions{.preset = "mq2008",
                     .queries = 784,
                     .min_docs = 8,
                     .mean_docs = 19,
                     .max_docs = 121,
                     .features = 46,
                     .noise_features = 8,
                     .constant_features = 6,
                     .grades = 3},
    SyntheticOptions{.preset = "mslr",
                     .folds = 1,
                     .queries = 10'000,
                     .min_docs = 20,
                     .mean_docs = 120,
                     .max_docs = 800,
                     .features = 136,
                     .noise_features = 30,
                     .constant_features = 0,
                     .grades = 5},
    SyntheticOptions{.preset = "yahoo",
                     .folds = 1,
                     .queries = 29'921,
                     .min_docs = 5,
                     .mean_docs = 24,
                     .max_docs = 139,
                     .features = 700,
                     .noise_features = 200,
                     .constant_features = 1,
                     .grades = 5},
    SyntheticOptions{.preset = "istella",
                     .folds = 1,
                     .queries = 33'118,
                     .min_docs = 60,
                     .mean_docs = 315,
                     .max_docs = 1000,
                     .features = 220,
                     .noise_features = 60,
                     .constant_features = 8,
                     .grades = 5},
};

// Some of the model's queries, in order.
class SyntheticSplit final : public RawSplit {
 public:
  SyntheticSplit(const SyntheticModel& model, std::vector<std::uint64_t> queries)
      : model_(model), queries_(std::move(queries)) {
    query_begin_.reserve(queries_.size() + 1);
    query_begin_.push_back(0);
    for (const std::uint64_t query : queries_) {
      query_begin_.push_back(query_begin_.back() + model_.doc_count(query));
    }
  }

  [[nodiscard]] std::span<const std::uint64_t> query_begin() const override { return query_begin_; }
  [[nodiscard]] std::uint32_t max_id() const override { return model_.feature_count(); }
  [[nodiscard]] std::uint64_t source_query(std::size_t query) const { return queries_[query]; }

  void fill(Query query, const ColumnMap& columns, const Target& target) const override {
    model_.fill(queries_[index(query)], columns, target);
  }

  // Goes on until every feature that is not constant by design was seen to vary, which takes
  // a query or two.
  [[nodiscard]] std::vector<bool> varying(unsigned /*threads*/) const override {
    const std::uint32_t width = max_id();
    std::vector<bool> varies(width, false);
    std::uint32_t still_constant = 0;
    for (std::uint32_t feature = 0; feature < width; ++feature) {
      if (!model_.constant(feature)) ++still_constant;
    }
    ColumnMap columns(width);
    for (std::uint32_t feature = 0; feature < width; ++feature) columns[feature] = feature;
    std::vector<float> first;
    std::vector<float> rows;
    std::vector<std::uint8_t> labels;
    for (std::size_t query = 0; query < queries_.size() && still_constant > 0; ++query) {
      const std::uint64_t docs = query_begin_[query + 1] - query_begin_[query];
      rows.assign(docs * width, 0.0F);
      labels.resize(docs);
      model_.fill(queries_[query], columns, {rows.data(), width, labels.data()});
      if (first.empty()) first.assign(rows.begin(), rows.begin() + width);
      for (std::uint64_t doc = 0; doc < docs; ++doc) {
        for (std::uint32_t feature = 0; feature < width; ++feature) {
          if (varies[feature] || rows[doc * width + feature] == first[feature]) continue;
          varies[feature] = true;
          --still_constant;
        }
      }
    }
    return varies;
  }

 private:
  const SyntheticModel& model_;
  std::vector<std::uint64_t> queries_;
  std::vector<std::uint64_t> query_begin_;
};

// Part p of the queries is [p n / 5, (p + 1) n / 5).
std::unique_ptr<SyntheticSplit> join_parts(const SyntheticModel& model,
                                           const SyntheticOptions& options,
                                           std::uint32_t first_part, std::uint32_t parts) {
  std::vector<std::uint64_t> queries;
  for (std::uint32_t offset = 0; offset < parts; ++offset) {
    const std::uint64_t part = (first_part + offset) % kParts;
    const std::uint64_t end = (part + 1) * options.queries / kParts;
    for (std::uint64_t query = part * options.queries / kParts; query < end; ++query) {
      queries.push_back(query);
    }
  }
  return std::make_unique<SyntheticSplit>(model, std::move(queries));
}

struct SyntheticFold {
  std::string name;
  std::unique_ptr<SyntheticSplit> train, validation, test;
};

SyntheticFold make_fold(const SyntheticModel& model, const SyntheticOptions& options,
                        std::uint32_t fold) {
  return {fmt::format("Fold{}", fold + 1), join_parts(model, options, fold, kTrainParts),
          join_parts(model, options, fold + kTrainParts, 1),
          join_parts(model, options, fold + kTrainParts + 1, 1)};
}

Result<void> check(const SyntheticOptions& options) {
  const auto bad = [](std::string_view what, std::uint64_t value, const std::string& rule) {
    return Error{fmt::format("synthetic data: {} {}; {}", what, value, rule)};
  };
  if (options.folds < 1 || options.folds > kParts) {
    return bad("folds", options.folds, fmt::format("from 1 to {}", kParts));
  }
  if (options.queries < kParts) {
    return bad("queries", options.queries, fmt::format("at least {}, one a part", kParts));
  }
  if (options.min_docs < 1 || options.max_docs > kMostDocs) {
    return bad("documents a query", options.min_docs < 1 ? options.min_docs : options.max_docs,
               fmt::format("from 1 to {}", kMostDocs));
  }
  if (options.mean_docs < options.min_docs || options.mean_docs > options.max_docs) {
    return bad(
        "documents a query, mean", options.mean_docs,
        fmt::format("between the least, {}, and the most, {}", options.min_docs, options.max_docs));
  }
  if (options.features > kMostFeatures) {
    return bad("features", options.features, fmt::format("at most {}", kMostFeatures));
  }
  const std::uint64_t plain = std::uint64_t{options.noise_features} + options.constant_features;
  if (options.features < plain + kFactors) {
    return bad(
        "features", options.features,
        fmt::format("at least {}: {} of noise, {} constant and {} informative", plain + kFactors,
                    options.noise_features, options.constant_features, kFactors));
  }
  if (options.grades != 3 && options.grades != 5) {
    return bad("grades", options.grades, "3 or 5");
  }
  return {};
}

// Appends a split's documents as LETOR text.
Result<void> write_split(const SyntheticSplit& split, const fs::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  const std::uint32_t width = split.max_id();
  ColumnMap columns(width);
  for (std::uint32_t feature = 0; feature < width; ++feature) columns[feature] = feature;
  std::vector<float> rows;
  std::vector<std::uint8_t> labels;
  fmt::memory_buffer text;
  const auto begin = split.query_begin();
  for (std::uint32_t query = 0; query + 1 < begin.size(); ++query) {
    const std::uint64_t docs = begin[query + 1] - begin[query];
    rows.assign(docs * width, 0.0F);
    labels.resize(docs);
    split.fill(Query{query}, columns, {rows.data(), width, labels.data()});
    text.clear();
    for (std::uint64_t doc = 0; doc < docs; ++doc) {
      fmt::format_to(std::back_inserter(text), "{} qid:{}", labels[doc],
                     split.source_query(query) + 1);
      for (std::uint32_t feature = 0; feature < width; ++feature) {
        // The shortest text that reads back as the same float.
        fmt::format_to(std::back_inserter(text), " {}:{}", feature + 1,
                       rows[doc * width + feature]);
      }
      fmt::format_to(std::back_inserter(text), " #made up\n");
    }
    if (auto done = file->append(std::string_view(text.data(), text.size())); !done) return done;
  }
  return file->finish();
}

// Writes all folds into `folder`, which is there.
Result<void> write_folds(const SyntheticOptions& options, const fs::path& folder) {
  const SyntheticModel model(options);
  for (std::uint32_t number = 0; number < options.folds; ++number) {
    const SyntheticFold fold = make_fold(model, options, number);
    const fs::path path = folder / fold.name;
    std::error_code error;
    fs::create_directory(path, error);
    if (error) return Error{fmt::format("{}: can't create: {}", path.string(), error.message())};
    for (const auto& [name, split] :
         {std::pair{"train.txt", fold.train.get()}, std::pair{"vali.txt", fold.validation.get()},
          std::pair{"test.txt", fold.test.get()}}) {
      if (auto done = write_split(*split, path / name); !done) return done;
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> synthetic_preset_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kPresets));
  for (const auto& preset : kPresets) names.push_back(preset.preset);
  return names;
}

Result<SyntheticOptions> synthetic_preset(std::string_view name) {
  for (const auto& preset : kPresets) {
    if (preset.preset == name) return preset;
  }
  return Error{fmt::format("synthetic data: no preset '{}'; there are {}", name,
                           fmt::join(synthetic_preset_names(), ", "))};
}

Result<Dataset> make_synthetic(const SyntheticOptions& options, const LoadOptions& load) {
  if (auto valid = check(options); !valid) return valid.error();
  const SyntheticModel model(options);
  Dataset dataset;
  dataset.name =
      options.preset == "default" ? "synthetic" : fmt::format("synthetic:{}", options.preset);
  dataset.origin =
      fmt::format("made up by plackett: preset {}, seed {}", options.preset, options.seed);
  dataset.max_label = options.grades - 1;
  dataset.source_feature_count = options.features;
  for (std::uint32_t number = 0; number < options.folds; ++number) {
    const SyntheticFold raw = make_fold(model, options, number);
    auto fold =
        build_fold({raw.name, dataset.name, raw.train.get(), raw.validation.get(), raw.test.get()},
                   load, options.features);
    if (!fold) return fold.error();
    dataset.folds.push_back(std::move(*fold));
  }
  return dataset;
}

Result<void> write_synthetic(const SyntheticOptions& options, const fs::path& folder) {
  if (auto valid = check(options); !valid) return valid;
  std::error_code error;
  if (fs::exists(folder, error)) {
    return Error{fmt::format("{}: already there; give a folder that is not", folder.string())};
  }
  fs::path target = folder;
  if (!target.has_filename()) target = target.parent_path();
  std::string temporary = target.string() + ".XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) {
    error = {errno, std::generic_category()};
    return Error{fmt::format("{}: can't create: {}", folder.string(), error.message())};
  }
  auto written = write_folds(options, temporary);
  if (written) {
    constexpr auto kReadable = fs::perms::owner_all | fs::perms::group_read |
                               fs::perms::group_exec | fs::perms::others_read |
                               fs::perms::others_exec;
    fs::permissions(temporary, kReadable, error);
    fs::rename(temporary, target, error);
    if (!error) return {};
    written =
        Error{fmt::format("{}: can't rename into place: {}", folder.string(), error.message())};
  }
  fs::remove_all(temporary, error);
  return written;
}

}  // namespace plackett
