// A learned model on disk: what it is, which features it reads, its parameters, and where its
// learner stood. The format is specified in docs/formats/model.md.
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

namespace plackett {

// Where a learner stood, so that it can go on.
struct LearnerState {
  std::string method = {};        // by its name
  double learning_rate = 0;       // of the next update
  std::uint64_t updates = 0;      // steps taken so far
  std::uint64_t impressions = 0;  // lists shown so far; the caller counts them
  std::vector<float> memory{};    // what the method keeps between updates besides; mostly nothing
};

// All that a file holds, as plain data.
struct SavedModel {
  RankerSpec ranker = {};                       // what its parameters mean
  std::vector<std::uint32_t> feature_ids = {};  // of the source, from 1; one a feature, in order
  std::string scaling = {};                     // of what it reads, by name_of(Scaling)
  std::vector<float> parameters = {};           // as Ranker::get_parameters gives them
  LearnerState learner = {};                    // where learning stood
};

// The bytes of the file. The same for the same model, on any machine.
PLACKETT_EXPORT std::vector<std::byte> serialise_model(const SavedModel& model);

// How parse_model reads.
struct ParseModelOptions {
  std::string name = "model";  // stands first in the errors
  // Off, the checksum is not compared, so that a fuzzer gets past it; everything else is checked
  // all the same.
  bool check = true;
};

// What the bytes hold. Fails, naming the place, on anything that is not a whole, undamaged model
// whose parts fit together; never reads past the end, and allocates no more than the bytes call
// for.
PLACKETT_EXPORT Result<SavedModel> parse_model(std::span<const std::byte> bytes,
                                               const ParseModelOptions& options);

// Writes the file as a whole or not at all: whatever happens, `path` holds the old model or the new
// one, durably once it returns. Fails where its parts don't fit together or parse_scaling does not
// know its scaling, before anything is written.
PLACKETT_EXPORT Result<void> save_model(const SavedModel& model, const std::filesystem::path& path);
// Reads it back. Fails as parse_model, and where the file can't be read.
PLACKETT_EXPORT Result<SavedModel> load_model(const std::filesystem::path& path);

// The ranker that a model describes, with its parameters. Fails where they don't fit together.
PLACKETT_EXPORT Result<std::unique_ptr<Ranker>> restore_ranker(const SavedModel& model);

}  // namespace plackett
