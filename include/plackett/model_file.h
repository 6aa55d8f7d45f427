// A learned model on disk: what it is, which features it reads, its parameters, and its learner's
// state. The format is specified in docs/formats/model.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plackett/export.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"
#include "plackett/setting.h"

namespace plackett {

// A learner's state, so that it can continue.
struct LearnerState {
  std::string method = {};        // by its name
  double learning_rate = 0;       // of the next update; 0 if the method has none
  std::uint64_t updates = 0;      // steps taken so far
  std::uint64_t impressions = 0;  // lists shown so far; the caller counts them
  std::vector<float> memory{};    // what else the method keeps between updates; mostly empty
};

// The content of a model file.
struct SavedModel {
  RankerSpec ranker = {};                       // what its parameters mean
  std::vector<std::uint32_t> feature_ids = {};  // of the source, from 1; one per feature, in order
  std::string scaling = {};                     // of its features, by name_of(Scaling)
  std::vector<float> parameters = {};           // as Ranker::get_parameters gives them
  LearnerState learner = {};                    // when it was saved
  // The learner's, those that are not its method's defaults. Its learning rate is in its state.
  std::vector<GivenSetting> settings = {};
};

// The bytes of the file. The same for the same model, on any machine.
PLACKETT_EXPORT std::vector<std::byte> serialise_model(const SavedModel& model);

// Options of parse_model.
struct ParseModelOptions {
  std::string name = "model";  // starts the errors
  // If false, the checksum is not compared, so that a fuzzer gets past it; everything else is still
  // checked.
  bool check = true;
};

// Reads a model. Fails, naming the place, on anything that is not a complete, undamaged, consistent
// model. Never reads past the end, and allocates in proportion to the bytes.
PLACKETT_EXPORT Result<SavedModel> parse_model(std::span<const std::byte> bytes,
                                               const ParseModelOptions& options);

// Writes the file atomically: whatever happens, `path` holds the old model or the new one, durably
// once it returns. Fails before anything is written if the model is inconsistent or its scaling is
// unknown to parse_scaling.
PLACKETT_EXPORT Result<void> save_model(const SavedModel& model, const std::filesystem::path& path);
// Reads it back. Fails as parse_model does, and if the file can't be read.
PLACKETT_EXPORT Result<SavedModel> load_model(const std::filesystem::path& path);

// The ranker that a model describes, with its parameters. Fails if the two don't match.
PLACKETT_EXPORT Result<std::unique_ptr<Ranker>> restore_ranker(const SavedModel& model);

}  // namespace plackett
