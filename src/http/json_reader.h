// JSON bodies, read once and strictly: a caller names the keys that it knows, and anything else is
// refused with its place and the rule. Every value must be asked for: others are not checked.
//
//   const auto point = reader.read(body, [&](JsonValue root) {
//     Point made;
//     reader.fields(root, Key{"x", [&](JsonValue value) { made.x = reader.number(value); }},
//                   Key{"y", [&](JsonValue value) { made.y = reader.number(value); }});
//     return made;
//   });
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/attempt.h"

namespace plackett::http {

using JsonText = simdjson::padded_string_view;
using JsonValue = simdjson::ondemand::value;

// A key of an object, and what to do with its value.
template <typename Use>
struct Key {
  std::string_view name;
  Use use;
};
template <typename Use>
Key(const char*, Use) -> Key<Use>;

// One per thread. Reuses its memory; what string() gave lives until the next read().
class JsonReader {
 public:
  static constexpr std::size_t kMaxDepth = 32;

  // What use(root) makes of the document, an object or array; or the error of the Failed that
  // was thrown on the way, or that the text is not JSON or goes on behind it.
  template <typename Use>
  auto read(JsonText text, Use&& use) -> Result<std::invoke_result_t<Use, JsonValue>> {
    return attempt([&] {
      if constexpr (std::is_void_v<std::invoke_result_t<Use, JsonValue>>) {
        use(begin(text));
        end();
      } else {
        auto value = use(begin(text));
        end();
        return value;
      }
    });
  }

  // An object whose keys are all known. Refuses others, and duplicates. Returns which were there:
  // bit n for the n-th of `keys`.
  template <typename... Uses>
  std::uint32_t fields(JsonValue value, const Key<Uses>&... keys) {
    std::uint32_t seen = 0;
    object(value, [&](std::string_view name, JsonValue inner) {
      std::uint32_t bit = 1;
      const auto is_of = [&](const auto& key) {
        if (key.name != name) {
          bit <<= 1U;
          return false;
        }
        if ((seen & bit) != 0) wrong("duplicate key");
        seen |= bit;
        key.use(inner);
        return true;
      };
      if (!(is_of(keys) || ...)) unknown_key(name, {keys.name...});
    });
    return seen;
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
    --depth_;
  }

  // use(index, value) for every element. Refuses more than `most`.
  template <typename Use>
  void array(JsonValue value, std::size_t most, Use&& use) {
    simdjson::ondemand::array elements;
    if (const auto error = value.get_array().get(elements)) wrong_type(error, value, "an array");
    Step& step = enter({.key = {}, .is_index = true});
    for (auto element : elements) {
      JsonValue inner;
      check(element.get(inner));
      if (step.index >= most) {
        wrong("more than " + std::to_string(most) + " elements", ErrorCode::kTooLarge);
      }
      use(step.index, inner);
      ++step.index;
    }
    --depth_;
  }

  std::string_view string(JsonValue value);
  double number(JsonValue value);  // within the range of doubles
  bool is_null(JsonValue value);
  template <typename T = std::uint32_t>
  T integer(JsonValue value, std::uint64_t least, std::uint64_t most) {
    return static_cast<T>(unsigned_integer(value, least, most));
  }
  simdjson::ondemand::json_type type(JsonValue value);
  // The text of any value, checked, at most kMaxDepth deep, without the character U+0000.
  std::string_view any(JsonValue value, std::size_t most_bytes);

  // The value as the text has it, cut if it is long: for messages.
  static std::string excerpt(JsonValue value);
  // Refuses, naming the place where the reader stands.
  [[noreturn]] void wrong(std::string message, ErrorCode kind = ErrorCode::kInvalid) const;
  // The same, for `key` at that place.
  [[noreturn]] void wrong_at(std::string_view key, std::string message,
                             ErrorCode kind = ErrorCode::kInvalid) const;

 private:
  struct Step {
    std::string_view key;
    std::uint32_t index = 0;
    bool is_index = false;
  };

  JsonValue begin(JsonText text);
  void end();
  Step& enter(Step step);
  std::uint64_t unsigned_integer(JsonValue value, std::uint64_t least, std::uint64_t most);
  void check(simdjson::error_code error) const {
    if (error != simdjson::SUCCESS) [[unlikely]]
      broken(error);
  }
  [[noreturn]] void broken(simdjson::error_code error) const;
  [[noreturn]] void wrong_type(simdjson::error_code error, JsonValue value, const char* wanted);
  [[noreturn]] void unknown_key(std::string_view key,
                                std::initializer_list<std::string_view> known) const;
  [[nodiscard]] std::string place() const;  // "items[3].features"

  using Parser = simdjson::ondemand::parser;
  Parser parser_;
  simdjson::ondemand::document document_;
  simdjson::dom::parser checker_;  // of values whose text is kept
  std::array<Step, kMaxDepth> steps_{};
  std::size_t depth_ = 0;
};

}  // namespace plackett::http
