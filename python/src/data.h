// A dataset's parts as Python holds them: each keeps alive what it shows.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "plackett/comparison_spec.h"
#include "plackett/dataset.h"

namespace plackett::python {

namespace py = pybind11;

struct SplitHandle {
  SplitHandle(Split of, std::uint32_t highest_label);

  Split split;
  std::uint32_t max_label;  // of the dataset
  // Over the split's memory, read-only.
  py::array features;
  py::array labels;
  py::array query_begin;
};

// Part of the rows of split.features, read-only.
py::array features_array(const SplitHandle& split, const FeatureView& rows);

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

}  // namespace plackett::python
