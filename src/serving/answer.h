// What a call to the service gives: a value, or why it was refused.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>

namespace plackett::serving {

// Why, as far as a caller must tell refusals apart.
enum class Refusal : std::uint8_t {
  kInvalid,      // the request makes no sense
  kUnknown,      // it names something that is not there
  kConflict,     // it contradicts what is there
  kTooLarge,     // it is over a limit
  kBusy,         // a queue is full; later it may go
  kUnavailable,  // the store can't write, or the service is stopping
};

struct Refused {
  Refusal kind = Refusal::kInvalid;
  std::string message{};  // for a person: value and rule, in one line without a full stop
  std::string where{};    // the place in the request ("items[3].features"), where there is one
};

// Nothing, as a value.
struct Nothing {};

// Either a value or a refusal. Converts from both.
template <typename T>
class [[nodiscard]] Answer {
 public:
  Answer(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Answer(Refused refused) : state_(std::move(refused)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& operator*() & { return value(); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  T& value() {
    assert(ok());
    return *std::get_if<0>(&state_);
  }

  // Requires: !ok().
  [[nodiscard]] const Refused& refused() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Refused> state_;
};

// Told the answer once, from a thread of the service's: it must be quick and must not throw.
template <typename T>
using Done = std::function<void(Answer<T>)>;

}  // namespace plackett::serving
