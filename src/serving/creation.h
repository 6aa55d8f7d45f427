// A model in the making: part of a writer's job.
#pragma once

#include <functional>
#include <optional>

#include "plackett/result.h"
#include "serving/service_parts.h"
#include "serving/trainer.h"

namespace plackett::serving {

// Made on the caller's thread, where its parameters are drawn; the writer then only puts it in.
class Creation {
 public:
  // Requires: a checked spec.
  static Result<Creation> prepare(const ServiceParts& parts, ModelSpec spec);

  // A job's apply(): puts the model into the store, or finds that it is there already.
  Result<void> apply(const ServiceParts& parts, Group& group);
  // The job's committed(): from here on it is served.
  void committed(ServiceParts& parts);

  [[nodiscard]] const ModelHandle& model() const { return model_; }
  [[nodiscard]] bool is_new() const { return is_new_; }
  [[nodiscard]] const std::optional<Error>& refused() const { return refused_; }

 private:
  ModelSpec spec_;
  std::optional<Trainer> trainer_;
  ModelHandle model_;
  bool is_new_ = false;
  std::optional<Error> refused_;
};

// The job that makes a model: `more` follows in the same transaction where it was not refused, and
// may be empty; `served` is called when it is done.
Job creation_job(ServiceParts& parts, Creation creation,
                 std::function<Result<void>(Group&, const ModelHandle&)> more,
                 std::function<void(const Creation&)> served, Done<void> refused);

}  // namespace plackett::serving
