#include "plackett/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

namespace plackett {
namespace {

constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::uint64_t>::max();

struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

template <typename Integer>
Result<void> read_integer(std::string_view text, const Bounds& bounds, Integer& value) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < bounds.least || number > bounds.most) {
    return Error{
        fmt::format("{}; expected an integer from {} to {}", text, bounds.least, bounds.most)};
  }
  value = static_cast<Integer>(number);
  return {};
}

// How a value of each type is written and read.
std::string write(std::uint32_t value) { return fmt::format("{}", value); }
std::string write(std::uint64_t value) { return fmt::format("{}", value); }
std::string write(double value) { return fmt::format("{}", value + 0.0); }  // never -0
std::string write(bool value) { return value ? "true" : "false"; }
std::string write(const std::vector<std::uint32_t>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}
template <typename Name>
auto write(const Name& value) -> decltype(std::string(name_of(value))) {
  return std::string(name_of(value));
}

Result<void> read(std::string_view text, const Bounds& bounds, std::uint32_t& value) {
  return read_integer(text, bounds, value);
}
Result<void> read(std::string_view text, const Bounds& bounds, std::uint64_t& value) {
  return read_integer(text, bounds, value);
}
Result<void> read(std::string_view text, const Bounds& /*bounds*/, double& value) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number) || number < 0) {
    return Error{fmt::format("{}; expected a finite number, at least 0", text)};
  }
  value = number;
  return {};
}
Result<void> read(std::string_view text, const Bounds& /*bounds*/, bool& value) {
  if (text != "true" && text != "false") {
    return Error{fmt::format("{}; expected true or false", text)};
  }
  value = text == "true";
  return {};
}
Result<void> read(std::string_view text, const Bounds& bounds, std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> all;
  for (bool more = !text.empty(); more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    std::string_view one = text.substr(0, comma);
    if (one.starts_with(' ')) one.remove_prefix(1);
    if (auto done = read_integer(one, bounds, all.emplace_back()); !done) return done;
    if (more) text.remove_prefix(comma + 1);
  }
  values = std::move(all);
  return {};
}
template <auto kParse, typename Name>
Result<void> read_name(std::string_view text, Name& value) {
  auto parsed = kParse(text);
  if (!parsed) return parsed.error();
  value = std::move(parsed).value();
  return {};
}
Result<void> read(std::string_view text, const Bounds& /*bounds*/, Protocol& value) {
  return read_name<parse_protocol>(text, value);
}
Result<void> read(std::string_view text, const Bounds& /*bounds*/, Activation& value) {
  return read_name<parse_activation>(text, value);
}
Result<void> read(std::string_view text, const Bounds& /*bounds*/, NoRelevant& value) {
  return read_name<parse_no_relevant>(text, value);
}
Result<void> read(std::string_view text, const Bounds& /*bounds*/, Scaling& value) {
  return read_name<parse_scaling>(text, value);
}

// An option whose value is the member that `Member` gives a reference to.
template <typename Target, typename Member>
Option<Target> option(std::string_view name, OptionKind kind, std::string help, Member /*member*/,
                      const Bounds& bounds = {}, bool changes_results = true) {
  const bool bounded = bounds.most > 0 && bounds.most < kMaxSeed;
  if (bounded) help += fmt::format(" ({} to {})", bounds.least, bounds.most);
  return {.name = name,
          .help = std::move(help),
          .kind = kind,
          .least = bounds.least,
          .most = bounds.most,
          .changes_results = changes_results,
          .text = [](const Target& target) { return write(Member{}(target)); },
          .parse =
              [](const Option<Target>& self, Target& target, std::string_view text) {
                return read(text, {self.least, self.most}, Member{}(target));
              }};
}

}  // namespace

std::span<const Option<SimulationSpec>> simulation_options() {
  using Kind = OptionKind;
  constexpr auto add = [](auto&&... arguments) { return option<SimulationSpec>(arguments...); };
  static const std::vector<Option<SimulationSpec>> options{
      add(
          "runs", Kind::kInteger, "number of runs, spread evenly over the folds",
          [](auto& spec) -> auto& { return spec.runs; }, Bounds{1, kMaxRuns}),
      add(
          "impressions", Kind::kInteger, "impressions per run",
          [](auto& spec) -> auto& { return spec.impressions; }, Bounds{1, kMaxImpressions}),
      add(
          "protocol", Kind::kName, protocol_help(),
          [](auto& spec) -> auto& { return spec.protocol; }),
      add(
          "seed", Kind::kInteger, "seed of all random numbers",
          [](auto& spec) -> auto& { return spec.seed; }, Bounds{0, kMaxSeed}),
      add(
          "shown", Kind::kInteger, "documents shown per impression",
          [](auto& spec) -> auto& { return spec.shown; }, Bounds{1, kMaxShown}),
      add(
          "hidden", Kind::kIntegers, "networks: units of each hidden layer",
          [](auto& spec) -> auto& { return spec.ranker.hidden; }, Bounds{1, kMaxUnits}),
      add(
          "activation", Kind::kName, "networks: sigmoid, relu or tanh",
          [](auto& spec) -> auto& { return spec.ranker.activation; }),
      add(
          "eta", Kind::kNumber, "position-based users: rank r is examined with probability 1/r^eta",
          [](auto& spec) -> auto& { return spec.eta; }),
      add(
          "no-relevant", Kind::kName,
          "value of queries without relevant documents: skip, zero or one",
          [](auto& spec) -> auto& { return spec.no_relevant; })};
  return options;
}

std::span<const Option<ComparedDataset>> dataset_options() {
  using Kind = OptionKind;
  constexpr auto add = [](auto&&... arguments) { return option<ComparedDataset>(arguments...); };
  static const std::vector<Option<ComparedDataset>> options{
      add(
          "scaling", Kind::kName, "of features: query-minmax (within each query) or none",
          [](auto& data) -> auto& { return data.scaling; }),
      add(
          "keep-constant-features", Kind::kFlag,
          "keep features that are constant over the training file (default: drop them)",
          [](auto& data) -> auto& { return data.keep_constant_features; }),
      add(
          "max-feature-id", Kind::kInteger, "larger feature ids are refused as mistakes",
          [](auto& data) -> auto& { return data.max_feature_id; }, Bounds{1, kLargestFeatureId},
          false)};
  return options;
}

}  // namespace plackett
