// One request and its answer, as a handler sees them.
#pragma once

#include <simdjson.h>

#include <atomic>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/dynamic_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/attempt.h"
#include "http/awaitable.h"
#include "http/credentials.h"
#include "http/json_writer.h"
#include "http/site.h"
#include "http/target.h"
#include "plackett/result.h"

namespace plackett::http {

using Field = boost::beast::http::field;
// Its body grows with the bytes that arrive, not with the length that the header announces.
using RequestBody = boost::beast::http::basic_dynamic_body<boost::beast::flat_buffer>;
using Request = boost::beast::http::request<RequestBody>;
using Response = boost::beast::http::response<boost::beast::http::string_body>;

inline std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Belongs to the connection's thread. A handler fills `response`, which is an empty 200 of JSON.
struct Exchange {
  Site& site;
  Scratch& scratch;
  const std::shared_ptr<const Credentials>& credentials;  // the thread's
  std::shared_ptr<boost::asio::io_context> io;            // the thread's
  Request* request = nullptr;
  Target target{};
  Grant grant{};  // of the request's token; of no role where none is asked for
  Response response{};

  // A decoded segment of the path, from 0. Requires: the route's pattern has as many.
  [[nodiscard]] const std::string& segment(std::size_t at) const { return target.segments[at]; }
  // A header field; empty if absent.
  [[nodiscard]] std::string_view header(Field name) const { return view((*request)[name]); }
  [[nodiscard]] simdjson::padded_string_view body() const;
  // The model that the path names. Throws Failed if there is none.
  [[nodiscard]] serving::ModelHandle model() const;

  // Writes the answer.
  JsonWriter json() { return JsonWriter(response.body()); }
  void status(unsigned code) { response.result(code); }
  // The answer is an error. `where`: the place in the body, if any.
  void fail(unsigned code, std::string_view message, std::string_view where = {});
  void refuse(const Error& error);

  // Calls (service.*method)(arguments..., done) and waits for done's value. Throws Failed on an
  // error.
  template <typename T, typename Method, typename... Arguments>
  Awaitable<T> ask(Method method, Arguments&&... arguments) {
    const auto call = [&](serving::Done<T> done) {
      (site.service.*method)(std::forward<Arguments>(arguments)..., std::move(done));
    };
    co_return co_await wait_for<T>(call);
  }

  // Waits for what `work` gives, which may read the store: on the service's thread for that.
  // Throws Failed on an error.
  template <typename T>
  Awaitable<T> read(std::function<Result<T>()> work) {
    const auto call = [&](serving::Done<T> done) {
      site.service.read<T>(std::move(work), std::move(done));
    };
    co_return co_await wait_for<T>(call);
  }

 private:
  // Calls call(done) and waits for done's value.
  template <typename T, typename Call>
  Awaitable<T> wait_for(const Call& call) {
    const auto start = [&](auto handler) {
      struct Shared {
        decltype(handler) resume;
        std::atomic<bool> answered{false};
      };
      // `done` may outlive the thread: it holds the context, and counts as work of it.
      auto shared = std::shared_ptr<Shared>(new Shared{std::move(handler)});
      serving::Done<T> done = [shared, io = io,
                               work = boost::asio::make_work_guard(*io)](Result<T> result) {
        if (shared->answered.exchange(true)) return;
        boost::asio::post(*io, [shared, result = std::move(result)]() mutable {
          shared->resume(std::move(result));
        });
      };
      // No exception may leave this function: Asio 1.74 would end the process.
      try {
        call(done);
      } catch (const std::exception&) {
        done(Error{ErrorCode::kUnavailable, "not enough memory for this request"});
      }
    };
    auto result = co_await boost::asio::async_initiate<const UseAwaitable, void(Result<T>)>(
        start, kAwaitable);
    co_return take(std::move(result));
  }
};

}  // namespace plackett::http
