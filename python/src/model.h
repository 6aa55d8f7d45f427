// Rankers and learners as Python holds them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "classes.h"
#include "plackett/learner.h"
#include "plackett/method.h"
#include "plackett/model_file.h"
#include "plackett/protocol.h"
#include "plackett/ranker.h"

namespace plackett::python {

// A ranker of its own, or a learner's, which it then keeps alive and sees change.
struct RankerHandle {
  std::shared_ptr<Ranker> ranker;
  // All of the model but its parameters and its learner, which stay empty.
  std::shared_ptr<SavedModel> shape = std::make_shared<SavedModel>();

  static void* operator new(std::size_t) { return refuse_half_made(); }
  [[nodiscard]] SavedModel saved(LearnerState learner = {}) const;
};

// What a RankerHandle keeps of a model.
std::shared_ptr<SavedModel> shape_of(SavedModel model);

// The ranker of a saved model.
RankerHandle restored(SavedModel model);

// How Python asks for a ranker.
struct RankerRequest {
  std::string_view kind_name;  // the argument that `kind` was
  py::handle kind;             // text; None for `fallback`
  py::handle features;         // an integer, or a Fold
  py::handle hidden;           // None for the engine's default
  py::handle activation;       // likewise
  RankerKind fallback = RankerKind::kLinear;
  Rng::Stream initial;
  Initialisation initialisation = Initialisation::kXavier;
};
RankerHandle make_ranker_handle(const RankerRequest& request);

// The engine's ranker in a plackett.Ranker. Fails if a Python subclass overrides one of these
// members, which the engine would not call.
const RankerHandle& engine_ranker(py::handle ranker, std::initializer_list<const char*> members = {
                                                         "score", "rank", "step", "parameters"});

// A learner with what decides its randomness. Its ranker is the handle's.
struct LearnerHandle {
  std::shared_ptr<Learner> learner;
  const Method* method = nullptr;
  std::shared_ptr<SavedModel> shape;  // shared with the handles of its ranker
  Protocol protocol{};
  std::uint32_t shown = 0;
  std::vector<GivenSetting> settings;
  std::uint64_t seed = 0;
  std::uint32_t run = 0;
  std::uint64_t impressions = 0;  // shown so far: the number of the next
  std::uint64_t id = next_id();   // of the learner
  bool last_is_open = false;      // nothing was learned from the last impression yet

  static void* operator new(std::size_t) { return refuse_half_made(); }
  static std::uint64_t next_id();
  [[nodiscard]] RankerHandle ranker() const;
  [[nodiscard]] LearnerState state() const;
};

// As Python holds them.
template <typename Handle>
std::shared_ptr<Handle> shared(Handle handle) {
  return std::make_shared<Handle>(std::move(handle));
}

py::bytes to_bytes(const SavedModel& model);
SavedModel from_bytes(std::string_view bytes);

}  // namespace plackett::python
