#include "users/user_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "users/position_based.h"

namespace plackett {
namespace {

constexpr std::string_view kCascade = "cascade";
constexpr std::string_view kPositionBased = "position-based";
constexpr std::array kCascadeKeys =
    std::to_array<std::string_view>({"kind", "name", "click", "stop"});
constexpr std::array kPositionBasedKeys =
    std::to_array<std::string_view>({"kind", "name", "click", "eta"});

// Reads keys of one file and keeps the file's name for messages.
class Reader {
 public:
  Reader(std::string path, const toml::table& table, std::uint32_t grade_count)
      : path_(std::move(path)), table_(table), grade_count_(grade_count) {}

  template <typename... Args>
  [[nodiscard]] Error at(const toml::node& node, fmt::format_string<Args...> format,
                         Args&&... args) const {
    return {fmt::format("{}:{}: {}", path_, node.source().begin.line,
                        fmt::format(format, std::forward<Args>(args)...))};
  }
  [[nodiscard]] Error missing(std::string_view key, std::string_view rule) const {
    return {fmt::format("{}: key \"{}\" is missing; {}", path_, key, rule)};
  }

  [[nodiscard]] Result<std::string> text(std::string_view key, std::string_view rule) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return missing(key, rule);
    const std::optional<std::string> value = node->value_exact<std::string>();
    if (!value || value->empty()) return at(*node, "\"{}\" is no text; {}", key, rule);
    return *value;
  }

  [[nodiscard]] Result<double> number(const toml::node& node, std::string_view what) const {
    if (!node.is_number()) return at(node, "{} is no number", what);
    return node.value<double>().value_or(std::nan(""));
  }

  [[nodiscard]] Result<std::vector<double>> probabilities(std::string_view key) const {
    const toml::node* node = table_.get(key);
    const std::string rule = fmt::format("it holds {} probabilities, one a grade", grade_count_);
    if (node == nullptr) return missing(key, rule);
    const toml::array* array = node->as_array();
    if (array == nullptr) return at(*node, "\"{}\" is no array; {}", key, rule);
    if (array->size() != grade_count_) {
      return at(*node, "\"{}\" has {} values; {}", key, array->size(), rule);
    }
    std::vector<double> values;
    for (const toml::node& element : *array) {
      const Result<double> value =
          number(element, fmt::format("value {} of \"{}\"", values.size() + 1, key));
      if (!value) return value.error();
      if (!(*value >= 0 && *value <= 1)) {
        return at(element, "value {} of \"{}\" is {}; probabilities lie in 0..1", values.size() + 1,
                  key, *value);
      }
      values.push_back(*value);
    }
    return values;
  }

  // Fails on the first key that isn't among `known`.
  [[nodiscard]] Result<void> only(std::span<const std::string_view> known,
                                  std::string_view kind) const {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        return at(node, "unknown key \"{}\"; a {} user has {}", key.str(), kind,
                  fmt::join(known, ", "));
      }
    }
    return {};
  }

  [[nodiscard]] const toml::table& table() const { return table_; }

 private:
  std::string path_;
  const toml::table& table_;
  std::uint32_t grade_count_;
};

Result<std::unique_ptr<User>> read_cascade(const Reader& reader, std::string name,
                                           const UserOptions& options) {
  if (Result<void> known = reader.only(kCascadeKeys, kCascade); !known) return known.error();
  const Result<std::vector<double>> click = reader.probabilities("click");
  if (!click) return click.error();
  const Result<std::vector<double>> stop = reader.probabilities("stop");
  if (!stop) return stop.error();
  return std::unique_ptr<User>(std::make_unique<CascadeUser>(CascadeUser::Spec{
      .name = std::move(name), .click = *click, .stop = *stop, .stop_rule = options.stop_rule}));
}

Result<std::unique_ptr<User>> read_position_based(const Reader& reader, std::string name,
                                                  const UserOptions& options) {
  if (Result<void> known = reader.only(kPositionBasedKeys, kPositionBased); !known)
    return known.error();
  const Result<std::vector<double>> click = reader.probabilities("click");
  if (!click) return click.error();
  double eta = options.eta;
  if (const toml::node* node = reader.table().get("eta"); node != nullptr) {
    const Result<double> value = reader.number(*node, "\"eta\"");
    if (!value) return value.error();
    eta = *value;
    if (!std::isfinite(eta) || eta < 0) {
      return reader.at(*node, "eta {}; it must be finite and not negative", eta);
    }
  }
  return std::unique_ptr<User>(std::make_unique<PositionBasedUser>(
      PositionBasedUser::Spec{.name = std::move(name), .click = *click, .eta = eta}));
}

}  // namespace

Result<std::unique_ptr<User>> read_user_file(const std::filesystem::path& path,
                                             const UserOptions& options) {
  if (options.grade_count == 0 || options.grade_count > kMaxLabel + 1) {
    return Error{fmt::format("{}: {} grades; a user knows 1 to {}", path.string(),
                             options.grade_count, kMaxLabel + 1)};
  }
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  toml::table table;
  try {
    table = toml::parse(*text, path.string());
  } catch (const toml::parse_error& error) {
    return Error{
        fmt::format("{}:{}: {}", path.string(), error.source().begin.line, error.description())};
  }
  const Reader reader(path.string(), table, options.grade_count);
  Result<std::string> name = reader.text("name", "it names the user in results");
  if (!name) return name.error();
  const std::string rule = fmt::format("it is \"{}\" or \"{}\"", kCascade, kPositionBased);
  const Result<std::string> kind = reader.text("kind", rule);
  if (!kind) return kind.error();
  if (*kind == kCascade) return read_cascade(reader, std::move(name).value(), options);
  if (*kind == kPositionBased) {
    return read_position_based(reader, std::move(name).value(), options);
  }
  return reader.at(*table.get("kind"), "kind \"{}\"; {}", *kind, rule);
}

std::uint32_t user_file_grades(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return 1;
  try {
    const toml::table table = toml::parse(*text, path.string());
    const toml::array* const click = table["click"].as_array();
    if (click == nullptr || click->empty() || click->size() > kMaxLabel + 1) return 1;
    return static_cast<std::uint32_t>(click->size());
  } catch (const toml::parse_error&) {
    return 1;
  }
}

}  // namespace plackett
