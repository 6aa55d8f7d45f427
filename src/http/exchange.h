// One request and its answer, as a handler sees them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "http/mailbox.h"
#include "http/request.h"
#include "http/site.h"
#include "plackett/result.h"

namespace plackett::http {

// A handler fills `response` and returns; or it hands the service what later() made, returns, and
// the answer goes when the service has called that. All on the connection's thread.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Site& its_site, ThreadRoom& its_room, std::shared_ptr<Mailbox> mailbox)
      : site(its_site), room(its_room), mailbox_(std::move(mailbox)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  Site& site;
  ThreadRoom& room;
  Request request;
  Response response;

  // A decoded segment of the path, from 0. Requires: the route's pattern has as many.
  [[nodiscard]] const std::string& segment(std::size_t at) const {
    return request.target.segments[at];
  }

  // Answers with an error. `where`: the place in the body, if any.
  void fail(unsigned status, std::string_view message, std::string_view where = {});
  void refuse(const Error& refused);

  // The model that the path names; null, with 404 as the answer, where there is none.
  serving::ModelHandle model();

  // Makes what the service is to call with its answer: then(exchange, value) fills the response,
  // on the connection's thread; a refusal is answered without it.
  template <typename T, typename Then>
  serving::Done<T> later(Then then) {
    deferred_ = true;
    return [mailbox = mailbox_, weak = weak_from_this(), number = number_,
            then = std::move(then)](Result<T> answer) {
      mailbox->post([weak, number, then, answer = std::move(answer)]() mutable {
        const auto self = weak.lock();
        if (!self || self->number_ != number) return;
        self->guarded([&] {
          if (!answer) {
            self->refuse(answer.error());
          } else if constexpr (std::is_void_v<T>) {
            then(*self);
          } else {
            then(*self, *answer);
          }
        });
        self->send();
      });
    };
  }

 protected:
  // Sends the response.
  virtual void send() = 0;

  // Calls the handler, and sends what it answered at once.
  void handle(const Route& route);

 private:
  // No exception leaves a handler: what would is answered with 500.
  template <typename Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (const std::exception& error) {
      fail_inside(error.what());
    } catch (...) {
      fail_inside("unknown");
    }
  }
  void fail_inside(const char* what);

  std::shared_ptr<Mailbox> mailbox_;
  std::uint64_t number_ = 0;  // of the request; what comes late for another is dropped
  bool deferred_ = false;
};

}  // namespace plackett::http
