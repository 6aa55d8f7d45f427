#include "plackett/ranker_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "ranker/linear.h"
#include "ranker/linear_plus_neural.h"
#include "ranker/neural.h"

namespace plackett {
namespace {

constexpr std::array kKinds{
    std::pair{RankerKind::kLinear, std::string_view("linear")},
    std::pair{RankerKind::kNeural, std::string_view("neural")},
    std::pair{RankerKind::kLinearPlusNeural, std::string_view("linear+neural")}};
constexpr std::array kActivations{std::pair{Activation::kSigmoid, std::string_view("sigmoid")},
                                  std::pair{Activation::kRelu, std::string_view("relu")},
                                  std::pair{Activation::kTanh, std::string_view("tanh")}};

template <typename Table>
auto parse(const Table& table, std::string_view what, std::string_view name)
    -> Result<typename Table::value_type::first_type> {
  std::vector<std::string_view> known;
  for (const auto& [value, known_name] : table) {
    if (known_name == name) return value;
    known.push_back(known_name);
  }
  return Error{fmt::format("unknown {} \"{}\"; known: {}", what, name, fmt::join(known, ", "))};
}

template <typename Network>
std::unique_ptr<Ranker> make_network(const RankerSpec& spec, Initialisation initialisation,
                                     Rng& rng) {
  auto ranker = std::make_unique<Network>(spec.feature_count, spec.hidden, spec.activation);
  ranker->initialise(initialisation, rng);
  return ranker;
}

template <typename Table, typename Value>
std::string_view find_name(const Table& table, Value value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return "?";
}

}  // namespace

Result<RankerKind> parse_ranker_kind(std::string_view name) {
  return parse(kKinds, "ranker", name);
}
Result<Activation> parse_activation(std::string_view name) {
  return parse(kActivations, "activation", name);
}
std::string_view name_of(RankerKind kind) { return find_name(kKinds, kind); }
std::string ranker_names() {
  std::vector<std::string_view> names;
  names.reserve(kKinds.size());
  for (const auto& [kind, name] : kKinds) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}
std::string_view name_of(Activation activation) { return find_name(kActivations, activation); }

Result<std::unique_ptr<Ranker>> make_ranker(const RankerSpec& spec, Rng& rng) {
  if (spec.feature_count == 0) return Error{"a ranker needs at least 1 feature; got 0"};
  if (spec.feature_count > kMaxParameters) {
    return Error{
        fmt::format("{} features; there can be 1 to {}", spec.feature_count, kMaxParameters)};
  }
  if (spec.kind == RankerKind::kLinear) {
    return std::unique_ptr<Ranker>(std::make_unique<LinearRanker>(spec.feature_count));
  }
  if (spec.hidden.empty()) {
    return Error{
        fmt::format("a {} ranker needs at least 1 hidden layer; got none", name_of(spec.kind))};
  }
  for (const std::uint32_t units : spec.hidden) {
    if (units == 0 || units > kMaxUnits) {
      return Error{fmt::format("hidden layer of {} units; a layer has 1 to {}", units, kMaxUnits)};
    }
  }
  std::uint64_t parameters = 0;
  std::uint64_t inputs = spec.feature_count;
  for (const std::uint32_t units : spec.hidden) {
    parameters += (inputs + 1) * units;
    inputs = units;
  }
  if (parameters > kMaxParameters) {
    return Error{fmt::format("a network of {} parameters ({:.1f} GiB); at most {} are allowed",
                             parameters, static_cast<double>(parameters) / 0x1p28, kMaxParameters)};
  }
  if (spec.kind == RankerKind::kLinearPlusNeural) {
    return make_network<LinearPlusNeuralRanker>(spec, Initialisation::kSilent, rng);
  }
  return make_network<NeuralRanker>(spec, spec.initialisation, rng);
}

}  // namespace plackett
