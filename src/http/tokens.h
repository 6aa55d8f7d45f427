// Who may do what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/result.h"

namespace plackett::http {

// Each role may also do what those before it may.
enum class Role : std::uint8_t { kNone, kRead, kFeedback, kAdmin };
std::string_view name_of(Role role);

// Tokens and their roles; if there are none, everyone may do everything.
class Tokens {
 public:
  // Lines of `ROLE TOKEN`: read, feedback or admin, and 1 to 256 visible ASCII characters. Empty
  // lines and lines that start with # are skipped. `path` is for errors.
  static Result<Tokens> parse(std::string_view text, std::string_view path);
  static Result<Tokens> load(const std::filesystem::path& path);

  [[nodiscard]] bool empty() const { return entries_.empty(); }

  // The role of an Authorization header ("Bearer TOKEN"); none if the token is unknown. Compares
  // with every token, in a time that does not tell how much of one was right.
  [[nodiscard]] std::optional<Role> role_of(std::string_view authorization) const;

 private:
  struct Entry {
    Role role = Role::kNone;
    std::string token;
  };
  std::vector<Entry> entries_;
};

}  // namespace plackett::http
