#include "http/target.h"

#include <fmt/format.h>

#include <optional>

#include "http/utf8.h"

namespace plackett::http {
namespace {

constexpr std::size_t kMaxSegments = 16;
constexpr std::size_t kMaxQueryKeys = 16;

std::optional<unsigned> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

// False where a percent sign has no two hex digits behind it, or the result is no UTF-8.
bool decode(std::string_view text, bool plus_is_space, std::string& out) {
  out.clear();
  bool ascii = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char byte = text[at];
    if (byte == '%') {
      if (at + 2 >= text.size()) return false;
      const auto high = hex_digit(text[at + 1]);
      const auto low = hex_digit(text[at + 2]);
      if (!high || !low) return false;
      byte = static_cast<char>(*high * 16 + *low);
      at += 2;
    } else if (byte == '+' && plus_is_space) {
      byte = ' ';
    }
    ascii = ascii && static_cast<unsigned char>(byte) < 0x80;
    out += byte;
  }
  return ascii || is_utf8(out);
}

Error badly_encoded(std::string_view part) {
  return {ErrorCode::kInvalid,
          fmt::format("the address: \"{}\" does not decode to UTF-8", cut_utf8(part, 80)),
          {}};
}

}  // namespace

const std::string* Target::find(std::string_view key) const {
  for (const auto& [name, value] : query) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<void> parse_target(std::string_view text, Target& target) {
  target.query.clear();
  if (!text.starts_with('/')) {
    const std::size_t scheme = text.find("://");
    if (scheme == std::string_view::npos) {
      return Error{ErrorCode::kInvalid, "the address must start with a slash", {}};
    }
    text.remove_prefix(scheme + 3);
    const std::size_t path = text.find_first_of("/?");
    text.remove_prefix(path == std::string_view::npos ? text.size() : path);
  }
  const std::size_t question = text.find('?');
  std::string_view path = text.substr(0, question);
  std::string_view query =
      question == std::string_view::npos ? std::string_view() : text.substr(question + 1);

  std::size_t count = 0;
  while (path.size() > 1) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    if (count == kMaxSegments) {
      return Error{ErrorCode::kInvalid, "the address has too many parts", {}};
    }
    if (target.segments.size() == count) target.segments.emplace_back();
    if (!decode(segment, false, target.segments[count])) return badly_encoded(segment);
    ++count;
  }
  // "/models/" is not "/models".
  if (count > 0 && path == "/") {
    if (target.segments.size() == count) target.segments.emplace_back();
    target.segments[count++].clear();
  }
  target.segments.resize(count);

  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    if (target.query.size() == kMaxQueryKeys) {
      return Error{ErrorCode::kInvalid, "the address has too many query keys", {}};
    }
    const std::size_t equals = pair.find('=');
    auto& [key, value] = target.query.emplace_back();
    const std::string_view value_text =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    if (!decode(pair.substr(0, equals), true, key) || !decode(value_text, true, value)) {
      return badly_encoded(pair);
    }
  }
  return {};
}

}  // namespace plackett::http
