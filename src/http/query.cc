#include "http/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "http/utf8.h"

namespace plackett::http {
Result<void> check_query(const Target& target, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : target.query) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("unknown query key \"{}\"; known: {}", cut_utf8(key, 40),
                               fmt::join(known, ", ")),
                   {}};
    }
    const auto same = [&key = key](const auto& other) { return other.first == key; };
    if (std::count_if(target.query.begin(), target.query.end(), same) > 1) {
      return Error{ErrorCode::kInvalid, fmt::format("the query has {} twice", key), {}};
    }
  }
  return {};
}

Result<std::uint32_t> query_whole(const Target& target, std::string_view key,
                                  const WholeRange& range) {
  const std::string* text = target.find(key);
  if (text == nullptr) return range.fallback;
  std::uint32_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || number < range.least || number > range.most) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}={}; it must be a whole number from {} to {}", key,
                             cut_utf8(*text, 40), range.least, range.most),
                 {}};
  }
  return number;
}

Result<bool> query_flag(const Target& target, std::string_view key) {
  const std::string* text = target.find(key);
  if (text == nullptr || *text == "false") return false;
  if (*text == "true") return true;
  return Error{ErrorCode::kInvalid,
               fmt::format("{}={}; it must be true or false", key, cut_utf8(*text, 40)),
               {}};
}

}  // namespace plackett::http
