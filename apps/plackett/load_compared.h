// Loads the datasets of a comparison.
#pragma once

#include "command.h"
#include "experiment/spec_parts.h"
#include "plackett/comparison_spec.h"

namespace plackett::command {

struct Loading {
  unsigned threads = 1;
  bool trust_cache = false;
};

// Under the name that the spec gives it. Ends the command where it can't be loaded.
inline Dataset load_compared(const ComparedDataset& dataset, const Loading& loading) {
  LoadOptions options = load_options(dataset);
  options.threads = loading.threads;
  options.verify_cache = !loading.trust_cache;
  Dataset loaded = take(load_dataset(dataset.path, options));
  loaded.name = dataset.name;
  return loaded;
}

}  // namespace plackett::command
