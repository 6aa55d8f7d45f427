#include "plackett/synthetic.h"

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

// With as many queries, documents, features and grades as the dataset that each is named after.
const std::array kPresets = {
    SyntheticOptions{},
    // preset, seed, folds, queries, documents (min, mean, max), features (all, noise, constant),
    // grades
    SyntheticOptions{"mq2007", 1, 5, 1'692, 6, 41, 147, 46, 8, 5, 3},
    SyntheticOptions{"mq2008", 1, 5, 784, 8, 19, 121, 46, 8, 6, 3},
    SyntheticOptions{"mslr", 1, 1, 10'000, 20, 120, 800, 136, 30, 0, 5},
    SyntheticOptions{"yahoo", 1, 1, 29'921, 5, 24, 139, 700, 200, 1, 5},
    SyntheticOptions{"istella", 1, 1, 33'118, 60, 315, 1000, 220, 60, 8, 5},
};

// A query's id in LETOR text.
constexpr std::uint64_t id_of(std::uint64_t query) { return query + 1; }

// Some of the model's queries, in order.
class SyntheticSplit final : public RawSplit {
 public:
  SyntheticSplit(const SyntheticModel& model, std::vector<std::uint64_t> queries)
      : model_(model), queries_(std::move(queries)) {
    query_begin_.reserve(queries_.size() + 1);
    query_begin_.push_back(0);
    for (const std::uint64_t query : queries_) {
      query_begin_.push_back(query_begin_.back() + model_.doc_count(query));
      query_ids_.push_back(id_of(query));
    }
  }

  [[nodiscard]] std::span<const std::uint64_t> query_begin() const override { return query_begin_; }
  [[nodiscard]] std::span<const std::uint64_t> query_ids() const override { return query_ids_; }
  [[nodiscard]] std::uint32_t max_id() const override { return model_.feature_count(); }

  void fill(Query query, const ColumnMap& columns, const Target& target) const override {
    model_.fill(queries_[index(query)], columns, target);
  }

  // Stops when every feature that is not constant by design was seen to vary, usually after a query
  // or two.
  [[nodiscard]] std::vector<bool> varying(unsigned /*threads*/) const override {
    const std::uint32_t width = max_id();
    std::vector<bool> varies(width, false);
    std::uint32_t still_constant = model_.varying_count();
    std::vector<float> first;
    for (std::size_t query = 0; query < queries_.size() && still_constant > 0; ++query) {
      const std::vector<float> rows = model_.documents(queries_[query]).rows;
      if (first.empty()) first.assign(rows.begin(), rows.begin() + width);
      for (std::size_t at = 0; at < rows.size(); ++at) {
        const std::size_t feature = at % width;
        if (varies[feature] || rows[at] == first[feature]) continue;
        varies[feature] = true;
        --still_constant;
      }
    }
    return varies;
  }

 private:
  const SyntheticModel& model_;
  std::vector<std::uint64_t> queries_;
  std::vector<std::uint64_t> query_begin_;
  std::vector<std::uint64_t> query_ids_;
};

// The queries of a fold's training, validation and test data. Part p of all queries is
// [p n / 5, (p + 1) n / 5).
std::array<std::vector<std::uint64_t>, 3> queries_of(const SyntheticOptions& options,
                                                     std::uint32_t fold) {
  std::array<std::vector<std::uint64_t>, 3> splits;
  for (std::uint32_t at = 0; at < kParts; ++at) {
    const std::uint64_t part = (fold + at) % kParts;
    const std::uint64_t end = (part + 1) * options.queries / kParts;
    for (std::uint64_t query = part * options.queries / kParts; query < end; ++query) {
      splits[at < kTrainParts ? 0 : at - kTrainParts + 1].push_back(query);
    }
  }
  return splits;
}

std::string fold_name(std::uint32_t number) { return fmt::format("Fold{}", number + 1); }

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

// Writes queries as LETOR text.
Result<void> write_split(const SyntheticModel& model, std::span<const std::uint64_t> queries,
                         const fs::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  for (const std::uint64_t query : queries) {
    const auto [rows, labels] = model.documents(query);
    const float* value = rows.data();
    text.clear();
    for (const std::uint8_t label : labels) {
      fmt::format_to(out, "{} qid:{}", label, id_of(query));
      for (std::uint32_t id = 1; id <= model.feature_count(); ++id) {
        // The shortest text that reads back to the same float.
        fmt::format_to(out, " {}:{}", id, *value++);
      }
      fmt::format_to(out, " #made up\n");
    }
    if (auto done = file->append(std::string_view(text.data(), text.size())); !done) return done;
  }
  return file->finish();
}

// Writes all folds into an existing folder.
Result<void> write_folds(const SyntheticOptions& options, const fs::path& folder) {
  const SyntheticModel model(options);
  for (std::uint32_t number = 0; number < options.folds; ++number) {
    const fs::path path = folder / fold_name(number);
    std::error_code error;
    fs::create_directory(path, error);
    if (error) return system_error(path, "can't create", error.value());
    const auto [train, validation, test] = queries_of(options, number);
    for (const auto& [name, queries] :
         {std::pair{"train.txt", &train}, std::pair{"vali.txt", &validation},
          std::pair{"test.txt", &test}}) {
      if (auto done = write_split(model, *queries, path / name); !done) return done;
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
    auto [train, validation, test] = queries_of(options, number);
    auto fold = build_fold(
        {fold_name(number), dataset.name, std::make_unique<SyntheticSplit>(model, std::move(train)),
         std::make_unique<SyntheticSplit>(model, std::move(validation)),
         std::make_unique<SyntheticSplit>(model, std::move(test))},
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
