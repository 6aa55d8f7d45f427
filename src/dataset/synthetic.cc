#include "plackett/synthetic.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
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

// With as many queries, documents, features and grades as the dataset that each is named after.
const std::array kPresets = {
    SyntheticOptions{},
    // preset, seed, folds, queries, documents (min, mean, max), features (all, noise, constant),
    // grades
    SyntheticOptions{"mq2008", 1, 5, 784, 8, 19, 121, 46, 8, 6, 3},
    SyntheticOptions{"mslr", 1, 1, 10'000, 20, 120, 800, 136, 30, 0, 5},
    SyntheticOptions{"yahoo", 1, 1, 29'921, 5, 24, 139, 700, 200, 1, 5},
    SyntheticOptions{"istella", 1, 1, 33'118, 60, 315, 1000, 220, 60, 8, 5},
};

ColumnMap all_columns(std::uint32_t width) {
  ColumnMap columns(width);
  std::iota(columns.begin(), columns.end(), 0U);
  return columns;
}

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

  // Stops when every feature that is not constant by design was seen to vary, usually after a query
  // or two.
  [[nodiscard]] std::vector<bool> varying(unsigned /*threads*/) const override {
    const std::uint32_t width = max_id();
    std::vector<bool> varies(width, false);
    std::uint32_t still_constant = 0;
    for (std::uint32_t feature = 0; feature < width; ++feature) {
      if (!model_.constant(feature)) ++still_constant;
    }
    const ColumnMap columns = all_columns(width);
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
  const std::uint64_t plain = std::uint64_t{options.noise_features} + options.constant_features;
  struct Rule {
    bool holds;
    std::string_view what;
    std::uint32_t value;
    std::string rule;
  };
  const std::string docs = fmt::format("from 1 to {}", kMostDocs);
  for (const Rule& rule : {
           Rule{options.folds >= 1 && options.folds <= kParts, "folds", options.folds,
                fmt::format("from 1 to {}", kParts)},
           Rule{options.queries >= kParts, "queries", options.queries,
                fmt::format("at least {}, one per part", kParts)},
           Rule{options.min_docs >= 1, "documents per query", options.min_docs, docs},
           Rule{options.max_docs <= kMostDocs, "documents per query", options.max_docs, docs},
           Rule{options.mean_docs >= options.min_docs && options.mean_docs <= options.max_docs,
                "documents per query, mean", options.mean_docs,
                fmt::format("between the least, {}, and the most, {}", options.min_docs,
                            options.max_docs)},
           Rule{options.features <= kMostFeatures, "features", options.features,
                fmt::format("at most {}", kMostFeatures)},
           Rule{options.features >= plain + kFactors, "features", options.features,
                fmt::format("at least {}: {} of noise, {} constant and {} informative",
                            plain + kFactors, options.noise_features, options.constant_features,
                            kFactors)},
           Rule{options.grades == 3 || options.grades == 5, "grades", options.grades, "3 or 5"},
       }) {
    if (!rule.holds) {
      return Error{fmt::format("synthetic data: {} {}; {}", rule.what, rule.value, rule.rule)};
    }
  }
  return {};
}

// Appends a split's documents as LETOR text.
Result<void> write_split(const SyntheticSplit& split, const fs::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  const std::uint32_t width = split.max_id();
  const ColumnMap columns = all_columns(width);
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
        // The shortest text that reads back to the same float.
        fmt::format_to(std::back_inserter(text), " {}:{}", feature + 1,
                       rows[doc * width + feature]);
      }
      fmt::format_to(std::back_inserter(text), " #made up\n");
    }
    if (auto done = file->append(std::string_view(text.data(), text.size())); !done) return done;
  }
  return file->finish();
}

// Writes all folds into an existing folder.
Result<void> write_folds(const SyntheticOptions& options, const fs::path& folder) {
  const SyntheticModel model(options);
  for (std::uint32_t number = 0; number < options.folds; ++number) {
    const SyntheticFold fold = make_fold(model, options, number);
    const fs::path path = folder / fold.name;
    std::error_code error;
    fs::create_directory(path, error);
    if (error) return system_error(path, "can't create", error.value());
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
  return Error{fmt::format("synthetic data: unknown preset '{}'; known: {}", name,
                           fmt::join(synthetic_preset_names(), ", "))};
}

Result<Dataset> make_synthetic(const SyntheticOptions& options, const LoadOptions& load) {
  if (auto valid = check(options); !valid) return valid.error();
  const SyntheticModel model(options);
  Dataset dataset;
  dataset.name =
      options.preset == "default" ? "synthetic" : fmt::format("synthetic:{}", options.preset);
  dataset.origin =
      fmt::format("generated by plackett: preset {}, seed {}", options.preset, options.seed);
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
    return Error{fmt::format("{}: already exists; expected a new folder", folder.string())};
  }
  fs::path target = folder;
  if (!target.has_filename()) target = target.parent_path();
  std::string temporary = target.string() + ".XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) return system_error(folder, "can't create", errno);
  auto written = write_folds(options, temporary);
  if (written) {
    constexpr auto kReadable = fs::perms::owner_all | fs::perms::group_read |
                               fs::perms::group_exec | fs::perms::others_read |
                               fs::perms::others_exec;
    fs::permissions(temporary, kReadable, error);
    fs::rename(temporary, target, error);
    if (!error) return {};
    written = system_error(folder, "can't rename into place", error.value());
  }
  fs::remove_all(temporary, error);
  return written;
}

}  // namespace plackett
