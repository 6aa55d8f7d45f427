// Work of several steps that can fail: the first error ends all of it.
//
//   return attempt([&] {
//     const auto rows = take(store.models());
//     if (rows.empty()) throw Failed{{ErrorCode::kNotFound, "no model"}};
//     return rows.size();
//   });
#pragma once

#include <type_traits>
#include <utility>

#include "plackett/result.h"

namespace plackett {

// Ends the work that throws it; attempt() makes it a Result.
struct Failed {
  Error error;
};

// The value; throws Failed if there is none.
template <typename T>
T take(Result<T> result) {
  if (!result) throw Failed{result.error()};
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

// What work() returns, or the error of the Failed that it throws.
template <typename Work>
auto attempt(Work&& work) -> Result<std::invoke_result_t<Work>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      work();
      return {};
    } else {
      return work();
    }
  } catch (Failed& failed) {
    return std::move(failed.error);
  }
}

}  // namespace plackett
