#include "http/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "http/utf8.h"

namespace plackett::http {
namespace {

constexpr std::size_t kMaxSegments = 16;
constexpr std::size_t kMaxQueryKeys = 16;

// False if a percent sign has no two hex digits behind it, or the result is not UTF-8 or has the
// character U+0000, which SQL can't read.
bool decode(std::string_view text, bool plus_is_space, std::string& out) {
  out.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {
    char byte = text[at];
    if (byte == '%') {
      unsigned code = 0;
      const std::string_view digits = text.substr(at + 1, 2);
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), code, 16);
      if (error != std::errc() || digits.size() != 2 || end != digits.end()) return false;
      byte = static_cast<char>(code);
      at += 2;
    } else if (byte == '+' && plus_is_space) {
      byte = ' ';
    }
    out += byte;
  }
  return is_utf8(out) && out.find('\0') == std::string::npos;
}

// The part before `separator`, which is removed with it.
std::string_view next_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

const std::string* find(const Target& target, std::string_view key) {
  for (const auto& [name, value] : target.query) {
    if (name == key) return &value;
  }
  return nullptr;
}

Error badly_encoded(std::string_view part) {
  return {
      fmt::format("address: \"{}\" does not decode to UTF-8 without U+0000", cut_utf8(part, 80))};
}

}  // namespace

Result<void> parse_target(std::string_view text, Target& target) {
  target.query.clear();
  target.authority = {};
  if (!text.starts_with('/')) {
    const std::size_t scheme = text.find("://");
    if (scheme == std::string_view::npos) return Error{"the address must start with a slash"};
    text.remove_prefix(scheme + 3);
    target.authority = text.substr(0, text.find_first_of("/?"));
    if (target.authority.empty()) return Error{"the address names no host"};
    text.remove_prefix(target.authority.size());
  }
  std::string_view query = text;
  std::string_view path = next_part(query, '?');
  // "/models/" ends with an empty segment, "/" has none.
  std::size_t count = 0;
  for (bool more = path.size() > 1; more; ++count) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    more = !path.empty();
    if (count == kMaxSegments) return Error{"the address has too many parts"};
    if (target.segments.size() == count) target.segments.emplace_back();
    if (!decode(segment, false, target.segments[count])) return badly_encoded(segment);
  }
  target.segments.resize(count);

  while (!query.empty()) {
    const std::string_view pair = next_part(query, '&');
    if (pair.empty()) continue;
    if (target.query.size() == kMaxQueryKeys) return Error{"the address has too many query keys"};
    auto& [key, value] = target.query.emplace_back();
    std::string_view value_text = pair;
    const std::string_view key_text = next_part(value_text, '=');
    if (!decode(key_text, true, key) || !decode(value_text, true, value)) {
      return badly_encoded(pair);
    }
  }
  return {};
}

Result<void> check_query(const Target& target, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : target.query) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return Error{fmt::format("unknown query key \"{}\"; known: {}", cut_utf8(key, 40),
                               fmt::join(known, ", "))};
    }
    if (find(target, key) != &value) return Error{fmt::format("query key {} given twice", key)};
  }
  return {};
}

Result<std::uint32_t> query_number(const Target& target, std::string_view key,
                                   const QueryRange& range) {
  const std::string* text = find(target, key);
  if (text == nullptr) return range.fallback;
  std::uint32_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || number < range.least || number > range.most) {
    return Error{fmt::format("{}={}; expected an integer from {} to {}", key, cut_utf8(*text, 40),
                             range.least, range.most)};
  }
  return number;
}

bool has_query(const Target& target, std::string_view key) { return find(target, key) != nullptr; }

std::string query_text(const Target& target, std::string_view key) {
  const std::string* text = find(target, key);
  return text == nullptr ? std::string() : *text;
}

Result<bool> query_flag(const Target& target, std::string_view key) {
  const std::string* text = find(target, key);
  if (text == nullptr || *text == "false") return false;
  if (*text == "true") return true;
  return Error{fmt::format("{}={}; expected true or false", key, cut_utf8(*text, 40))};
}

}  // namespace plackett::http
