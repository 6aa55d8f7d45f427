// What Python holds: data, impressions, rankers and learners. Each keeps alive what it shows.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "classes.h"
#include "plackett/comparison_spec.h"
#include "plackett/dataset.h"
#include "plackett/learner.h"
#include "plackett/method.h"
#include "plackett/model_file.h"
#include "plackett/protocol.h"
#include "plackett/ranker.h"
#include "plackett/ranking.h"

namespace plackett::python {

struct SplitHandle {
  SplitHandle(Split of, std::uint32_t highest_label);

  Split split;
  std::uint32_t max_label;  // of the dataset
  // Over the split's memory, read-only.
  py::array features;
  py::array labels;
  py::array query_begin;
};

// A copy: libraries such as PyTorch warn of arrays that can't be written, and writing to the
// engine's memory would change the data for everyone.
py::array_t<float> features_array(const FeatureView& rows);

struct QueryHandle {
  std::shared_ptr<SplitHandle> of;
  Query number{};

  [[nodiscard]] FeatureView features() const { return of->split.features(number); }
  [[nodiscard]] Judgments judgments() const { return of->split.judgments(number); }
};

struct DatasetHandle : Dataset {
  // How a folder of results records it; nothing for data from arrays or of chosen features.
  std::optional<ComparedDataset> source;
};

struct Impression {
  Rows rows;
  Ranking ranking;
  const Method* method = nullptr;
  std::uint64_t learner = 0;  // its id
  std::uint64_t seed = 0;
  std::uint32_t run = 0;
  std::uint64_t number = 0;
};

// Clicks on an impression. Fails unless there is one for each shown document.
std::vector<std::uint8_t> clicks_on(const Impression& impression, py::handle clicks);

// The documents of a ranking as Python gives it, from the top: an Impression's, or indices. Fails
// if one appears twice or is not below `count`, the number of candidates, each of which has one of
// `name` ("labels", "scores").
std::vector<Doc> ranked_docs(py::handle ranking, std::size_t count, std::string_view name);

// PDGD's weights for each of `doc_count` candidates, as document_weights, to the bit. For lists of
// any length.
py::array_t<double> weights_by_doc(const Ranking& ranking, std::span<const std::uint8_t> clicks,
                                   std::size_t doc_count);

// A ranker of its own, or a learner's, which it then keeps alive and sees change.
struct RankerHandle {
  std::shared_ptr<Ranker> ranker;
  std::shared_ptr<Learner> learner = {};  // whose it is, if it is one's
  // All of the model but its parameters and its learner, which stay empty.
  std::shared_ptr<SavedModel> shape = std::make_shared<SavedModel>();
  py::object given = {};  // the arguments of its constructor, a dict; null if it was made otherwise

  static void* operator new(std::size_t) { return refuse_half_made(); }
  [[nodiscard]] SavedModel saved() const;
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

// `features` of a request, to keep: without the data of a Fold.
py::object kept_features(py::handle features);

// Adds what to give as features=, hidden= and activation= for a ranker of the same shape.
py::dict network_arguments(const SavedModel& shape, py::dict arguments);

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
  py::object given = {};          // as RankerHandle::given
  bool last_is_open = false;      // nothing was learned from the last impression yet

  static void* operator new(std::size_t) { return refuse_half_made(); }
  static std::uint64_t next_id();
  [[nodiscard]] RankerHandle ranker() const;
  [[nodiscard]] RankerHandle explorer() const;
  [[nodiscard]] LearnerState state() const;
  [[nodiscard]] SavedModel saved() const;
};

// As Python holds them.
template <typename Handle>
std::shared_ptr<Handle> shared(Handle handle) {
  return std::make_shared<Handle>(std::move(handle));
}

py::bytes to_bytes(const SavedModel& model);
SavedModel from_bytes(std::string_view bytes);

}  // namespace plackett::python
