// A comparison as TOML, and as the identity that its results carry.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/toml_reader.h"
#include "experiment/spec_parts.h"
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

template <typename Target>
void read_option(TomlReader& reader, const Option<Target>& option, Target& target) {
  const toml::node* node = reader.find(option.name);
  if (node == nullptr) return;
  std::string text;
  if (option.kind == OptionKind::kFlag) {
    bool value = false;
    reader.read(option.name, value);
    text = value ? "true" : "false";
  } else {
    const auto add = [&](const toml::node& element) {
      std::string_view rule;
      if (!fits(element, option.kind, option.most, rule)) {
        reader.fail(element, "{} is {}; expected {}", option.name, kind_of(element), rule);
      }
      text += (text.empty() ? "" : ",") + text_of(element).value_or("");
    };
    if (option.kind == OptionKind::kIntegers) {
      reader.each(option.name, add);
    } else {
      add(*node);
    }
  }
  if (reader.error()) return;
  if (auto set = option.set(target, text); !set) {
    reader.fail(*node, "{}: {}", option.name, set.error().message);
  }
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

// Text as parse_method_entry reads it, or a table: method, ranker, label, baseline and settings.
void read_method(TomlReader& outer, const toml::node& node, ComparedMethod& method) {
  std::string entry = node.value_exact<std::string>().value_or("");
  if (const toml::table* table = node.as_table(); table != nullptr) {
    TomlReader reader(outer.name(), *table);
    reader.read("method", entry);
    if (entry.empty()) reader.fail(node, "a method without the key method");
    reader.read("label", method.label);
    if (reader.find("baseline") != nullptr) reader.read("baseline", method.baseline.emplace());
    for (const auto& [key, value] : *table) {
      const std::string_view name = key.str();
      if (name == "method" || name == "label" || name == "baseline") continue;
      const std::string text = text_of(value).value_or(":");
      if (text.find(':') != std::string::npos) {
        reader.fail(value, "{}; expected a number, or text without a colon", name);
      }
      entry += name == "ranker" ? ":" + text : fmt::format(":{}={}", name, text);
    }
    if (reader.error()) return outer.fail(*reader.error());
  } else if (!node.is_string()) {
    return outer.fail(node, "a method is {}; expected text like \"pdgd:neural\" or a table",
                      kind_of(node));
  }
  if (auto parsed = parse_method_entry(entry)) {
    method.entry = canonical(parsed.value());
  } else {
    outer.fail(node, "{}", parsed.error().message);
  }
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

std::string method_text(const ComparedMethod& method) {
  std::string entry = in_quotes(to_text(canonical(method.entry)));
  if (method.label.empty() && !method.baseline) return entry;
  std::string out = fmt::format("{{method = {}", entry);
  if (!method.label.empty()) out += fmt::format(", label = {}", in_quotes(method.label));
  if (method.baseline) out += fmt::format(", baseline = {}", *method.baseline);
  return out + "}";
}

template <typename Target>
std::string option_line(const Option<Target>& option, const Target& target) {
  std::string text = option.text(target);
  const bool beyond =
      option.kind == OptionKind::kInteger && text.size() >= 19 && std::stoull(text) > kMaxToml;
  if (option.kind == OptionKind::kName || beyond) text = in_quotes(text);
  if (option.kind == OptionKind::kIntegers) text = "[" + text + "]";
  return fmt::format("{} = {}\n", option.name, text);
}

// What decides which runs there are and what they give: key and value.
std::vector<std::pair<std::string, std::string>> fields(const ComparisonSpec& spec) {
  std::vector<std::string> datasets;
  std::vector<std::string> methods;
  for (const ComparedDataset& dataset : spec.datasets) datasets.push_back(dataset.name);
  for (const ComparedMethod& method : spec.methods) {
    methods.push_back(to_text(canonical(method.entry)));
  }
  std::vector<std::pair<std::string, std::string>> all{
      {"datasets", fmt::format("{}", fmt::join(datasets, ", "))},
      {"methods", fmt::format("{}", fmt::join(methods, ", "))},
      {"click-models", fmt::format("{}", fmt::join(spec.click_models, ", "))}};
  for (const auto& option : simulation_options()) {
    all.emplace_back(option.name, option.text(spec.common));
  }
  for (const ComparedDataset& dataset : spec.datasets) {
    for (const auto& option : dataset_options()) {
      if (!option.changes_results) continue;
      all.emplace_back(fmt::format("{} of {}", option.name, dataset.name), option.text(dataset));
    }
  }
  return all;
}

}  // namespace

Result<ComparisonSpec> parse_spec(std::string_view text, const std::string& name) {
  const auto table = parse_toml(text, name);
  if (!table) return table.error();
  ComparisonSpec spec = default_comparison();
  TomlReader reader(name, *table);
  std::vector<std::string_view> known =
      keys({"title", "datasets", "methods", "click-models", "baselines"}, simulation_options());
  for (const auto& option : report_options()) known.push_back(option.name);
  reader.only(known, "a comparison");
  reader.read("title", spec.title);
  const auto replace = [&reader](std::string_view key, auto& values, auto read) {
    if (reader.find(key) != nullptr) values.clear();
    reader.each(key, [&](const toml::node& node) { read(reader, node, values.emplace_back()); });
  };
  replace("datasets", spec.datasets, read_dataset);
  replace("methods", spec.methods, read_method);
  const auto name_of_a = [](std::string_view what) {
    return [what](TomlReader& outer, const toml::node& node, std::string& value) {
      value = node.value_exact<std::string>().value_or("");
      if (node.is_string()) return;
      outer.fail(node, "a {} is {}; expected a name in quotes", what, kind_of(node));
    };
  };
  replace("click-models", spec.click_models, name_of_a("click model"));
  replace("baselines", spec.baselines, name_of_a("baseline"));
  for (const auto& option : simulation_options()) read_option(reader, option, spec.common);
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
  for (const auto& option : simulation_options()) out += option_line(option, spec.common);
  for (const ComparedDataset& dataset : spec.datasets) {
    out += fmt::format("\n[[datasets]]\nname = {}\npath = {}\n", in_quotes(dataset.name),
                       in_quotes(dataset.path));
    for (const auto& option : dataset_options()) out += option_line(option, dataset);
  }
  return out;
}

std::uint64_t identity(const ComparisonSpec& spec) {
  std::string text;
  for (const auto& [key, value] : fields(spec)) text += fmt::format("{} = {}\n", key, value);
  return checksum(std::string_view(text));
}

std::vector<std::string> differences(const ComparisonSpec& there, const ComparisonSpec& asked) {
  std::vector<std::string> result;
  for (const auto& [key, value] : fields(there)) {
    for (const auto& [other_key, other] : fields(asked)) {
      if (other_key != key || other == value) continue;
      result.push_back(fmt::format("{}: {} there, {} asked for", key, value, other));
    }
  }
  return result;
}

}  // namespace plackett
