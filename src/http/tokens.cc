#include "http/tokens.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "base/attempt.h"
#include "base/file.h"
#include "http/allowed_hosts.h"
#include "serving/model_spec.h"

namespace plackett::http {
namespace {

constexpr std::size_t kMostBytes = 256;
constexpr std::size_t kMostWords = 3;
constexpr std::string_view kBlank = " \t\r";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// The first words of a line, one more than it may have.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (line = trimmed(line); !line.empty() && words.size() <= kMostWords; line = trimmed(line)) {
    words.push_back(line.substr(0, line.find_first_of(kBlank)));
    line.remove_prefix(words.back().size());
  }
  return words;
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

struct Line {
  Grant grant;
  std::string_view token;
};

// Throws Failed. A token may stand where a role or a model should, so no message repeats a word.
Line read_line(const std::vector<std::string_view>& words) {
  const auto refuse = [](const std::string& rule) { throw Failed{Error{rule}}; };
  const auto role = role_named(words.front());
  if (!role) refuse("the line must start with a role: read, feedback or admin");
  if (words.size() == 1) refuse("a role without a token");
  if (words.size() > kMostWords) {
    refuse("more than three words; expected ROLE TOKEN or ROLE MODEL TOKEN");
  }
  Line line{{*role, {}}, words.back()};
  if (words.size() == 3) {
    if (!serving::is_model_name(words[1])) {
      refuse(
          fmt::format("a model name of {} bytes; names have 1 to {} of letters, digits, '.', "
                      "'_' and '-'",
                      words[1].size(), serving::kMaxModelNameBytes));
    }
    line.grant.model = words[1];
  }
  if (line.token.starts_with("REPLACE-")) {
    refuse(
        "a token of the example, which everybody knows; make your own: deploy/make_tokens, or "
        "openssl rand -hex 32");
  }
  if (!is_token(line.token)) {
    refuse(fmt::format("a token of {} bytes; expected 1 to {} visible ASCII characters",
                       line.token.size(), kMostBytes));
  }
  return line;
}

}  // namespace

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"none", "read", "feedback", "admin"};
  return kNames[static_cast<std::size_t>(role)];
}

Tokens::Digest Tokens::digest_of(std::string_view token) {
  // Found once: that takes longer than a digest.
  static EVP_MD* const kSha256 = ::EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Digest digest;
  // No digest must never be taken for one: tokens would be alike.
  if (kSha256 == nullptr ||
      ::EVP_Digest(token.data(), token.size(), digest.data(), nullptr, kSha256, nullptr) != 1) {
    throw std::bad_alloc();
  }
  return digest;
}

Result<Tokens> Tokens::parse(std::string_view text, std::string_view path) {
  if (text.starts_with(kByteOrderMark)) {
    return Error{fmt::format("{}: starts with a byte order mark; save it without one", path)};
  }
  Tokens tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const auto words = words_of(whole);
    if (words.empty() || words.front().front() == '#') continue;
    const auto added = attempt([&] {
      Line line = read_line(words);
      if (!tokens.grants_.emplace(digest_of(line.token), std::move(line.grant)).second) {
        throw Failed{Error{"the token is also on an earlier line"}};
      }
    });
    if (!added) return Error{fmt::format("{}:{}: {}", path, number, added.error().message)};
  }
  if (tokens.empty()) return Error{fmt::format("{}: no tokens", path)};
  return tokens;
}

Result<Tokens> Tokens::load(const std::filesystem::path& path) {
  const auto text = read_file(path);
  return text ? parse(*text, path.string()) : text.error();
}

const Grant* Tokens::find(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!equal_but_case(authorization.substr(0, kScheme.size()), kScheme)) return nullptr;
  const auto found = grants_.find(digest_of(trimmed(authorization.substr(kScheme.size()))));
  return found == grants_.end() ? nullptr : &found->second;
}

}  // namespace plackett::http
