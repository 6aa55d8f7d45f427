// What a call that can fail in an expected way returns.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "plackett/export.h"

namespace plackett {

// Why a call failed, for a person: place, value and rule, in one line without a full stop
// ("train.txt:812: feature id 0; ids start at 1").
struct Error {
  std::string message = {};  // never empty
};

// The value of a failed Result was asked for. Its what() is the error's message.
class PLACKETT_EXPORT BadResult : public std::logic_error {
 public:
  // With the error's message.
  explicit BadResult(const Error& error) : std::logic_error(error.message) {}
};

// Either a value or an Error. Converts from both, so that functions end in `return value;` or
// `return Error{...};`.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Success.
  Result(T value) : state_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  // Failure.
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  // Whether there is a value.
  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  // The same as ok().
  explicit operator bool() const { return ok(); }

  // The value. Throws BadResult where there is none: for programs that look at ok() first, or that
  // may end with the message.
  T& value() & {
    require();
    return *std::get_if<0>(&state_);
  }
  // The value, to read.
  const T& value() const& {
    require();
    return *std::get_if<0>(&state_);
  }
  // The value, to move from.
  T&& value() && {
    require();
    return std::move(*std::get_if<0>(&state_));
  }
  // The same as value().
  T& operator*() & { return value(); }
  // The same as value().
  const T& operator*() const& { return value(); }
  // The same as value().
  T&& operator*() && { return std::move(*this).value(); }
  // Into value().
  T* operator->() { return &value(); }
  // Into value().
  const T* operator->() const { return &value(); }

  // Why it failed. Throws BadResult where it did not.
  [[nodiscard]] const Error& error() const {
    if (ok()) throw BadResult({"the error of a result that is none was asked for"});
    return *std::get_if<1>(&state_);
  }

 private:
  void require() const {
    if (!ok()) throw BadResult(error());
  }

  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // Failure.
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  // Whether it succeeded.
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  // The same as ok().
  explicit operator bool() const { return ok(); }

  // Throws BadResult where it failed.
  void value() const {
    if (!ok()) throw BadResult(error());
  }

  // Why it failed. Throws BadResult where it did not.
  [[nodiscard]] const Error& error() const {
    if (ok()) throw BadResult({"the error of a result that is none was asked for"});
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace plackett
