// A learned model on disk: what it is, which features it reads, its parameters, and where its
// learner stood. The format is specified in docs/formats/model.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "plackett/export.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"

namespace plackett {

// Where a learner stood, so that it can go on.
struct LearnerState {
  std::string method;
  double learning_rate = 0;
  std::uint64_t updates = 0;
  std::uint64_t impressions = 0;
  std::vector<float> memory{};  // what the method keeps between updates besides; mostly nothing
};

struct SavedModel {
  RankerSpec ranker;
  std::vector<std::uint32_t> feature_ids;  // of the source, from 1; one a feature, in order
  std::string scaling;                     // "query-minmax", "none"
  std::vector<float> parameters;
  LearnerState learner;
};

PLACKETT_EXPORT std::vector<std::byte> serialise_model(const SavedModel& model);

// `check` off skips the comparison of the checksum, so that a fuzzer gets past it; everything
// else is checked all the same. `name` stands first in the errors.
struct ParseModelOptions {
  std::string name = "model";
  bool check = true;
};
PLACKETT_EXPORT Result<SavedModel> parse_model(std::span<const std::byte> bytes,
                                               const ParseModelOptions& options);

PLACKETT_EXPORT Result<void> save_model(const SavedModel& model, const std::filesystem::path& path);
PLACKETT_EXPORT Result<SavedModel> load_model(const std::filesystem::path& path);

// The ranker that a model describes, with its parameters. Fails where they don't fit together.
PLACKETT_EXPORT Result<std::unique_ptr<Ranker>> restore_ranker(const SavedModel& model);

}  // namespace plackett
