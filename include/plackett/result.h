// What a call that can fail in an expected way returns.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "plackett/export.h"

namespace plackett {

// What kind of failure it is: exit codes, HTTP statuses and Python exceptions follow from it.
enum class ErrorCode : std::uint8_t {
  kInvalid,      // a value, file or request breaks a rule
  kNotFound,     // it names something that does not exist
  kConflict,     // it contradicts what is there
  kTooLarge,     // it exceeds a limit
  kBusy,         // a queue is full; a later attempt may succeed
  kUnavailable,  // the system failed: disk, memory, a service that is stopping
  kStopped,      // the caller asked to stop
};

// What would help, for front ends that know how their users say it (an option, an argument).
enum class Hint : std::uint8_t {
  kNone,                // nothing in particular
  kOtherFolder,         // write the results to another folder
  kOtherFolderOrFresh,  // the same, or start afresh in this one
  kOtherName,           // give one of two datasets another name
  kRefresh,             // read what other processes have changed, then try again
};

// Why a call failed.
struct Error {
  // kInvalid, the most common kind.
  Error(std::string text, Hint help = Hint::kNone)  // NOLINT(google-explicit-constructor)
      : message(std::move(text)), hint(help) {}
  // Of any kind.
  Error(ErrorCode kind, std::string text, Hint help = Hint::kNone)
      : code(kind), message(std::move(text)), hint(help) {}
  // With the place in a request.
  Error(ErrorCode kind, std::string text, std::string place)
      : code(kind), message(std::move(text)), where(std::move(place)) {}
  // What kind of failure.
  ErrorCode code = ErrorCode::kInvalid;
  // For a person: place, value and rule, in one line without a full stop ("train.txt:812: feature
  // id 0; ids start at 1"). Never empty, never to be parsed.
  std::string message = {};
  Hint hint = Hint::kNone;  // what would help
  std::string where = {};   // the place in a request ("items[3].features"); empty: none

  Error() = default;
  // The same with "place: " before its message.
  [[nodiscard]] Error in(std::string_view place) const {
    Error error = *this;
    error.message.insert(0, std::string(place) + ": ");
    return error;
  }
};

// value() called on a failed Result, or error() on a successful one. what() is the message.
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

  // The value. Throws BadResult if there is none.
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

  // Why it failed. Throws BadResult if it did not.
  [[nodiscard]] const Error& error() const {
    if (ok()) throw BadResult(Error("error() called on a result that holds a value"));
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
class [[nodiscard]] Result<void> : public Result<std::monostate> {
 public:
  // Success.
  Result() : Result<std::monostate>(std::monostate()) {}
  // Failure.
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : Result<std::monostate>(std::move(error)) {}
  // Throws BadResult if it failed.
  void value() const { static_cast<void>(Result<std::monostate>::value()); }
};

}  // namespace plackett
