#include "users/user_file.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/toml_reader.h"
#include "users/click_models.h"

namespace plackett {
namespace {

constexpr std::string_view kCascade = "cascade";
constexpr std::array kCascadeKeys =
    std::to_array<std::string_view>({"kind", "name", "click", "stop"});
constexpr std::array kPositionBasedKeys =
    std::to_array<std::string_view>({"kind", "name", "click", "eta"});

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

std::vector<double> probabilities(TomlReader& reader, std::string_view key, std::uint32_t grades) {
  const std::string rule = fmt::format("expected {} probabilities, one per grade", grades);
  const toml::node* node = reader.require(key, rule);
  if (node == nullptr) return {};
  std::vector<double> values;
  reader.each(key, [&](const toml::node& element) {
    const double value = element.value<double>().value_or(-1);
    if (!element.is_number()) {
      reader.fail(element, "{}: value {} is {}; expected a number", key, values.size() + 1,
                  kind_of(element));
    } else if (!(value >= 0 && value <= 1)) {
      reader.fail(element, "{}: value {} is {}; probabilities are from 0 to 1", key,
                  values.size() + 1, value);
    }
    values.push_back(value);
  });
  if (values.size() != grades) reader.fail(*node, "{}: {} values; {}", key, values.size(), rule);
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
  const std::string rule = fmt::format("expected \"{}\" or \"{}\"", kCascade, kPositionBased);
  const std::string kind = required_text(reader, "kind", rule);
  if (reader.error()) return *reader.error();
  const bool cascade = kind == kCascade;
  if (!cascade && kind != kPositionBased) {
    reader.fail(*reader.find("kind"), "kind \"{}\"; {}", kind, rule);
  }
  reader.only(cascade ? kCascadeKeys : kPositionBasedKeys, fmt::format("a {} user", kind));
  const std::vector<double> click = probabilities(reader, "click", options.grade_count);
  std::vector<double> stop;
  if (cascade) stop = probabilities(reader, "stop", options.grade_count);
  UserOptions with_eta = options;
  with_eta.eta = read_eta(reader, options.eta);
  if (reader.error()) return *reader.error();
  return make_user(std::move(name), {click, stop}, with_eta);
}

std::uint32_t user_file_grades(const std::filesystem::path& path) {
  const auto table = read_table(path);
  const toml::array* const click = table ? (*table)["click"].as_array() : nullptr;
  if (click == nullptr || click->empty() || click->size() > kMaxLabel + 1) return 1;
  return static_cast<std::uint32_t>(click->size());
}

}  // namespace plackett
