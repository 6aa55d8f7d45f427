// A dataset's parts as Python holds them: each keeps alive what it shows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plackett/dataset.h"

namespace plackett::python {

struct SplitHandle {
  Split split;
  std::uint32_t max_label = 0;  // the dataset's
};

struct QueryHandle {
  std::shared_ptr<SplitHandle> of;
  Query number{};

  [[nodiscard]] FeatureView features() const { return of->split.features(number); }
  [[nodiscard]] Judgments judgments() const { return of->split.judgments(number); }
};

struct FoldHandle {
  std::string name;
  std::shared_ptr<SplitHandle> train;
  std::shared_ptr<SplitHandle> validation;  // null where there is none
  std::shared_ptr<SplitHandle> test;
  std::vector<std::uint32_t> feature_ids;
  std::vector<std::uint32_t> constant_feature_ids;
  std::string scaling;
};

struct DatasetHandle {
  Dataset dataset;
  std::vector<std::shared_ptr<FoldHandle>> folds;
  std::string scaling;  // of its features, as model files write it
  // What load() was given; `where` is empty for data from arrays.
  std::string where;
  LoadOptions load;
};

}  // namespace plackett::python
