#include "experiment/spec_file.h"

#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "base/file.h"
#include "experiment/spec_parts.h"
#include "experiment/toml_reader.h"
#include "plackett/method.h"

namespace plackett {
namespace {

constexpr std::array kKeys = std::to_array<std::string_view>(
    {"title", "datasets", "methods", "click-models", "runs", "impressions", "protocol", "seed",
     "shown", "hidden", "activation", "eta", "no-relevant"});
constexpr std::array kDatasetKeys = std::to_array<std::string_view>(
    {"name", "path", "scaling", "keep-constant-features", "max-feature-id"});
// Beside the settings of the method.
constexpr std::array kMethodKeys =
    std::to_array<std::string_view>({"method", "ranker", "label", "baseline"});

void read_dataset(TomlReader& outer, const toml::node& node, ComparedDataset& dataset) {
  if (const auto text = node.value_exact<std::string>()) {
    dataset.path = *text;
    dataset.name = dataset_name(*text);
    return;
  }
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    outer.fail(node, "a dataset is {}; it must be a path in quotes or a table with name and path",
               TomlReader::kind(node));
    return;
  }
  TomlReader reader(outer.path(), *table);
  reader.only(kDatasetKeys, "a dataset");
  reader.text("path", dataset.path);
  if (dataset.path.empty()) reader.fail(node, "a dataset without a path; it must say where it is");
  dataset.name = dataset_name(dataset.path);
  reader.text("name", dataset.name);
  reader.parsed("scaling", parse_scaling, dataset.scaling);
  reader.truth("keep-constant-features", dataset.keep_constant_features);
  reader.whole("max-feature-id", 1, kLargestFeatureId, dataset.max_feature_id);
  if (reader.error()) outer.fail(*reader.error());
}

// A setting's value as parse_method_entry would see it.
std::string setting_text(TomlReader& reader, const toml::node& node, std::string_view key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  reader.fail(node, "{} is {}; a setting is a number or text in quotes", key,
              TomlReader::kind(node));
  return "";
}

void read_method(TomlReader& outer, const toml::node& node, ComparedMethod& method) {
  const auto parse = [&outer](const toml::node& at, const std::string& text, MethodEntry& entry) {
    if (auto read = parse_method_entry(text)) {
      entry = canonical(read.value());
    } else {
      outer.fail(at, "{}", read.error().message);
    }
  };
  if (const auto text = node.value_exact<std::string>()) return parse(node, *text, method.entry);
  const toml::table* table = node.as_table();
  if (table == nullptr || table->get("method") == nullptr) {
    outer.fail(
        node, "a method is {}; it must be text like \"pdgd:neural\" or a table with the key method",
        table == nullptr ? TomlReader::kind(node) : "a table without it");
    return;
  }
  TomlReader reader(outer.path(), *table);
  std::string text;
  reader.text("method", text);
  if (!reader.error()) parse(*table->get("method"), text, method.entry);
  std::string ranker;
  reader.text("ranker", ranker);
  if (const toml::node* node_of_ranker = table->get("ranker"); node_of_ranker != nullptr) {
    if (auto kind = parse_ranker_kind(ranker); !kind && !reader.error()) {
      reader.fail(*node_of_ranker, "{}", kind.error().message);
    }
    text += ":" + ranker;
  }
  reader.text("label", method.label);
  if (bool baseline = false; table->get("baseline") != nullptr) {
    reader.truth("baseline", baseline);
    method.baseline = baseline;
  }
  std::vector<std::string_view> known(kMethodKeys.begin(), kMethodKeys.end());
  if (const auto found = find_method(method.entry.method)) {
    for (const Setting& setting : found.value()->settings) known.push_back(setting.name);
    reader.only(known, "this method");
  }
  for (const auto& [key, value] : *table) {
    const std::string_view name = key.str();
    if (std::find(kMethodKeys.begin(), kMethodKeys.end(), name) != kMethodKeys.end()) continue;
    const std::string given = setting_text(reader, value, name);
    if (given.find(':') != std::string::npos) {
      reader.fail(value, "{} is \"{}\"; a setting holds no colon", name, given);
    }
    text += fmt::format(":{}={}", name, given);
  }
  if (reader.error()) return outer.fail(*reader.error());
  if (!outer.error()) parse(node, text, method.entry);
}

// The elements of an array, each read by `read` into a new one of `values`.
template <typename Value, typename Read>
void read_array(TomlReader& reader, std::string_view key, std::vector<Value>& values, Read read) {
  const toml::node* node = reader.table().get(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty()) {
    reader.fail(*node, "{} is {}; it must be an array of at least 1", key,
                array == nullptr ? TomlReader::kind(*node) : "empty");
    return;
  }
  values.clear();
  for (const toml::node& element : *array) read(element, values.emplace_back());
}

// Seeds have 64 bits, TOML's whole numbers 63: the others stand in quotes.
void read_seed(TomlReader& reader, std::uint64_t& seed) {
  const toml::node* node = reader.table().get("seed");
  if (node == nullptr) return;
  const auto text = node->value_exact<std::string>();
  if (!text) {
    reader.whole("seed", 0, std::numeric_limits<std::int64_t>::max(), seed);
    return;
  }
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, seed);
  if (error != std::errc() || stop != end) {
    reader.fail(*node, "seed is \"{}\"; it must be a whole number from 0 to 2^64 - 1", *text);
  }
}

}  // namespace

Result<ComparisonSpec> parse_spec(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("{}:{}: {}", name, error.source().begin.line, error.description())};
  }
  ComparisonSpec spec = default_comparison();
  SimulationSpec& common = spec.common;
  TomlReader reader(name, table);
  reader.only(kKeys, "a comparison");
  reader.text("title", spec.title);
  read_array(reader, "datasets", spec.datasets,
             [&](const toml::node& node, ComparedDataset& dataset) {
               read_dataset(reader, node, dataset);
             });
  read_array(reader, "methods", spec.methods, [&](const toml::node& node, ComparedMethod& method) {
    read_method(reader, node, method);
  });
  read_array(reader, "click-models", spec.click_models,
             [&](const toml::node& node, std::string& click_model) {
               click_model = node.value_exact<std::string>().value_or("");
               if (!node.is_string()) {
                 reader.fail(node, "a click model is {}; it must be a name in quotes",
                             TomlReader::kind(node));
               }
             });
  reader.whole("runs", 1, kMaxRuns, common.runs);
  reader.whole("impressions", 1, kMaxImpressions, common.impressions);
  reader.parsed("protocol", parse_protocol, common.protocol);
  read_seed(reader, common.seed);
  reader.whole("shown", 1, kMaxShown, common.shown);
  read_array(reader, "hidden", common.ranker.hidden,
             [&](const toml::node& node, std::uint32_t& units) {
               reader.whole(node, "hidden", 1, kMaxUnits, units);
             });
  reader.parsed("activation", parse_activation, common.ranker.activation);
  reader.number("eta", common.eta);
  reader.parsed("no-relevant", parse_no_relevant, common.no_relevant);
  if (reader.error()) return *reader.error();
  return spec;
}

Result<ComparisonSpec> read_spec(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_spec(*text, path.string());
}

}  // namespace plackett
