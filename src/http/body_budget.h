// Memory for the bodies of requests and answers, all connections together.
#pragma once

#include <atomic>
#include <cstdint>

namespace plackett::http {

class BodyBudget {
 public:
  explicit BodyBudget(std::uint64_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}

  // Takes the bytes, or none: false if fewer are left.
  bool take(std::uint64_t bytes) {
    if (left_.fetch_sub(static_cast<std::int64_t>(bytes)) >= static_cast<std::int64_t>(bytes)) {
      return true;
    }
    give_back(bytes);
    return false;
  }
  void give_back(std::uint64_t bytes) { left_.fetch_add(static_cast<std::int64_t>(bytes)); }

 private:
  std::atomic<std::int64_t> left_;
};

// What one connection has of it.
class BodyShare {
 public:
  explicit BodyShare(BodyBudget& budget) : budget_(budget) {}
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;
  ~BodyShare() { clear(); }

  bool add(std::uint64_t bytes) {
    if (!budget_.take(bytes)) return false;
    taken_ += bytes;
    return true;
  }
  void clear() {
    budget_.give_back(taken_);
    taken_ = 0;
  }

 private:
  BodyBudget& budget_;
  std::uint64_t taken_ = 0;
};

}  // namespace plackett::http
