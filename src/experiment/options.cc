#include "plackett/options.h"

#include <array>
#include <limits>

#include "base/declare_option.h"

namespace plackett {

std::span<const Option<SimulationSpec>> simulation_options() {
  using Spec = SimulationSpec;
  static const std::array options{
      option<&Spec::runs>("runs", "number of runs, spread evenly over the folds", {1, kMaxRuns}),
      option<&Spec::impressions>("impressions", "impressions per run", {1, kMaxImpressions}),
      named_option<parse_protocol, &Spec::protocol>("protocol", protocol_help()),
      option<&Spec::seed>("seed", "seed of all random numbers",
                          {0, std::numeric_limits<std::uint64_t>::max()}),
      option<&Spec::shown>("shown", "documents shown per impression", {1, kMaxShown}),
      option<&Spec::ranker, &RankerSpec::hidden>("hidden", "networks: units of each hidden layer",
                                                 {1, kMaxUnits}),
      named_option<parse_activation, &Spec::ranker, &RankerSpec::activation>(
          "activation", "networks: sigmoid, relu or tanh"),
      option<&Spec::eta>("eta",
                         "position-based users: rank r is examined with probability 1/r^eta"),
      named_option<parse_no_relevant, &Spec::no_relevant>(
          "no-relevant", "value of queries without relevant documents: skip, zero or one")};
  return options;
}

std::span<const Option<ComparedDataset>> dataset_options() {
  using Data = ComparedDataset;
  // The fingerprint of the data tells apart what out-of-range and unlabelled make of it, so that
  // they need not be part of the spec's identity.
  constexpr OptionRules kSeenInTheData{.changes_results = false};
  static const std::array options{
      named_option<parse_scaling, &Data::scaling>(
          "scaling", "of features: query-minmax (within each query) or none"),
      option<&Data::keep_constant_features>(
          "keep-constant-features",
          "keep features that are constant over the training file (default: drop them)"),
      option<&Data::max_feature_id>("max-feature-id", "larger feature ids are refused as mistakes",
                                    {1, kLargestFeatureId, false}),
      named_option<parse_out_of_range, &Data::out_of_range>(
          "out-of-range",
          "values that a float can't hold: refuse, clamp (to the largest float) or missing (0, as "
          "if the feature was absent)",
          kSeenInTheData),
      named_option<parse_unlabelled, &Data::unlabelled>(
          "unlabelled", "documents with label -1: refuse or skip", kSeenInTheData)};
  return options;
}

std::span<const Option<RunOptions>> run_options() {
  static const std::array options{
      option<&RunOptions::threads>("threads", "0: one per core", {0, 1024}),
      option<&RunOptions::fresh>("fresh",
                                 "do all runs again, including those that are in the folder")};
  return options;
}

}  // namespace plackett
