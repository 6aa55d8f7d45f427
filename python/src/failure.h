// Failures on their way to Python: what is thrown here becomes one of the module's exceptions, all
// of which derive from plackett.Error and from the built-in one that fits.
#pragma once

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "plackett/result.h"

namespace plackett::python {

namespace py = pybind11;

enum class Fault {
  kValue,        // plackett.BadValue, a ValueError
  kType,         // plackett.BadType, a TypeError
  kMissingFile,  // plackett.MissingFile, a FileNotFoundError
};

class Failure : public std::runtime_error {
 public:
  Failure(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  [[nodiscard]] Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

template <typename... Parts>
[[noreturn]] void bad_value(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw Failure(Fault::kValue, fmt::format(text, std::forward<Parts>(parts)...));
}

template <typename... Parts>
[[noreturn]] void bad_type(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw Failure(Fault::kType, fmt::format(text, std::forward<Parts>(parts)...));
}

// The engine's message, with the arguments that do what it advises.
std::string in_python_words(const Error& error);

// The value, or the error as a BadValue.
template <typename T>
T take(Result<T>&& result) {
  if (!result) throw Failure(Fault::kValue, in_python_words(result.error()));
  return std::move(result).value();
}
inline void take(Result<void>&& result) {
  if (!result) throw Failure(Fault::kValue, in_python_words(result.error()));
}

// Likewise, the error with the argument's name before it.
template <typename T>
T take(Result<T>&& result, std::string_view name) {
  if (!result) bad_value("{}: {}", name, in_python_words(result.error()));
  return std::move(result).value();
}
inline void take(Result<void>&& result, std::string_view name) {
  if (!result) bad_value("{}: {}", name, in_python_words(result.error()));
}

}  // namespace plackett::python
