// How other threads reach a thread of the server's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <utility>

namespace plackett::http {

// Outlives the thread: what is posted after close() is dropped.
class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& io) : io_(&io) {}

  template <typename Work>
  void post(Work&& work) {
    const std::lock_guard lock(mutex_);
    if (io_ != nullptr) boost::asio::post(*io_, std::forward<Work>(work));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    io_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

}  // namespace plackett::http
