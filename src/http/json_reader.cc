#include "http/json_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "http/utf8.h"

namespace plackett::http {
namespace {

// Parsers keep about six bytes for every byte of the longest text they met.
constexpr std::size_t kLargeText = std::size_t{1} << 20;
constexpr std::size_t kExcerptBytes = 40;
constexpr std::string_view kBlank = " \t\r\n";

const char* name_of(simdjson::ondemand::json_type type) {
  using simdjson::ondemand::json_type;
  switch (type) {
    case json_type::array:
      return "an array";
    case json_type::object:
      return "an object";
    case json_type::number:
      return "a number";
    case json_type::string:
      return "a string";
    case json_type::boolean:
      return "true or false";
    case json_type::null:
      return "null";
  }
  return "?";
}

}  // namespace

JsonValue JsonReader::begin(const PaddedText& text) {
  depth_ = 0;
  text_ = text.view();
  if (text.empty()) wrong("the body is empty; it must be JSON");
  if (parser_.capacity() > kLargeText && text.size() <= kLargeText) parser_ = Parser();
  check(parser_
            .iterate(simdjson::padded_string_view(text.view().data(), text.size(), text.capacity()))
            .get(document_));
  // What opens must close in the end: readers of arrays and objects count on it.
  const std::size_t first = text_.find_first_not_of(kBlank);
  const std::size_t last = text_.find_last_not_of(kBlank);
  if (first == std::string_view::npos) broken(simdjson::EMPTY);
  if ((text_[first] == '{' && text_[last] != '}') || (text_[first] == '[' && text_[last] != ']')) {
    broken(simdjson::INCOMPLETE_ARRAY_OR_OBJECT);
  }
  JsonValue root;
  const auto error = document_.get_value().get(root);
  if (error == simdjson::SCALAR_DOCUMENT_AS_VALUE) {
    wrong("the body must be a JSON object or array");
  }
  check(error);
  return root;
}

void JsonReader::end() {
  if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS)
    wrong("text goes on after the JSON's end");
}

JsonReader::Step& JsonReader::enter(Step step) {
  if (depth_ == kMaxDepth) wrong(fmt::format("nested deeper than {}", kMaxDepth));
  steps_[depth_] = step;
  return steps_[depth_++];
}

bool JsonReader::boolean(JsonValue value) {
  bool flag = false;
  if (const auto error = value.get_bool().get(flag)) wrong_type(error, value, "true or false");
  return flag;
}

std::uint64_t JsonReader::whole(JsonValue value, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto error = value.get_uint64().get(number);
  if (error == simdjson::SUCCESS && number >= least && number <= most) return number;
  wrong(fmt::format("{}; it must be a whole number from {} to {}", excerpt(value), least, most));
}

simdjson::ondemand::json_type JsonReader::type(JsonValue value) {
  simdjson::ondemand::json_type type{};
  check(value.type().get(type));
  return type;
}

bool JsonReader::is_null(JsonValue value) {
  if (type(value) != simdjson::ondemand::json_type::null) return false;
  bool null = false;
  check(value.is_null().get(null));
  if (!null) broken(simdjson::N_ATOM_ERROR);
  return true;
}

std::string_view JsonReader::any(JsonValue value, std::size_t most_bytes) {
  std::string_view text;
  switch (type(value)) {
    case simdjson::ondemand::json_type::array: {
      simdjson::ondemand::array array;
      check(value.get_array().get(array));
      check(array.raw_json().get(text));
      break;
    }
    case simdjson::ondemand::json_type::object: {
      simdjson::ondemand::object object;
      check(value.get_object().get(object));
      check(object.raw_json().get(text));
      break;
    }
    case simdjson::ondemand::json_type::number:
      text = value.raw_json_token();
      number(value);
      break;
    case simdjson::ondemand::json_type::string:
      text = value.raw_json_token();
      string(value);
      break;
    case simdjson::ondemand::json_type::boolean:
      text = value.raw_json_token();
      boolean(value);
      break;
    case simdjson::ondemand::json_type::null:
      text = value.raw_json_token();
      is_null(value);
      break;
  }
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  if (text.size() > most_bytes) {
    wrong(fmt::format("{} bytes; at most {} are kept", text.size(), most_bytes));
  }
  if (checker_.max_depth() != kMaxDepth || checker_.capacity() < text.size()) {
    check(checker_.allocate(std::max<std::size_t>(text.size(), 1024), kMaxDepth));
  }
  simdjson::dom::element element;
  if (const auto error = checker_.parse(text.data(), text.size(), true).get(element)) {
    if (error == simdjson::DEPTH_ERROR) wrong(fmt::format("nested deeper than {}", kMaxDepth));
    broken(error);
  }
  return text;
}

std::string JsonReader::excerpt(JsonValue value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() <= kExcerptBytes) return std::string(token);
  return std::string(cut_utf8(token, kExcerptBytes)) + "...";
}

void JsonReader::wrong(std::string message, ErrorCode kind) const {
  throw WrongJson{{kind, std::move(message), place()}};
}

void JsonReader::wrong_at(std::string where, std::string message) {
  throw WrongJson{{ErrorCode::kInvalid, std::move(message), std::move(where)}};
}

std::string JsonReader::place() const {
  std::string place;
  for (std::size_t at = 0; at < depth_; ++at) {
    if (steps_[at].is_index) {
      place += fmt::format("[{}]", steps_[at].index);
    } else if (!steps_[at].key.empty()) {
      if (!place.empty()) place += '.';
      place += cut_utf8(steps_[at].key, kExcerptBytes);
    }
  }
  return place;
}

std::string JsonReader::place_of(std::string_view key) const {
  std::string place = this->place();
  if (!place.empty()) place += '.';
  place += key;
  return place;
}

void JsonReader::broken(simdjson::error_code error) {
  std::string_view why;
  switch (error) {
    case simdjson::UTF8_ERROR:
      why = "bytes that are no UTF-8";
      break;
    case simdjson::UNCLOSED_STRING:
      why = "a string without its end";
      break;
    case simdjson::UNESCAPED_CHARS:
      why = "a control character in a string; write it as \\u00XX";
      break;
    case simdjson::STRING_ERROR:
      why = "a string with an escape that JSON has not";
      break;
    case simdjson::NUMBER_ERROR:
      why = "a number that JSON has not, or one out of range";
      break;
    case simdjson::EMPTY:
      why = "nothing but white space";
      break;
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
      throw WrongJson{{ErrorCode::kTooLarge, "no memory for a body so large", {}}};
    default:
      why = "a comma, colon, bracket, quote or value is missing or too many";
  }
  throw WrongJson{{ErrorCode::kInvalid, fmt::format("no JSON: {}", why), place()}};
}

void JsonReader::wrong_type(simdjson::error_code error, JsonValue value, const char* wanted) {
  if (error != simdjson::INCORRECT_TYPE && error != simdjson::NUMBER_ERROR) broken(error);
  simdjson::ondemand::json_type type{};
  check(value.type().get(type));
  if (error == simdjson::NUMBER_ERROR) {
    wrong(fmt::format("{} is no number of JSON's, or beyond the range of doubles", excerpt(value)));
  }
  if (name_of(type) == std::string_view(wanted)) broken(error);
  wrong(fmt::format("{} where {} must stand", name_of(type), wanted));
}

void JsonReader::wrong_key_again(std::string_view key) const {
  wrong(fmt::format("the key \"{}\" is there twice", key));
}

void JsonReader::unknown_key(std::string_view key, const std::string_view* known,
                             std::size_t count) const {
  wrong(fmt::format("unknown key \"{}\"; known: {}", cut_utf8(key, kExcerptBytes),
                    fmt::join(std::span(known, count), ", ")));
}

}  // namespace plackett::http
