#include "plackett/options.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/declare_option.h"
#include "plackett/metrics.h"

namespace plackett {

namespace {

constexpr std::string_view kAlwaysMeasured = "NDCG@10";

std::string other_metrics() {
  std::vector<std::string_view> names;
  for (const std::string_view name : metric_names()) {
    if (name != kAlwaysMeasured) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<std::vector<std::string>> parse_metrics(std::string_view text) {
  std::vector<std::string> metrics;
  for (const std::string_view name : option_value::split(text)) {
    const auto metric = parse_metric(name);
    if (!metric || name == kAlwaysMeasured) {
      return Error{fmt::format("\"{}\"; expected some of {}", name, other_metrics())};
    }
    if (std::find(metrics.begin(), metrics.end(), name) != metrics.end()) {
      return Error{fmt::format("{} is listed twice", name)};
    }
    metrics.emplace_back(name);
  }
  return metrics;
}

}  // namespace

std::string_view name_of(MeasuredSplit split) {
  return split == MeasuredSplit::kTest ? "test" : "validation";
}

Result<MeasuredSplit> parse_measured_split(std::string_view text) {
  for (const MeasuredSplit split : {MeasuredSplit::kTest, MeasuredSplit::kValidation}) {
    if (text == name_of(split)) return split;
  }
  return Error{fmt::format("\"{}\"; expected test or validation", text)};
}

std::string_view name_of(CurveKind kind) { return kind == CurveKind::kWhole ? "whole" : "final"; }

Result<CurveKind> parse_curve_kind(std::string_view text) {
  for (const CurveKind kind : {CurveKind::kWhole, CurveKind::kFinal}) {
    if (text == name_of(kind)) return kind;
  }
  return Error{fmt::format("\"{}\"; expected whole or final", text)};
}

std::string_view name_of(Device device) {
  switch (device) {
    case Device::kCpu:
      return "cpu";
    case Device::kGpu:
      return "gpu";
    case Device::kAuto:
      return "auto";
  }
  return "";
}

Result<Device> parse_device(std::string_view text) {
  for (const Device device : {Device::kCpu, Device::kGpu, Device::kAuto}) {
    if (text == name_of(device)) return device;
  }
  return Error{fmt::format("\"{}\"; expected cpu, gpu or auto", text)};
}

Result<Shard> parse_shard(std::string_view text) {
  constexpr OptionRules kRules{1, 1'000'000};
  const std::size_t slash = text.find('/');
  const auto number = option_value::read_integer(text.substr(0, slash), kRules);
  const auto count = option_value::read_integer(
      slash == std::string_view::npos ? "" : text.substr(slash + 1), kRules);
  if (!number || !count || *number > *count) {
    return Error{fmt::format("\"{}\"; expected NUMBER/COUNT, NUMBER from 1 to COUNT", text)};
  }
  return Shard{static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*count)};
}

std::string name_of(const Shard& shard) { return fmt::format("{}/{}", shard.number, shard.count); }

std::span<const Option<SimulationSpec>> simulation_options() {
  using Spec = SimulationSpec;
  static const std::array options{
      option<&Spec::runs>("runs", "number of runs, spread evenly over the folds",
                          {1, kMaxRuns, false}),
      option<&Spec::impressions>("impressions", "impressions per run", {1, kMaxImpressions}),
      named_option<parse_protocol, &Spec::protocol>("protocol", protocol_help()),
      option<&Spec::seed>("seed", "seed of all random numbers",
                          {0, std::numeric_limits<std::uint64_t>::max()}),
      option<&Spec::shown>("shown", "documents shown per impression", {1, kMaxShown}),
      option<&Spec::ranker, &RankerSpec::hidden>("hidden", "networks: units of each hidden layer",
                                                 {1, kMaxUnits}),
      named_option<parse_activation, &Spec::ranker, &RankerSpec::activation>(
          "activation", "networks: sigmoid, relu or tanh"),
      option<&Spec::learning_rate_decay>(
          "learning-rate-decay",
          "factor on the learning rate after each update, at most 1; 0: the protocol's own"),
      option<&Spec::eta>(
          "eta",
          "position-based and trust-bias users: rank r is examined with probability 1/r^eta"),
      named_option<parse_no_relevant, &Spec::no_relevant>(
          "no-relevant", "value of queries without relevant documents: skip, zero or one"),
      named_option<parse_measured_split, &Spec::split>(
          "split", "what offline performance is measured on: test or validation"),
      // A folder is of one kind, so cells never differ in it, and identity() reads it apart.
      named_option<parse_curve_kind, &Spec::curve>(
          "curve",
          "when performance is measured: whole (at log-spaced impressions) or final (after the "
          "last one only, which takes less time)",
          {.changes_results = false}),
      named_option<parse_metrics, &Spec::metrics>(
          "metrics", fmt::format("measured offline besides NDCG@10: {}", other_metrics()),
          {.changes_results = false})};
  return options;
}

std::span<const Option<ComparedDataset>> dataset_options() {
  using Data = ComparedDataset;
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
          "if the feature was absent)"),
      named_option<parse_unlabelled, &Data::unlabelled>("unlabelled",
                                                        "documents with label -1: refuse or skip")};
  return options;
}

std::span<const Option<ComparisonSpec>> report_options() {
  static const std::array options{named_option<parse_significance_test, &ComparisonSpec::test>(
      "test",
      "t-test that marks and findings go by: paired (runs of the same number share fold and "
      "queries), welch or student")};
  return options;
}

std::span<const Option<RunOptions>> run_options() {
  static const std::array options{
      option<&RunOptions::threads>("threads", "0: one per core", {0, 1024}),
      named_option<parse_device, &RunOptions::device>(
          "device",
          "what does the runs: cpu, gpu, or auto (the GPU for those that it can do, if there is "
          "one)"),
      named_option<parse_shard, &RunOptions::shard>(
          "shard", "N/M: do only part N of M of the runs; other machines do the rest"),
      option<&RunOptions::fresh>("fresh",
                                 "do all runs again, including those that are in the folder")};
  return options;
}

}  // namespace plackett
