#include "data_options.h"

#include "command.h"

namespace plackett::command {

void add_data_options(CLI::App& command, DataOptions& options) {
  options.scaling = "query-minmax";
  command
      .add_option("--data", options.where,
                  "dataset: a LETOR folder, a cache file, synthetic or synthetic:PRESET")
      ->capture_default_str();
  command.add_option("--scaling", options.scaling, "of features")
      ->check(CLI::IsMember({"query-minmax", "none"}))
      ->capture_default_str();
  command.add_flag("--keep-constant-features", options.keep_constant_features,
                   "keep features that are constant over the training file");
  command
      .add_option("--max-feature-id", options.load.max_feature_id,
                  "a larger feature id is taken for a mistake")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

Dataset load(const DataOptions& options, unsigned threads) {
  LoadOptions load = options.load;
  load.scaling = options.scaling == "none" ? Scaling::kNone : Scaling::kQueryMinMax;
  load.drop_constant_features = !options.keep_constant_features;
  load.threads = threads;
  return take(load_dataset(options.where, load));
}

}  // namespace plackett::command
