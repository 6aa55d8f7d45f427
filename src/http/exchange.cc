#include "http/exchange.h"

#include <fmt/format.h>

#include "http/error_text.h"

namespace plackett::http {
namespace {

unsigned status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kConflict:
      return 409;
    case ErrorCode::kTooLarge:
      return 413;
    case ErrorCode::kBusy:
      return 429;
    case ErrorCode::kUnavailable:
    case ErrorCode::kStopped:
      return 503;
  }
  return 500;
}

}  // namespace

void Exchange::fail(unsigned status, std::string_view message, std::string_view where) {
  response.clear();
  response.status = status;
  write_error(response.body, status, message, where);
}

void Exchange::refuse(const Error& refused) {
  const unsigned status = status_of(refused.code);
  fail(status, refused.message, refused.where);
  if (status == 429) response.headers += "Retry-After: 1\r\n";
}

serving::ModelHandle Exchange::model() {
  serving::ModelHandle model = site.service.find(segment(1));
  if (!model) fail(404, fmt::format("no model \"{}\"", segment(1)));
  return model;
}

void Exchange::handle(const Route& route) {
  deferred_ = false;
  ++number_;
  guarded([&] { route.handle(*this); });
  if (!deferred_) send();
}

void Exchange::fail_inside(const char* what) {
  deferred_ = false;
  ++number_;
  fail(500, fmt::format("the server failed: {}", what));
}

}  // namespace plackett::http
