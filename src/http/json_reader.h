// JSON bodies, read once and strictly: a caller asks for what it knows, and anything else is
// refused with its place and the rule. Every value must be asked for: what is not is not checked.
//
//   reader.read(body, [&](JsonValue root) {
//     reader.object(root, [&](std::string_view key, JsonValue value) { ... });
//   });
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/padded_text.h"
#include "plackett/result.h"

namespace plackett::http {

using JsonValue = simdjson::ondemand::value;

// Thrown by the reader and within what read() calls; never leaves read().
struct WrongJson {
  Error refused;
};

// One a thread. Reuses its memory; what string() gave lives until the next read().
class JsonReader {
 public:
  static constexpr std::size_t kMaxDepth = 32;

  // Calls use(root) with the document's object or array; gives what was thrown on the way, or
  // that the text is no JSON or goes on behind it.
  template <typename Use>
  std::optional<Error> read(const PaddedText& text, Use&& use) {
    try {
      use(begin(text));
      end();
    } catch (WrongJson& wrong) {
      return std::move(wrong.refused);
    }
    return std::nullopt;
  }

  // use(key, value) for every key, in the text's order.
  template <typename Use>
  void object(JsonValue value, Use&& use) {
    simdjson::ondemand::object fields;
    if (const auto error = value.get_object().get(fields)) wrong_type(error, value, "an object");
    Step& step = enter({});
    for (auto field : fields) {
      check(field.error());
      check(field.unescaped_key().get(step.key));
      JsonValue inner;
      check(field.value().get(inner));
      use(step.key, inner);
    }
    leave();
  }

  // use(index, value) for every element.
  template <typename Use>
  void array(JsonValue value, Use&& use) {
    simdjson::ondemand::array elements;
    if (const auto error = value.get_array().get(elements)) wrong_type(error, value, "an array");
    Step& step = enter({.key = {}, .is_index = true});
    for (auto element : elements) {
      JsonValue inner;
      check(element.get(inner));
      use(step.index, inner);
      ++step.index;
    }
    leave();
  }

  std::string_view string(JsonValue value) {
    std::string_view text;
    if (const auto error = value.get_string().get(text)) wrong_type(error, value, "a string");
    return text;
  }
  // Within the range of doubles.
  double number(JsonValue value) {
    double number = 0;
    if (const auto error = value.get_double().get(number)) wrong_type(error, value, "a number");
    return number;
  }
  bool boolean(JsonValue value);
  std::uint64_t whole(JsonValue value, std::uint64_t least, std::uint64_t most);
  bool is_null(JsonValue value);
  simdjson::ondemand::json_type type(JsonValue value);
  // The text of any value, checked, at most kMaxDepth deep.
  std::string_view any(JsonValue value, std::size_t most_bytes);
  // The value as it stands in the text, cut where it is long: for messages.
  static std::string excerpt(JsonValue value);

  // The key's index among `known`. Refuses others, and one that `seen` has already.
  template <std::size_t kCount>
  std::size_t one_of(std::string_view key, const std::array<std::string_view, kCount>& known,
                     std::uint32_t& seen) {
    for (std::size_t at = 0; at < kCount; ++at) {
      if (known[at] != key) continue;
      if ((seen >> at & 1U) != 0) wrong_key_again(key);
      seen |= 1U << at;
      return at;
    }
    unknown_key(key, known.data(), kCount);
  }

  // Refuses, naming the place where the reader stands.
  [[noreturn]] void wrong(std::string message, ErrorCode kind = ErrorCode::kInvalid) const;
  // The same, for a place within it ("features") or beside it.
  [[noreturn]] static void wrong_at(std::string where, std::string message);
  [[nodiscard]] std::string place() const;
  // place(), and `key` in it.
  [[nodiscard]] std::string place_of(std::string_view key) const;

 private:
  struct Step {
    std::string_view key;
    std::uint32_t index = 0;
    bool is_index = false;
  };

  JsonValue begin(const PaddedText& text);
  void end();
  Step& enter(Step step);
  void leave() { --depth_; }
  void check(simdjson::error_code error) {
    if (error != simdjson::SUCCESS) [[unlikely]]
      broken(error);
  }
  [[noreturn]] void broken(simdjson::error_code error);
  [[noreturn]] void wrong_type(simdjson::error_code error, JsonValue value, const char* wanted);
  [[noreturn]] void wrong_key_again(std::string_view key) const;
  [[noreturn]] void unknown_key(std::string_view key, const std::string_view* known,
                                std::size_t count) const;

  using Parser = simdjson::ondemand::parser;
  Parser parser_;
  simdjson::ondemand::document document_;
  simdjson::dom::parser checker_;  // of values whose text is kept
  std::string_view text_;
  std::array<Step, kMaxDepth> steps_{};
  std::size_t depth_ = 0;
};

}  // namespace plackett::http
