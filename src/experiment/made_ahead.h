// A value that a thread of its own makes while the one before it is used.
#pragma once

#include <functional>
#include <future>
#include <new>
#include <system_error>
#include <utility>

#include "plackett/result.h"

namespace plackett {

template <typename T>
class MadeAhead {
 public:
  using Make = std::function<Result<T>()>;

  // Starts make(), if a thread can be had. What it refers to must outlive this, which waits for it.
  void start(Make make) {
    try {
      made_ = std::async(std::launch::async, std::move(make));
    } catch (const std::system_error&) {  // no thread
    } catch (const std::bad_alloc&) {
    }
  }

  // What was started, once. Calls make() if nothing was, or if there was no memory for it: to be
  // called when the value before is gone, whose memory may suffice.
  Result<T> get(const Make& make) {
    if (!made_.valid()) return make();
    try {
      auto made = made_.get();
      if (made || made.error().code != ErrorCode::kUnavailable) return made;
    } catch (const std::bad_alloc&) {
    }
    return make();
  }

 private:
  std::future<Result<T>> made_;
};

}  // namespace plackett
