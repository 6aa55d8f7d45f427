// JSON, appended to a text that the caller reuses.
//
//   json.object("id", 7, "tags", std::vector{"a", "b"}, "more", [&] { json.object("x", 0.5); });
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.h"

namespace plackett::http {

// JSON that is written already.
struct RawJson {
  std::string_view text;
};

inline std::optional<std::string_view> null_if_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// Writes commas by itself. Bytes that are not UTF-8 become U+FFFD, numbers that are not finite
// become null; doubles read back to the same bits.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  // With these fields, or those that write() writes.
  template <typename... Rest>
  void object(std::string_view name, const Rest&... rest) {
    object([&] { fields(name, rest...); });
  }
  template <std::invocable Write>
  void object(const Write& write) {
    open('{');
    write();
    close('}');
  }
  // Of an object: names and contents in turn.
  template <typename T, typename... Rest>
  void fields(std::string_view name, const T& content, const Rest&... rest) {
    value(name);
    out_ += ':';
    needs_comma_ = false;
    value(content);
    if constexpr (sizeof...(rest) > 0) fields(rest...);
  }
  // each(element) writes one value per element.
  template <typename Range, typename Each>
  void array(const Range& range, Each each) {
    open('[');
    for (const auto& element : range) each(element);
    close(']');
  }

  // A text, number, bool, optional (null if empty), RawJson, something that a function
  // write_json(json, content) writes, range of values, or what a call of `content` writes.
  template <typename T>
  void value(const T& content) {
    if constexpr (std::invocable<const T&>) {
      content();
    } else if constexpr (std::same_as<T, bool>) {
      raw(content ? "true" : "false");
    } else if constexpr (std::integral<T>) {
      number(content);
    } else if constexpr (std::floating_point<T>) {
      if (!std::isfinite(content)) return raw("null");
      number(double{content});
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      string(content);
    } else if constexpr (std::same_as<T, RawJson>) {
      raw(content.text);
    } else if constexpr (requires { content.has_value(); }) {
      if (!content) return raw("null");
      value(*content);
    } else if constexpr (requires { write_json(*this, content); }) {
      write_json(*this, content);
    } else {
      array(content, [this](const auto& element) { value(element); });
    }
  }

 private:
  void comma() {
    if (needs_comma_) out_ += ',';
    needs_comma_ = true;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    needs_comma_ = false;
  }
  void close(char bracket) {
    out_ += bracket;
    needs_comma_ = true;
  }
  void raw(std::string_view json) {
    comma();
    out_ += json;
  }
  template <typename T>
  void number(T number) {
    comma();
    char digits[32];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  void string(std::string_view text) {
    comma();
    append_json_string(out_, text);
  }

  std::string& out_;
  bool needs_comma_ = false;
};

}  // namespace plackett::http
