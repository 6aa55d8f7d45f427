// A comparison as TOML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <vector>

#include "base/file.h"
#include "base/toml_reader.h"
#include "experiment/spec_parts.h"
#include "plackett/method.h"
#include "plackett/options.h"

namespace plackett {
namespace {

// TOML has signed integers; larger ones are written as text.
constexpr std::uint64_t kMaxToml = std::numeric_limits<std::int64_t>::max();

// A value as the text that options and settings read; nothing if it is of another kind.
std::optional<std::string> text_of(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return text;
  if (const auto integer = node.value_exact<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  return std::nullopt;
}

// Whether a value is of the right TOML type for an option; `rule` becomes what is expected.
bool fits(const toml::node& node, OptionKind kind, std::uint64_t most, std::string_view& rule) {
  switch (kind) {
    case OptionKind::kInteger:
    case OptionKind::kIntegers:
      rule = "an integer";
      return node.is_integer() || (node.is_string() && most > kMaxToml);
    case OptionKind::kNumber:
      rule = "a number";
      return node.is_number();
    default:
      rule = "text in quotes";
      return node.is_string();
  }
}

// The text of one value of an option, of the right TOML type.
template <typename Target>
std::string read_value(TomlReader& reader, const Option<Target>& option, const toml::node& node) {
  if (option.kind == OptionKind::kFlag) {
    if (!node.is_boolean()) {
      reader.fail(node, "{} is {}; expected true or false", option.name, kind_of(node));
    }
    return node.value_or(false) ? "true" : "false";
  }
  std::string text;
  const auto add = [&](const toml::node& element) {
    std::string_view rule;
    if (!fits(element, option.kind, option.most, rule)) {
      reader.fail(element, "{} is {}; expected {}", option.name, kind_of(element), rule);
    }
    text += (text.empty() ? "" : ",") + text_of(element).value_or("");
  };
  const bool is_list = option.kind == OptionKind::kIntegers || option.repeats;
  if (const toml::array* elements = node.as_array()) {
    for (const toml::node& element : *elements) add(element);
  } else if (is_list) {
    reader.fail(node, "{} is {}; expected an array of at least 1", option.name, kind_of(node));
  } else {
    add(node);
  }
  return text;
}

// The values of a list of them; nothing if the node is one value. A list of integers is one value
// of an option that holds several.
template <typename Target>
std::optional<std::vector<std::string>> read_values(TomlReader& reader,
                                                    const Option<Target>& option,
                                                    const toml::node& node) {
  const toml::array* elements = node.as_array();
  if (elements == nullptr) return std::nullopt;
  const bool holds_lists = !elements->empty() && elements->front().is_array();
  const bool is_list = option.kind == OptionKind::kIntegers || option.repeats;
  if (is_list && !holds_lists) return std::nullopt;
  std::vector<std::string> values;
  for (const toml::node& element : *elements) {
    if (element.is_array() && !is_list) {
      reader.fail(element, "{} is an array; expected one value", option.name);
    }
    values.push_back(read_value(reader, option, element));
    Target scratch{};
    if (reader.error()) return values;
    if (auto set = option.set(scratch, values.back()); !set) {
      reader.fail(element, "{}: {}", option.name, set.error().message);
    }
  }
  return values;
}

// `sweeps`, if given, takes lists of values.
template <typename Target>
void read_option(TomlReader& reader, const Option<Target>& option, Target& target,
                 std::vector<Sweep>* sweeps = nullptr) {
  const toml::node* node = reader.find(option.name);
  if (node == nullptr) return;
  if (sweeps != nullptr) {
    if (auto values = read_values(reader, option, *node)) {
      sweeps->push_back({std::string(option.name), std::move(*values)});
      return;
    }
  } else if (node->is_array() && option.kind != OptionKind::kIntegers) {
    return reader.fail(*node, "{} is an array; expected one value", option.name);
  }
  const std::string text = read_value(reader, option, *node);
  if (reader.error()) return;
  if (auto set = option.set(target, text); !set) {
    reader.fail(*node, "{}: {}", option.name, set.error().message);
  }
}

// One value of a method's setting, or of "ranker", or a list of them.
std::vector<std::string> read_setting(TomlReader& reader, std::string_view name,
                                      const toml::node& node) {
  std::vector<std::string> values;
  const auto add = [&](const toml::node& element) {
    values.push_back(text_of(element).value_or(":"));
    if (values.back().find(':') != std::string::npos) {
      reader.fail(element, "{}; expected a number, text without a colon, or a list of them", name);
    }
  };
  if (const toml::array* elements = node.as_array()) {
    for (const toml::node& element : *elements) add(element);
    if (elements->empty()) reader.fail(node, "{}: no values", name);
  } else {
    add(node);
  }
  return values;
}

template <typename Target>
std::vector<std::string_view> keys(std::initializer_list<std::string_view> others,
                                   std::span<const Option<Target>> options) {
  std::vector<std::string_view> all(others);
  for (const auto& option : options) all.push_back(option.name);
  return all;
}

void read_dataset(TomlReader& outer, const toml::node& node, ComparedDataset& dataset) {
  if (const auto text = node.value_exact<std::string>()) {
    dataset = dataset_at(*text);
    return;
  }
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    return outer.fail(node, "a dataset is {}; expected a path in quotes or a table with path",
                      kind_of(node));
  }
  TomlReader reader(outer.name(), *table);
  reader.only(keys({"name", "path"}, dataset_options()), "a dataset");
  std::string path;
  reader.read("path", path);
  if (path.empty()) reader.fail(node, "a dataset without a path");
  dataset = dataset_at(path);
  reader.read("name", dataset.name);
  for (const auto& option : dataset_options()) read_option(reader, option, dataset);
  if (reader.error()) outer.fail(*reader.error());
}

// Text as parse_methods reads it, or a table: method, ranker, label, baseline and settings.
void read_methods(TomlReader& outer, const toml::node& node, std::vector<ComparedMethod>& methods) {
  if (const auto text = node.value_exact<std::string>()) {
    auto entries = parse_methods(*text);
    if (!entries) return outer.fail(node, "{}", entries.error().message);
    for (MethodEntry& entry : *entries) methods.push_back({.entry = std::move(entry)});
    return;
  }
  ComparedMethod& method = methods.emplace_back();
  std::string entry;
  if (const toml::table* table = node.as_table(); table != nullptr) {
    TomlReader reader(outer.name(), *table);
    reader.read("method", entry);
    if (entry.empty()) reader.fail(node, "a method without the key method");
    reader.read("label", method.label);
    if (reader.find("baseline") != nullptr) reader.read("baseline", method.baseline.emplace());
    for (const auto& [key, value] : *table) {
      const std::string_view name = key.str();
      if (name == "method" || name == "label" || name == "baseline") continue;
      std::vector<std::string> values = read_setting(reader, name, value);
      if (values.size() != 1) {
        method.sweeps.push_back({std::string(name), std::move(values)});
      } else {
        entry += name == "ranker" ? ":" + values[0] : fmt::format(":{}={}", name, values[0]);
      }
    }
    if (reader.error()) return outer.fail(*reader.error());
  } else {
    return outer.fail(node, "a method is {}; expected text like \"pdgd:neural\" or a table",
                      kind_of(node));
  }
  if (auto parsed = parse_method_entry(entry)) {
    method.entry = canonical(parsed.value());
  } else {
    outer.fail(node, "{}", parsed.error().message);
  }
}

void read_count(TomlReader& reader, std::string_view key, std::uint64_t& value) {
  const toml::node* node = reader.find(key);
  if (node == nullptr) return;
  const auto found = node->value_exact<std::int64_t>();
  if (!found || *found < 1) {
    const std::string text = found ? fmt::format("{}", *found) : std::string(kind_of(*node));
    return reader.fail(*node, "{} is {}; expected an integer of at least 1", key, text);
  }
  value = static_cast<std::uint64_t>(*found);
}

template <typename Value, typename Parse>
void read_name(TomlReader& reader, std::string_view key, Value& value, Parse parse) {
  std::string name;
  reader.read(key, name);
  const toml::node* node = reader.find(key);
  if (node == nullptr || reader.error()) return;
  if (auto parsed = parse(name)) {
    value = *parsed;
  } else {
    reader.fail(*node, "{}", parsed.error().message);
  }
}

// A share, as a fraction, above 0 and below 1.
void read_share(TomlReader& reader, std::string_view key, const toml::node& node, double& share) {
  share = node.value_exact<double>().value_or(0);
  if (share > 0 && share < 1) return;
  reader.fail(node, "{}; expected a share above 0 and below 1{}", key,
              key == "share" ? "" : ", or an array of feature ids");
}

// An array of ids, or a share.
void read_features(TomlReader& reader, std::string_view key, DriftedFeatures& features) {
  const toml::node* node = reader.find(key);
  if (node == nullptr) return;
  if (!node->is_array()) return read_share(reader, key, *node, features.share);
  reader.each(key, [&](const toml::node& element) {
    const std::int64_t id = element.value_exact<std::int64_t>().value_or(0);
    if (id < 1 || id > kLargestFeatureId) {
      return reader.fail(element, "{}; expected feature ids, integers from 1", key);
    }
    features.ids.push_back(static_cast<std::uint32_t>(id));
  });
}

void read_drift(TomlReader& outer, const toml::node& node, Drift& drift) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    return outer.fail(node, "a drift is {}; expected a table, [[drift]]", kind_of(node));
  }
  TomlReader reader(outer.name(), *table);
  static constexpr std::array kKeys = std::to_array<std::string_view>(
      {"of", "at", "pace", "over", "period", "change", "click-model", "dies", "appears", "share"});
  reader.only(kKeys, "a drift");
  for (const std::string_view key : {"of", "at"}) {
    if (reader.find(key) == nullptr) reader.fail(node, "a drift without the key {}", key);
  }
  read_name(reader, "of", drift.of, parse_drift_of);
  read_count(reader, "at", drift.at);
  read_name(reader, "pace", drift.pace, parse_drift_pace);
  read_count(reader, "over", drift.over);
  read_count(reader, "period", drift.period);
  read_name(reader, "change", drift.change, parse_label_change);
  if (const toml::node* change = reader.find("change"); change && drift.of != DriftOf::kLabels) {
    reader.fail(*change, "change; only labels have one");
  }
  reader.read("click-model", drift.click_model);
  read_features(reader, "dies", drift.dies);
  read_features(reader, "appears", drift.appears);
  if (const toml::node* share = reader.find("share")) {
    if (drift.of != DriftOf::kQueries) reader.fail(*share, "share; only queries have one");
    read_share(reader, "share", *share, drift.share);
  }
  if (reader.error()) outer.fail(*reader.error());
}

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

std::string values_text(const Sweep& sweep) {
  std::vector<std::string> values;
  for (const std::string& value : sweep.values) values.push_back(in_quotes(value));
  return fmt::format("{} = [{}]", sweep.name, fmt::join(values, ", "));
}

std::string method_text(const ComparedMethod& method) {
  std::string entry = in_quotes(to_text(canonical(method.entry)));
  if (method.label.empty() && !method.baseline && method.sweeps.empty()) return entry;
  std::string out = fmt::format("{{method = {}", entry);
  if (!method.label.empty()) out += fmt::format(", label = {}", in_quotes(method.label));
  if (method.baseline) out += fmt::format(", baseline = {}", *method.baseline);
  for (const Sweep& sweep : method.sweeps) out += ", " + values_text(sweep);
  return out + "}";
}

template <typename Target>
std::string value_text(const Option<Target>& option, const Target& target) {
  std::string text = option.text(target);
  const bool beyond =
      option.kind == OptionKind::kInteger && text.size() >= 19 && std::stoull(text) > kMaxToml;
  if (option.repeats) {
    std::vector<std::string> names;
    for (const auto name : text | std::views::split(std::string_view(", "))) {
      names.push_back(in_quotes({name.begin(), name.end()}));
    }
    return fmt::format("[{}]", fmt::join(names, ", "));
  }
  if (option.kind == OptionKind::kName || beyond) text = in_quotes(text);
  if (option.kind == OptionKind::kIntegers) text = "[" + text + "]";
  return text;
}

template <typename Target>
std::string option_line(const Option<Target>& option, const Target& target) {
  return fmt::format("{} = {}\n", option.name, value_text(option, target));
}

// The values of an option as TOML has them: "[1000, 10000]".
std::string sweep_line(const Option<SimulationSpec>& option, const Sweep& sweep) {
  std::vector<std::string> values;
  for (const std::string& value : sweep.values) {
    SimulationSpec one;
    if (!option.set(one, value)) return values_text(sweep) + "\n";  // check() says what is wrong
    values.push_back(value_text(option, one));
  }
  return fmt::format("{} = [{}]\n", option.name, fmt::join(values, ", "));
}

std::string features_line(std::string_view key, const DriftedFeatures& features) {
  if (features.empty()) return "";
  return features.ids.empty() ? fmt::format("{} = {}\n", key, features.share)
                              : fmt::format("{} = [{}]\n", key, fmt::join(features.ids, ", "));
}

std::string drift_table(const Drift& drift) {
  std::string out =
      fmt::format("\n[[drift]]\nof = {}\nat = {}\npace = {}\n", in_quotes(name_of(drift.of)),
                  drift.at, in_quotes(name_of(drift.pace)));
  if (drift.over > 0) out += fmt::format("over = {}\n", drift.over);
  if (drift.period > 0) out += fmt::format("period = {}\n", drift.period);
  if (drift.of == DriftOf::kLabels) {
    out += fmt::format("change = {}\n", in_quotes(name_of(drift.change)));
  }
  if (!drift.click_model.empty()) {
    out += fmt::format("click-model = {}\n", in_quotes(drift.click_model));
  }
  out += features_line("dies", drift.dies) + features_line("appears", drift.appears);
  if (drift.of == DriftOf::kQueries) out += fmt::format("share = {}\n", drift.share);
  return out;
}

// "ranker" and the settings of all methods.
std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> names{"ranker"};
  for (const Method* method : methods()) {
    for (const Setting& setting : method->settings) {
      if (std::find(names.begin(), names.end(), setting.name) == names.end()) {
        names.push_back(setting.name);
      }
    }
  }
  return names;
}

const Sweep* find_sweep(const ComparisonSpec& spec, std::string_view name) {
  for (const Sweep& sweep : spec.sweeps) {
    if (sweep.name == name) return &sweep;
  }
  return nullptr;
}

}  // namespace

Result<ComparisonSpec> parse_spec(std::string_view text, const std::string& name) {
  const auto table = parse_toml(text, name);
  if (!table) return table.error();
  ComparisonSpec spec = default_comparison();
  TomlReader reader(name, *table);
  std::vector<std::string_view> known =
      keys({"title", "datasets", "methods", "click-models", "select", "baselines", "drift"},
           simulation_options());
  const std::vector<std::string_view> settings = setting_names();
  known.insert(known.end(), settings.begin(), settings.end());
  for (const auto& option : report_options()) known.push_back(option.name);
  reader.only(known, "a comparison");
  reader.read("title", spec.title);
  const auto replace = [&reader](std::string_view key, auto& values, auto read) {
    if (reader.find(key) != nullptr) values.clear();
    reader.each(key, [&](const toml::node& node) { read(reader, node, values.emplace_back()); });
  };
  replace("datasets", spec.datasets, read_dataset);
  if (reader.find("methods") != nullptr) spec.methods.clear();
  reader.each("methods", [&](const toml::node& node) { read_methods(reader, node, spec.methods); });
  const auto name_of_a = [](std::string_view what) {
    return [what](TomlReader& outer, const toml::node& node, std::string& value) {
      value = node.value_exact<std::string>().value_or("");
      if (node.is_string()) return;
      outer.fail(node, "a {} is {}; expected a name in quotes", what, kind_of(node));
    };
  };
  replace("click-models", spec.click_models, name_of_a("click model"));
  replace("baselines", spec.baselines, name_of_a("baseline"));
  replace("drift", spec.common.drift, read_drift);
  if (const toml::node* select = reader.find("select")) {
    spec.select = select->value_exact<std::string>() == name_of(MeasuredSplit::kValidation);
    if (!spec.select) reader.fail(*select, "select; expected \"validation\"");
  }
  for (const auto& option : simulation_options()) {
    read_option(reader, option, spec.common, &spec.sweeps);
  }
  for (const std::string_view setting : settings) {
    const toml::node* node = reader.find(setting);
    if (node == nullptr) continue;
    spec.sweeps.push_back({std::string(setting), read_setting(reader, setting, *node)});
  }
  for (const auto& option : report_options()) read_option(reader, option, spec);
  if (reader.error()) return *reader.error();
  return spec;
}

Result<ComparisonSpec> read_spec(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_spec(*text, path.string());
}

std::string to_toml(const ComparisonSpec& spec) {
  std::string out;
  if (!spec.title.empty()) out += fmt::format("title = {}\n", in_quotes(spec.title));
  out += "methods = [\n";
  for (const ComparedMethod& method : spec.methods) {
    out += fmt::format("  {},\n", method_text(method));
  }
  const auto list = [&out](std::string_view key, const std::vector<std::string>& names) {
    std::vector<std::string> quoted;
    for (const std::string& name : names) quoted.push_back(in_quotes(name));
    out += fmt::format("{} = [{}]\n", key, fmt::join(quoted, ", "));
  };
  out += "]\n";
  list("click-models", spec.click_models);
  if (!spec.baselines.empty()) list("baselines", spec.baselines);
  for (const auto& option : report_options()) out += option_line(option, spec);
  if (spec.select) {
    out += fmt::format("select = {}\n", in_quotes(name_of(MeasuredSplit::kValidation)));
  }
  for (const auto& option : simulation_options()) {
    const Sweep* sweep = find_sweep(spec, option.name);
    out += sweep == nullptr ? option_line(option, spec.common) : sweep_line(option, *sweep);
  }
  for (const std::string_view setting : setting_names()) {
    if (const Sweep* sweep = find_sweep(spec, setting)) out += values_text(*sweep) + "\n";
  }
  for (const ComparedDataset& dataset : spec.datasets) {
    out += fmt::format("\n[[datasets]]\nname = {}\npath = {}\n", in_quotes(dataset.name),
                       in_quotes(dataset.path));
    for (const auto& option : dataset_options()) out += option_line(option, dataset);
  }
  for (const Drift& drift : spec.common.drift) out += drift_table(drift);
  return out;
}

}  // namespace plackett
