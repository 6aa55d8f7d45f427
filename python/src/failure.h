// Failures on their way to Python: what is thrown here becomes an exception of plackett/_errors.py.
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

// An argument as Python gives it.
using Given = const py::object&;

struct Failure : std::runtime_error {
  Failure(const char* name, const std::string& message)
      : std::runtime_error(message), exception(name) {}
  // An error of the engine, which `argument` caused unless that is empty.
  explicit Failure(const Error& error, std::string_view argument = {});

  const char* exception;  // a class in plackett/_errors.py, a literal
};

template <typename... Parts>
[[noreturn]] void bad_value(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw Failure("BadValue", fmt::format(text, std::forward<Parts>(parts)...));
}

template <typename... Parts>
[[noreturn]] void bad_type(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw Failure("BadType", fmt::format(text, std::forward<Parts>(parts)...));
}

// The value. Throws the error.
template <typename T>
T take(Result<T>&& result, std::string_view argument = {}) {
  if (!result) throw Failure(result.error(), argument);
  return std::move(result).value();
}

// plackett/_errors.py. Lives as long as the process.
py::handle errors_module();

}  // namespace plackett::python
