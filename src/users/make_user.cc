#include "plackett/make_user.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>

#include "users/click_models.h"
#include "users/user_file.h"

namespace plackett {

Result<std::unique_ptr<User>> make_user(std::string_view name_or_toml_path,
                                        const UserOptions& options) {
  if (!std::isfinite(options.eta) || options.eta < 0) {
    return Error{fmt::format("eta {}; expected a finite number, at least 0", options.eta)};
  }
  if (name_or_toml_path.ends_with(".toml")) {
    return read_user_file(std::string(name_or_toml_path), options);
  }
  if (!user_table(name_or_toml_path, built_in_grade_counts().front())) {
    return Error{fmt::format("unknown click model \"{}\"; known: {}, or a file that ends in .toml",
                             name_or_toml_path, fmt::join(click_model_names(), ", "))};
  }
  const std::optional<UserTable> table = user_table(name_or_toml_path, options.grade_count);
  if (!table) {
    return Error{fmt::format(
        "click model \"{}\" for {} grades; built in are {} grades, others need a .toml file",
        name_or_toml_path, options.grade_count, fmt::join(built_in_grade_counts(), ", "))};
  }
  return make_user(std::string(name_or_toml_path), *table, options);
}

}  // namespace plackett
