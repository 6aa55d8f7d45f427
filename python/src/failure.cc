#include "failure.h"

#include <array>

namespace plackett::python {
namespace {

// How Python users follow a hint, by its value.
constexpr std::array<std::string_view, 4> kAdvice{"", " (out=)", " (out=, fresh=True)",
                                                  " (load(..., name=))"};
static_assert(static_cast<std::size_t>(Hint::kOtherName) + 1 == kAdvice.size());

py::handle errors;

}  // namespace

py::handle errors_module() { return errors; }

Failure::Failure(const Error& error, std::string_view argument)
    : Failure(error.code == ErrorCode::kNotFound ? "MissingFile" : "BadValue",
              fmt::format("{}{}{}{}", argument, argument.empty() ? "" : ": ", error.message,
                          kAdvice.at(static_cast<std::size_t>(error.hint)))) {}

void bind_failures() {
  errors = py::module_::import("plackett._errors").release();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const py::object type = errors.attr(failure.exception);
      PyErr_SetString(type.ptr(), failure.what());
    }
  });
}

}  // namespace plackett::python
