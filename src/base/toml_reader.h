// Reads the keys of a TOML table into plain data; errors give file, line, value and rule.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "plackett/result.h"

namespace plackett {

// The table in a text; `name` comes first in errors.
inline Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("{}:{}: {}", name, error.source().begin.line, error.description())};
  }
}

// What stands in place of what should: "text", "an integer", ...
inline std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

// A missing key leaves the value alone. Keeps the first error, after which calls do nothing: ask
// for it at the end.
class TomlReader {
 public:
  // `name` and `table` must outlive the reader.
  TomlReader(const std::string& name, const toml::table& table) : name_(name), table_(table) {}

  template <typename... Args>
  void fail(const toml::node& node, fmt::format_string<Args...> format, Args&&... args) {
    fail(Error{fmt::format("{}:{}: {}", name_, node.source().begin.line,
                           fmt::format(format, std::forward<Args>(args)...))});
  }
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const toml::table& table() const { return table_; }
  [[nodiscard]] const toml::node* find(std::string_view key) const { return table_.get(key); }

  // Fails if there is no such key, and returns null.
  const toml::node* require(std::string_view key, std::string_view rule) {
    const toml::node* node = find(key);
    if (node == nullptr) {
      fail(Error{fmt::format("{}: key \"{}\" is missing; {}", name_, key, rule)});
    }
    return node;
  }

  // Fails on a key that is not among `known`.
  void only(std::span<const std::string_view> known, std::string_view what) {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        fail(node, "unknown key \"{}\"; {} has {}", key.str(), what, fmt::join(known, ", "));
      }
    }
  }

  // Text, true or false: what `value` is.
  template <typename Value>
  void read(std::string_view key, Value& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (auto found = node->value_exact<Value>()) {
      value = *std::move(found);
    } else {
      fail(*node, "{} is {}; expected {}", key, kind_of(*node),
           std::is_same_v<Value, bool> ? "true or false" : "text in quotes");
    }
  }

  // Calls read(element) for each element of an array, which must not be empty.
  template <typename Read>
  void each(std::string_view key, Read read) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty()) {
      return fail(*node, "{} is {}; expected an array of at least 1", key,
                  array == nullptr ? kind_of(*node) : "empty");
    }
    for (const toml::node& element : *array) read(element);
  }

 private:
  const std::string& name_;
  const toml::table& table_;
  std::optional<Error> error_;
};

}  // namespace plackett
