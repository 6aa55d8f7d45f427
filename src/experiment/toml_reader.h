// Reads the keys of a TOML table into plain data; errors give file, line, value and rule.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "plackett/result.h"

namespace plackett {

// Keys that are absent leave the value alone. The first error is kept, and calls after it do
// nothing: ask for it at the end.
class TomlReader {
 public:
  // `path` and `table` must outlive the reader.
  TomlReader(const std::string& path, const toml::table& table) : path_(path), table_(table) {}

  template <typename... Args>
  void fail(const toml::node& node, fmt::format_string<Args...> format, Args&&... args) {
    if (error_) return;
    error_ = Error{fmt::format("{}:{}: {}", path_, node.source().begin.line,
                               fmt::format(format, std::forward<Args>(args)...))};
  }
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const toml::table& table() const { return table_; }

  // Fails on a key that is not among `known`.
  void only(std::span<const std::string_view> known, std::string_view what) {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        fail(node, "unknown key \"{}\"; {} has {}", key.str(), what, fmt::join(known, ", "));
      }
    }
  }

  void text(std::string_view key, std::string& value) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    if (const auto read = node->value_exact<std::string>()) {
      value = *read;
    } else {
      fail(*node, "{} is {}; it must be text in quotes", key, kind(*node));
    }
  }

  void truth(std::string_view key, bool& value) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    if (const auto read = node->value_exact<bool>()) {
      value = *read;
    } else {
      fail(*node, "{} is {}; it must be true or false", key, kind(*node));
    }
  }

  void number(std::string_view key, double& value) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    if (node->is_number()) {
      value = node->value<double>().value_or(std::nan(""));
    } else {
      fail(*node, "{} is {}; it must be a number", key, kind(*node));
    }
  }

  template <typename Integer>
  void whole(std::string_view key, std::uint64_t least, std::uint64_t most, Integer& value) {
    if (const toml::node* node = table_.get(key); node != nullptr) {
      whole(*node, key, least, most, value);
    }
  }
  template <typename Integer>
  void whole(const toml::node& node, std::string_view key, std::uint64_t least, std::uint64_t most,
             Integer& value) {
    const auto read = node.value_exact<std::int64_t>();
    if (!read) {
      fail(node, "{} is {}; it must be a whole number", key, kind(node));
    } else if (*read < 0 || static_cast<std::uint64_t>(*read) < least ||
               static_cast<std::uint64_t>(*read) > most) {
      fail(node, "{} is {}; it must be a whole number from {} to {}", key, *read, least, most);
    } else {
      value = static_cast<Integer>(*read);
    }
  }

  // Text that `parse`, which gives a Result, understands.
  template <typename Parse, typename Value>
  void parsed(std::string_view key, Parse parse, Value& value) {
    std::string name;
    text(key, name);
    const toml::node* node = table_.get(key);
    if (node == nullptr || error_) return;
    if (auto read = parse(name)) {
      value = std::move(read).value();
    } else {
      fail(*node, "{}: {}", key, read.error().message);
    }
  }

  // "text", "a whole number", ...: what stands there in place of what should.
  static std::string_view kind(const toml::node& node) {
    switch (node.type()) {
      case toml::node_type::table:
        return "a table";
      case toml::node_type::array:
        return "an array";
      case toml::node_type::string:
        return "text";
      case toml::node_type::integer:
        return "a whole number";
      case toml::node_type::floating_point:
        return "a fraction";
      case toml::node_type::boolean:
        return "true or false";
      default:
        return "a date or time";
    }
  }

 private:
  const std::string& path_;
  const toml::table& table_;
  std::optional<Error> error_;
};

}  // namespace plackett
