// A model that learns from its log. The server's learner, its recovery after a crash and
// `plackett replay` are all this, so they can't differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plackett/learner.h"
#include "plackett/model_file.h"
#include "plackett/result.h"
#include "serving/learned_list.h"
#include "serving/model_spec.h"
#include "serving/version.h"
#include "store/reader.h"
#include "store/rows.h"

namespace plackett::serving {

// A function of (spec, log): applying the same entries to a new trainer gives the same bits. One
// thread at a time.
class Trainer {
 public:
  // As the spec and its seed make it. Requires: a checked spec.
  static Result<Trainer> start(const ModelSpec& spec);

  // Goes to where the model stood when the snapshot was taken.
  Result<void> restore(const store::SnapshotRow& snapshot);

  // What happens is read from the store. Where it is not there, or a step leads out of the range of
  // numbers, the model stays as it was and learns no more until it is told to. Fails, and has not
  // seen the entry, where the store can't be read.
  // The norm of the parameters' change; 0 where there was none.
  Result<double> apply(const store::LogEntry& entry, store::Reader& store);

  [[nodiscard]] std::int64_t last_log() const { return last_log_; }
  [[nodiscard]] std::uint64_t version_number() const { return version_; }
  [[nodiscard]] std::shared_ptr<const Version> version() const;
  [[nodiscard]] SavedModel saved() const;
  // The snapshot that this moment makes, without id, kind, note and time.
  [[nodiscard]] store::SnapshotRow snapshot() const;

 private:
  Trainer() = default;
  Result<double> happen(const store::LogEntry& entry, store::Reader& store);
  Result<double> learn(std::int64_t impression, store::Reader& store);
  [[nodiscard]] bool is_finite();
  Result<void> load(const std::vector<std::byte>& file);
  void freeze(std::string why);

  ModelSpec spec_;
  std::unique_ptr<Learner> learner_;
  std::uint64_t version_ = 0;
  std::uint64_t learned_ = 0;
  std::int64_t last_log_ = 0;
  bool learning_ = true;
  std::string frozen_because_;
  double learning_rate_ = 0;  // the spec's

  LearnedList list_;
  std::vector<float> before_;
  std::vector<float> after_;
};

// A version as a model file has it.
SavedModel saved_model(const ModelSpec& spec, const Version& version);

// A model file that goes into a model of `spec`: ranker, number of features, scaling and learner
// must be the same. Its parameters and where its learner stood are what is taken; the learning rate
// and the features' ids are the spec's.
Result<SavedModel> fitting_model(const ModelSpec& spec, std::span<const std::byte> file);

}  // namespace plackett::serving
