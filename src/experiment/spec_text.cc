#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "experiment/results_names.h"
#include "experiment/spec_file.h"
#include "experiment/spec_parts.h"

namespace plackett {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += character;
    }
  }
  return out + '"';
}

std::string method_text(const ComparedMethod& method) {
  std::string entry = in_quotes(to_text(canonical(method.entry)));
  if (method.label.empty() && !method.baseline) return entry;
  std::string out = fmt::format("{{method = {}", entry);
  if (!method.label.empty()) out += fmt::format(", label = {}", in_quotes(method.label));
  if (method.baseline) out += fmt::format(", baseline = {}", *method.baseline);
  return out + "}";
}

}  // namespace

std::string to_toml(const ComparisonSpec& spec) {
  const SimulationSpec& common = spec.common;
  std::string out(kSpecMark);
  const auto line = [&out](std::string_view key, const auto& value) {
    out += fmt::format("{} = {}\n", key, value);
  };
  if (!spec.title.empty()) line("title", in_quotes(spec.title));
  out += "methods = [\n";
  for (const ComparedMethod& method : spec.methods) {
    out += fmt::format("  {},\n", method_text(method));
  }
  out += "]\n";
  std::vector<std::string> click_models;
  for (const std::string& name : spec.click_models) click_models.push_back(in_quotes(name));
  line("click-models", fmt::format("[{}]", fmt::join(click_models, ", ")));
  line("runs", common.runs);
  line("impressions", common.impressions);
  line("protocol", in_quotes(name_of(common.protocol)));
  if (common.seed <= std::numeric_limits<std::int64_t>::max()) {
    line("seed", common.seed);
  } else {
    line("seed", in_quotes(fmt::format("{}", common.seed)));
  }
  line("shown", common.shown);
  line("hidden", fmt::format("[{}]", fmt::join(common.ranker.hidden, ", ")));
  line("activation", in_quotes(name_of(common.ranker.activation)));
  line("eta", common.eta + 0.0);  // never -0
  line("no-relevant", in_quotes(name_of(common.no_relevant)));
  for (const ComparedDataset& dataset : spec.datasets) {
    out += "\n[[datasets]]\n";
    line("name", in_quotes(dataset.name));
    line("path", in_quotes(dataset.path));
    line("scaling", in_quotes(name_of(dataset.scaling)));
    line("keep-constant-features", dataset.keep_constant_features);
    line("max-feature-id", dataset.max_feature_id);
  }
  return out;
}

}  // namespace plackett
