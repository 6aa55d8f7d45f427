// Coroutines on the server's threads. Each thread runs an io_context of its own.
#pragma once

// Asio's coroutine headers need <utility>, and 1.74 does not include it.
#include <utility>
// Keeps the order.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace plackett::http {

using Executor = boost::asio::io_context::executor_type;
template <typename T>
using Awaitable = boost::asio::awaitable<T, Executor>;
using UseAwaitable = boost::asio::use_awaitable_t<Executor>;
inline constexpr UseAwaitable kAwaitable;

// Completes without an exception: `error` says what went wrong.
inline auto into(boost::system::error_code& error) {
  return boost::asio::redirect_error(kAwaitable, error);
}

}  // namespace plackett::http
