// Rankers and learners as Python holds them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "made.h"
#include "plackett/learner.h"
#include "plackett/method.h"
#include "plackett/model_file.h"
#include "plackett/ranker.h"
#include "plackett/ranker_spec.h"

namespace plackett::python {

namespace py = pybind11;

// What a model is apart from its parameters.
struct ModelShape {
  RankerSpec ranker;
  std::vector<std::uint32_t> feature_ids;
  std::string scaling;
};

// A ranker of its own, or a learner's, which it then keeps alive and sees change.
struct RankerHandle {
  std::shared_ptr<Ranker> ranker;
  std::shared_ptr<ModelShape> shape = std::make_shared<ModelShape>();

  static void* operator new(std::size_t) { return refuse_half_made(); }
  [[nodiscard]] std::vector<float> parameters() const;
};

// How Python says which ranker it wants.
struct RankerRequest {
  std::string_view kind_name = "ranker";  // the argument that `kind` was
  py::handle kind;                        // text; none for `fallback`
  py::handle features;                    // a number, or a Fold
  py::handle hidden;                      // none for the engine's own
  py::handle activation;
  RankerKind fallback = RankerKind::kLinear;
  Rng::Stream initial;
  Initialisation initialisation = Initialisation::kXavier;
};
RankerHandle make_ranker_handle(const RankerRequest& request);

// The engine's ranker in a plackett.Ranker. Fails where a class of Python's own overrides one of
// these members, which the engine would not call.
const RankerHandle& engine_ranker(py::handle ranker, std::initializer_list<const char*> members = {
                                                         "score", "rank", "step", "parameters"});

SavedModel saved(const RankerHandle& ranker, LearnerState learner);
RankerHandle restored(const SavedModel& model);

// A learner with what decides its randomness. Its ranker is the handle's.
struct LearnerHandle {
  std::shared_ptr<Learner> learner;
  const Method* method = nullptr;
  std::shared_ptr<ModelShape> shape;  // its ranker handles have the same
  std::string protocol;
  std::uint32_t shown = 0;
  std::vector<GivenSetting> settings;
  std::uint64_t seed = 0;
  std::uint32_t run = 0;
  std::uint64_t impressions = 0;  // shown so far: the number of the next
  std::uint64_t id = 0;           // no two learners have the same
  bool last_is_open = false;      // nothing was learned from the last impression yet

  static void* operator new(std::size_t) { return refuse_half_made(); }
  [[nodiscard]] RankerHandle ranker() const;
  [[nodiscard]] LearnerState state() const;
};

// As Python holds them.
inline std::shared_ptr<RankerHandle> shared(RankerHandle handle) {
  return std::make_shared<RankerHandle>(std::move(handle));
}
inline std::shared_ptr<LearnerHandle> shared(LearnerHandle handle) {
  return std::make_shared<LearnerHandle>(std::move(handle));
}

std::uint64_t next_learner_id();

// What Python code has set on an object of a class of its own; a copy, empty where it can't.
py::dict attributes_of(const py::object& self);

py::bytes to_bytes(const SavedModel& model);
SavedModel from_bytes(const py::bytes& bytes);

}  // namespace plackett::python
