// Who may do what.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "plackett/result.h"

namespace plackett::http {

// Each role may also do what those before it may.
enum class Role : std::uint8_t { kNone, kRead, kFeedback, kAdmin };
std::string_view name_of(Role role);

// What a token allows.
struct Grant {
  Role role = Role::kNone;
  std::string model{};  // the only one that it may act for; empty: all
};

// Tokens and what they allow; if there are none, everyone may do everything. Keeps no token, only
// SHA-256 digests: how long a search takes tells nothing about the tokens.
class Tokens {
 public:
  // Lines of `ROLE TOKEN` or `ROLE MODEL TOKEN`, with blanks between: read, feedback or admin; the
  // name of a model, which need not exist; 1 to 256 visible ASCII characters. Empty lines and lines
  // that start with # are skipped. `path` is for errors, which never repeat a word of the file.
  static Result<Tokens> parse(std::string_view text, std::string_view path);
  static Result<Tokens> load(const std::filesystem::path& path);

  [[nodiscard]] bool empty() const { return grants_.empty(); }
  [[nodiscard]] std::size_t size() const { return grants_.size(); }

  // What an Authorization header ("Bearer TOKEN") allows; null if the token is unknown. Takes about
  // as long for any number of tokens.
  [[nodiscard]] const Grant* find(std::string_view authorization) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  struct FirstBytes {
    std::size_t operator()(const Digest& digest) const {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof hash);
      return hash;
    }
  };
  static Digest digest_of(std::string_view token);

  std::unordered_map<Digest, Grant, FirstBytes> grants_;
};

}  // namespace plackett::http
