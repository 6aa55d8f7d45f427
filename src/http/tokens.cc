#include "http/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>

#include "base/file.h"
#include "http/allowed_hosts.h"

namespace plackett::http {
namespace {

constexpr std::size_t kMostBytes = 256;
constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<Role> role_named(std::string_view name) {
  for (const Role role : {Role::kRead, Role::kFeedback, Role::kAdmin}) {
    if (name == name_of(role)) return role;
  }
  return std::nullopt;
}

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kMostBytes &&
         std::all_of(text.begin(), text.end(), [](char byte) { return byte > ' ' && byte < 0x7F; });
}

}  // namespace

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"none", "read", "feedback", "admin"};
  return kNames[static_cast<std::size_t>(role)];
}

Result<Tokens> Tokens::parse(std::string_view text, std::string_view path) {
  Tokens tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const std::string_view line = trimmed(whole);
    if (line.empty() || line.front() == '#') continue;
    const std::string_view name = line.substr(0, line.find_first_of(kBlank));
    const auto role = role_named(name);
    // A token may be where the role should be, so the message repeats neither.
    if (!role) {
      return Error{fmt::format("{}:{}: the line must start with a role: read, feedback or admin",
                               path, number)};
    }
    const std::string_view token = trimmed(line.substr(name.size()));
    if (!is_token(token)) {
      return Error{fmt::format(
          "{}:{}: a token of {} bytes; expected 1 to {} visible ASCII characters, no blanks", path,
          number, token.size(), kMostBytes)};
    }
    for (const Entry& entry : tokens.entries_) {
      if (entry.token == token) {
        return Error{fmt::format("{}:{}: the token is also on an earlier line", path, number)};
      }
    }
    tokens.entries_.push_back({*role, std::string(token)});
  }
  if (tokens.entries_.empty()) return Error{fmt::format("{}: no tokens", path)};
  return tokens;
}

Result<Tokens> Tokens::load(const std::filesystem::path& path) {
  const auto text = read_file(path);
  return text ? parse(*text, path.string()) : text.error();
}

std::optional<Role> Tokens::role_of(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!equal_but_case(authorization.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const std::string_view given = trimmed(authorization.substr(kScheme.size()));
  std::optional<Role> role;
  for (const Entry& entry : entries_) {
    // Lengths need not be hidden: tokens must be random.
    if (entry.token.size() == given.size() &&
        CRYPTO_memcmp(entry.token.data(), given.data(), given.size()) == 0) {
      role = entry.role;
    }
  }
  return role;
}

}  // namespace plackett::http
