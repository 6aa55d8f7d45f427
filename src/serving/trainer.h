// A model that learns from its log. The service, its recovery after a crash and `plackett replay`
// all use this class, so they can't differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plackett/learner.h"
#include "plackett/model_file.h"
#include "plackett/result.h"
#include "serving/impression.h"
#include "serving/model_spec.h"
#include "serving/store.h"
#include "serving/version.h"

namespace plackett::serving {

// A function of spec and log: the same entries applied to a new trainer give the same bits. One
// thread at a time.
class Trainer {
 public:
  // With the first parameters, which the spec's seed draws. Requires: a checked spec.
  static Result<Trainer> start(const ModelSpec& spec);

  // Returns to the state in which the snapshot was taken.
  Result<void> restore(const SnapshotRow& snapshot);

  // Reads what the entry is about from the store. If that is missing, or if a parameter would not
  // be finite, the model stays as it was and is frozen until it is told to resume. Gives the norm
  // of the change of the parameters. Fails, without having applied the entry, if the store can't
  // be read.
  Result<double> apply(const LogEntry& entry, StoreReader& store);

  [[nodiscard]] std::int64_t last_log() const { return last_log_; }
  [[nodiscard]] std::uint64_t version_number() const { return version_; }
  [[nodiscard]] std::shared_ptr<const Version> version() const;
  [[nodiscard]] SavedModel saved() const;
  // What entries needed and the store did not have.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  // A snapshot of the current state, without id, model, kind, note and time.
  [[nodiscard]] SnapshotRow snapshot() const;

 private:
  Trainer() = default;
  double apply_to_model(const LogEntry& entry, StoreReader& store);
  void load_snapshot(const LogEntry& entry, StoreReader& store);
  double learn(const LogEntry& entry, StoreReader& store);
  [[nodiscard]] bool is_finite();
  Result<void> load(const std::vector<std::byte>& file);
  void freeze(std::string why);
  // Freezes it because what the entry needs is missing.
  void miss(const LogEntry& entry, std::string_view what);

  ModelSpec spec_;
  std::unique_ptr<Learner> learner_;
  std::uint64_t version_ = 0;
  std::uint64_t learned_ = 0;
  std::int64_t last_log_ = 0;
  bool learning_ = true;
  std::string frozen_because_;
  Mode serves_ = Mode::kExplore;
  std::vector<std::string> missing_;
  double learning_rate_ = 0;  // the spec's

  SampledPart sampled_;
  std::vector<float> before_;
  std::vector<float> after_;
};

// Has the store read in one go what the first of these entries are about, and gives how many that
// are: call it again after them. If it fails, each is read when it is applied.
std::size_t read_ahead(StoreReader& store, std::span<const LogEntry> entries);

// The contents of a version's model file.
SavedModel saved_model(const ModelSpec& spec, const Version& version);

// Reads a model file that is to be loaded into a model of `spec`: ranker, number of features,
// scaling and learner must be the same. The file's parameters and the state of its learner count;
// the learning rate and the feature ids are the spec's.
Result<SavedModel> fitting_model(const ModelSpec& spec, std::span<const std::byte> file);

}  // namespace plackett::serving
