// A method's own parameters, each declared once: the command, the spec file, the docs and the
// errors all read the declaration.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// One parameter, as its method declares it.
struct PLACKETT_EXPORT Setting {
  std::string_view name = {};                 // "learning-rate"
  std::string_view help = {};                 // one line of help
  double fallback = 0;                        // the default
  double least = 0;                           // the smallest value allowed
  double most = 0;                            // the largest
  bool whole = false;                         // integers only
  std::span<const std::string_view> names{};  // a choice: the value is an index into these

  // "0.1", "49", "team-draft": reads back to the same value.
  [[nodiscard]] std::string text(double value) const;
};

// The name of the setting of every method that takes steps.
inline constexpr std::string_view kLearningRate = "learning-rate";
// Its declaration, with the method's default.
constexpr Setting learning_rate_setting(double fallback) {
  return {.name = kLearningRate,
          .help = "eta: the step size of an update",
          .fallback = fallback,
          .least = 1e-30,
          .most = 1e30};
}

// The declaration of that name; null if there is none.
inline const Setting* find_setting(std::span<const Setting> declared, std::string_view name) {
  for (const Setting& setting : declared) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

// A setting as given in a command or a file: name and value as text.
struct GivenSetting {
  std::string name = {};   // "learning-rate"
  std::string value = {};  // "0.1"

  bool operator==(const GivenSetting&) const = default;
};

// Values for all of a method's settings: those given, and defaults for the rest.
class PLACKETT_EXPORT SettingValues {
 public:
  // Fails on a name that is not in `declared`, on one given twice, and on a value out of bounds;
  // the errors say what is allowed. `declared` must outlive the values.
  static Result<SettingValues> make(std::span<const Setting> declared,
                                    std::span<const GivenSetting> given);

  // The value of a setting; for a choice, the index of its name. Requires: `name` is declared.
  [[nodiscard]] double number(std::string_view name) const;
  // The same, for an integer or a choice.
  [[nodiscard]] std::uint32_t whole(std::string_view name) const {
    return static_cast<std::uint32_t>(number(name));
  }

  // For Method::check, where these settings have no effect: fails on one that is not its default,
  // since equal methods would have two names. `without` says what is missing: "debias=position".
  // Requires: all are declared.
  [[nodiscard]] Result<void> require_defaults(std::initializer_list<std::string_view> names,
                                              std::string_view without) const;

 private:
  std::span<const Setting> declared_;
  std::vector<double> values_;
};

}  // namespace plackett
