#include "experiment/identity.h"
#include "experiment/spec_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace plackett {
namespace {

using Field = std::pair<std::string, std::string>;

std::vector<Field> fields(const ComparisonSpec& spec) {
  const SimulationSpec& common = spec.common;
  std::vector<std::string> datasets;
  std::vector<std::string> methods;
  for (const ComparedDataset& dataset : spec.datasets) datasets.push_back(dataset.name);
  for (const ComparedMethod& method : spec.methods) {
    methods.push_back(to_text(canonical(method.entry)));
  }
  std::vector<Field> all{{"datasets", fmt::format("{}", fmt::join(datasets, ", "))},
                         {"methods", fmt::format("{}", fmt::join(methods, ", "))},
                         {"click-models", fmt::format("{}", fmt::join(spec.click_models, ", "))},
                         {"runs", fmt::format("{}", common.runs)},
                         {"impressions", fmt::format("{}", common.impressions)},
                         {"protocol", std::string(name_of(common.protocol))},
                         {"seed", fmt::format("{}", common.seed)},
                         {"shown", fmt::format("{}", common.shown)},
                         {"hidden", fmt::format("{}", fmt::join(common.ranker.hidden, ", "))},
                         {"activation", std::string(name_of(common.ranker.activation))},
                         {"eta", fmt::format("{}", common.eta)},
                         {"no-relevant", std::string(name_of(common.no_relevant))}};
  for (const ComparedDataset& dataset : spec.datasets) {
    all.emplace_back(fmt::format("scaling of {}", dataset.name),
                     std::string(name_of(dataset.scaling)));
    all.emplace_back(fmt::format("keep-constant-features of {}", dataset.name),
                     fmt::format("{}", dataset.keep_constant_features));
  }
  return all;
}

}  // namespace

std::uint64_t identity(const ComparisonSpec& spec) {
  std::string text;
  for (const auto& [key, value] : fields(spec)) text += fmt::format("{} = {}\n", key, value);
  return checksum(std::string_view(text));
}

std::vector<std::string> differences(const ComparisonSpec& there, const ComparisonSpec& asked) {
  std::vector<std::string> result;
  const std::vector<Field> others = fields(asked);
  for (const Field& field : fields(there)) {
    const auto other = std::find_if(others.begin(), others.end(), [&field](const Field& one) {
      return one.first == field.first;
    });
    // A dataset that only one of them has is named among the datasets.
    if (other == others.end() || other->second == field.second) continue;
    result.push_back(
        fmt::format("{}: {} there, {} asked for", field.first, field.second, other->second));
  }
  return result;
}

}  // namespace plackett
