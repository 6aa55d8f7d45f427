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

// Each may do what those before it may.
enum class Role : std::uint8_t { kNone, kRead, kFeedback, kAdmin };
std::string_view name_of(Role role);

// Tokens and their roles; with none, everything is allowed to everyone.
class Tokens {
 public:
  // Lines of `ROLE TOKEN`: read, feedback or admin, and 1 to 256 visible ASCII characters. Empty
  // lines and lines that start with # say nothing. `path` is for errors.
  static Result<Tokens> parse(std::string_view text, std::string_view path);
  static Result<Tokens> load(const std::filesystem::path& path);

  [[nodiscard]] bool empty() const { return entries_.empty(); }

  // The role that an Authorization header gives ("Bearer TOKEN"); none where it is no token of
  // these. Compares with every token, in a time that does not tell how much of one was right.
  [[nodiscard]] std::optional<Role> role_of(std::string_view authorization) const;

 private:
  struct Entry {
    Role role = Role::kNone;
    std::string token;
  };
  std::vector<Entry> entries_;
};

}  // namespace plackett::http
