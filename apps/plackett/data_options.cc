#include "data_options.h"

#include <fmt/format.h>

#include "command.h"

namespace plackett::command {

void add_loading_options(CLI::App& command, DataOptions& options) {
  command
      .add_option("--scaling", options.scaling,
                  fmt::format("of features: {} (within each query) or {}",
                              name_of(Scaling::kQueryMinMax), name_of(Scaling::kNone)))
      ->capture_default_str();
  command.add_flag("--keep-constant-features", options.keep_constant_features,
                   "keep features that are constant over the training file (default: drop them)");
  command
      .add_option("--max-feature-id", options.load.max_feature_id,
                  "a larger feature id is taken for a mistake")
      ->check(CLI::Range(1U, kLargestFeatureId))
      ->capture_default_str();
  command.add_flag("--trust-cache", options.trust_cache,
                   "skip the checksums of a cache's feature data (default: check them)");
}

void add_data_options(CLI::App& command, DataOptions& options) {
  command
      .add_option("--data", options.where,
                  "dataset: a LETOR folder, a cache file, synthetic or synthetic:PRESET")
      ->capture_default_str();
  add_loading_options(command, options);
}

LoadOptions load_options(const DataOptions& options, unsigned threads) {
  LoadOptions load = options.load;
  load.scaling = take(parse_scaling(options.scaling));
  load.drop_constant_features = !options.keep_constant_features;
  load.verify_cache = !options.trust_cache;
  load.threads = threads;
  return load;
}

Dataset load(const DataOptions& options, unsigned threads) {
  return take(load_dataset(options.where, load_options(options, threads)));
}

}  // namespace plackett::command
