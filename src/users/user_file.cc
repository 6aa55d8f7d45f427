#include "users/user_file.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/toml_reader.h"
#include "users/click_models.h"

namespace plackett {
namespace {

struct Kind {
  std::string_view name;
  std::vector<std::string_view> keys;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"cascade", {"kind", "name", "click", "stop"}},
      {kPositionBased, {"kind", "name", "click", "eta"}},
      {kDependentClick, {"kind", "name", "click", "continue"}},
      {kUserBrowsing, {"kind", "name", "click", "examine"}},
      {kTrustBias, {"kind", "name", "click", "eta", "relevant", "irrelevant"}},
  };
  return all;
}

Result<toml::table> read_table(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_toml(*text, path.string());
}

std::string required_text(TomlReader& reader, std::string_view key, const std::string& rule) {
  std::string value;
  const toml::node* node = reader.require(key, rule);
  if (node == nullptr) return value;
  reader.read(key, value);
  if (value.empty()) reader.fail(*node, "{} is empty; {}", key, rule);
  return value;
}

// `key` comes first in errors.
void read_probability(TomlReader& reader, const std::string& key, const toml::node& element,
                      std::vector<double>& values) {
  const double value = element.value<double>().value_or(-1);
  const std::size_t at = values.size() + 1;
  if (!element.is_number()) {
    reader.fail(element, "{}: value {} is {}; expected a number", key, at, kind_of(element));
  } else if (!(value >= 0 && value <= 1)) {
    reader.fail(element, "{}: value {} is {}; probabilities are from 0 to 1", key, at, value);
  }
  values.push_back(value);
}

std::vector<double> probabilities(TomlReader& reader, std::string_view key, std::string_view rule) {
  std::vector<double> values;
  reader.require(key, rule);
  reader.each(key, [&](const toml::node& element) {
    read_probability(reader, std::string(key), element, values);
  });
  return values;
}

std::vector<double> by_grade(TomlReader& reader, std::string_view key, std::uint32_t grades) {
  const std::string rule = fmt::format("expected {} probabilities, one per grade", grades);
  std::vector<double> values = probabilities(reader, key, rule);
  if (values.size() != grades && reader.find(key) != nullptr) {
    reader.fail(*reader.find(key), "{}: {} values; {}", key, values.size(), rule);
  }
  return values;
}

std::vector<double> by_rank(TomlReader& reader, std::string_view key) {
  return probabilities(reader, key, "expected probabilities, one per rank");
}

// One row per rank: row r has r values.
std::vector<double> by_rank_and_distance(TomlReader& reader, std::string_view key) {
  std::vector<double> values;
  std::size_t rank = 0;
  reader.require(key, "expected an array for each rank");
  reader.each(key, [&](const toml::node& node) {
    const toml::array* const row = node.as_array();
    const std::string place = fmt::format("{}: rank {}", key, ++rank);
    if (row == nullptr) {
      return reader.fail(node, "{} is {}; expected an array", place, kind_of(node));
    }
    std::vector<double> of_row;
    for (const toml::node& element : *row) read_probability(reader, place, element, of_row);
    if (of_row.size() != rank) {
      reader.fail(node,
                  "{} has {} values; expected {}: by the distance of the last click, then "
                  "without one",
                  place, of_row.size(), rank);
    }
    values.insert(values.end(), of_row.begin(), of_row.end());
  });
  return values;
}

double read_eta(TomlReader& reader, double eta) {
  const toml::node* node = reader.find("eta");
  if (node == nullptr) return eta;
  eta = node->value<double>().value_or(std::nan(""));
  if (!node->is_number() || !std::isfinite(eta) || eta < 0) {
    reader.fail(*node, "eta is {}; expected a finite number, at least 0",
                node->is_number() ? fmt::format("{}", eta) : kind_of(*node));
  }
  return eta;
}

}  // namespace

Result<std::unique_ptr<User>> read_user_file(const std::filesystem::path& path,
                                             const UserOptions& options) {
  const std::string file = path.string();
  if (options.grade_count == 0 || options.grade_count > kMaxLabel + 1) {
    return Error{fmt::format("{}: {} grades; a user knows 1 to {}", file, options.grade_count,
                             kMaxLabel + 1)};
  }
  const auto table = read_table(path);
  if (!table) return table.error();
  TomlReader reader(file, *table);
  std::string name = required_text(reader, "name", "it names the user in results");
  std::vector<std::string_view> known;
  for (const Kind& kind : kinds()) known.push_back(kind.name);
  const std::string rule = fmt::format("expected one of {}", fmt::join(known, ", "));
  const std::string kind_name = required_text(reader, "kind", rule);
  if (reader.error()) return *reader.error();
  const auto kind = std::find_if(kinds().begin(), kinds().end(),
                                 [&](const Kind& one) { return one.name == kind_name; });
  if (kind == kinds().end()) {
    reader.fail(*reader.find("kind"), "kind \"{}\"; {}", kind_name, rule);
    return *reader.error();
  }
  reader.only(kind->keys, fmt::format("a {} user", kind->name));
  const auto has = [&](std::string_view key) {
    return std::find(kind->keys.begin(), kind->keys.end(), key) != kind->keys.end();
  };
  const std::uint32_t grades = options.grade_count;
  using Values = std::vector<double>;
  const Values click = by_grade(reader, "click", grades);
  const Values stop = has("stop") ? by_grade(reader, "stop", grades) : Values();
  const Values go_on = has("continue") ? by_rank(reader, "continue") : Values();
  const Values examine = has("examine") ? by_rank_and_distance(reader, "examine") : Values();
  const Values relevant = has("relevant") ? by_rank(reader, "relevant") : Values();
  const Values irrelevant = has("irrelevant") ? by_rank(reader, "irrelevant") : Values();
  UserOptions with_eta = options;
  with_eta.eta = read_eta(reader, options.eta);
  if (reader.error()) return *reader.error();
  return make_user(std::move(name), {click, stop, go_on, examine, relevant, irrelevant}, with_eta);
}

std::uint32_t user_file_grades(const std::filesystem::path& path) {
  const auto table = read_table(path);
  const toml::array* const click = table ? (*table)["click"].as_array() : nullptr;
  if (click == nullptr || click->empty() || click->size() > kMaxLabel + 1) return 1;
  return static_cast<std::uint32_t>(click->size());
}

}  // namespace plackett
