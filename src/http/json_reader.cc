#include "http/json_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "http/utf8.h"

namespace plackett::http {
namespace {

using simdjson::ondemand::json_type;

// Parsers keep about six bytes for every byte of the longest text they met.
constexpr std::size_t kLargeText = std::size_t{1} << 20;
constexpr std::size_t kExcerptBytes = 40;
constexpr std::string_view kWhiteSpace = " \t\r\n";

std::string_view name_of(json_type type) {
  // In simdjson's order, which starts at 1.
  constexpr std::string_view kNames[] = {"?",        "an array",  "an object", "a number",
                                         "a string", "a boolean", "null"};
  return kNames[static_cast<std::size_t>(type)];
}

// JSON can have it only as \u0000, outside of which every backslash escapes one character.
bool has_escaped_nul(std::string_view json) {
  for (std::size_t at = json.find('\\'); at != std::string_view::npos;
       at = json.find('\\', at + 2)) {
    if (json.substr(at, 6) == "\\u0000") return true;
  }
  return false;
}

}  // namespace

JsonValue JsonReader::begin(JsonText text) {
  depth_ = 0;
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) wrong("the body is empty; it must be JSON");
  if (parser_.capacity() > kLargeText && text.size() <= kLargeText) parser_ = Parser();
  check(parser_.iterate(text).get(document_));
  // What opens must close in the end: simdjson's arrays and objects count on it.
  const char last = text[text.find_last_not_of(kWhiteSpace)];
  if ((text[first] == '{' && last != '}') || (text[first] == '[' && last != ']')) {
    broken(simdjson::INCOMPLETE_ARRAY_OR_OBJECT);
  }
  JsonValue root;
  const auto error = document_.get_value().get(root);
  if (error == simdjson::SCALAR_DOCUMENT_AS_VALUE) wrong("the body must be an object or array");
  check(error);
  return root;
}

void JsonReader::end() {
  if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    wrong("unexpected text after the end of the JSON");
  }
}

JsonReader::Step& JsonReader::enter(Step step) {
  if (depth_ == kMaxDepth) wrong(fmt::format("nested deeper than {}", kMaxDepth));
  steps_[depth_] = step;
  return steps_[depth_++];
}

std::string_view JsonReader::string(JsonValue value) {
  std::string_view text;
  if (const auto error = value.get_string().get(text)) wrong_type(error, value, "a string");
  return text;
}

double JsonReader::number(JsonValue value) {
  double number = 0;
  if (const auto error = value.get_double().get(number)) wrong_type(error, value, "a number");
  return number;
}

std::uint64_t JsonReader::unsigned_integer(JsonValue value, std::uint64_t least,
                                           std::uint64_t most) {
  std::uint64_t number = 0;
  const auto error = value.get_uint64().get(number);
  if (error == simdjson::SUCCESS && number >= least && number <= most) return number;
  wrong(fmt::format("{}; expected an integer from {} to {}", excerpt(value), least, most));
}

json_type JsonReader::type(JsonValue value) {
  json_type type{};
  check(value.type().get(type));
  return type;
}

bool JsonReader::is_null(JsonValue value) {
  if (type(value) != json_type::null) return false;
  bool null = false;
  check(value.is_null().get(null));
  if (!null) broken(simdjson::N_ATOM_ERROR);
  return true;
}

std::string_view JsonReader::any(JsonValue value, std::size_t most_bytes) {
  std::string_view text;
  check(simdjson::to_json_string(value).get(text));
  if (text.size() > most_bytes) {
    wrong(fmt::format("{} bytes; at most {} are allowed", text.size(), most_bytes));
  }
  if (checker_.max_depth() != kMaxDepth || checker_.capacity() < text.size()) {
    check(checker_.allocate(std::max<std::size_t>(text.size(), 1024), kMaxDepth));
  }
  const auto error = checker_.parse(text.data(), text.size(), true).error();
  if (error == simdjson::DEPTH_ERROR) wrong(fmt::format("nested deeper than {}", kMaxDepth));
  check(error);
  if (has_escaped_nul(text)) wrong("a text with the character U+0000, which SQL can't read");
  return text;
}

std::string JsonReader::excerpt(JsonValue value) {
  std::string_view token = value.raw_json_token();
  token = token.substr(0, token.find_last_not_of(kWhiteSpace) + 1);
  if (token.size() <= kExcerptBytes) return std::string(token);
  return std::string(cut_utf8(token, kExcerptBytes)) + "...";
}

void JsonReader::wrong(std::string message, ErrorCode kind) const {
  throw Failed{{kind, std::move(message), place()}};
}

void JsonReader::wrong_at(std::string_view key, std::string message, ErrorCode kind) const {
  const std::string place = this->place();
  throw Failed{{kind, std::move(message),
                place.empty() ? std::string(key) : fmt::format("{}.{}", place, key)}};
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

void JsonReader::broken(simdjson::error_code error) const {
  if (error == simdjson::CAPACITY || error == simdjson::MEMALLOC) {
    wrong("not enough memory for a body this large", ErrorCode::kTooLarge);
  }
  wrong(fmt::format("invalid JSON: {}", simdjson::error_message(error)));
}

void JsonReader::wrong_type(simdjson::error_code error, JsonValue value, const char* wanted) {
  if (error == simdjson::NUMBER_ERROR) {
    wrong(fmt::format("{}; not a number of JSON, or out of the range of doubles", excerpt(value)));
  }
  const std::string_view met = name_of(type(value));
  if (error != simdjson::INCORRECT_TYPE || met == wanted) broken(error);
  wrong(fmt::format("expected {}, got {}", wanted, met));
}

void JsonReader::unknown_key(std::string_view key,
                             std::initializer_list<std::string_view> known) const {
  wrong(fmt::format("unknown key \"{}\"; known: {}", cut_utf8(key, kExcerptBytes),
                    fmt::join(known, ", ")));
}

}  // namespace plackett::http
