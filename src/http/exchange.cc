#include "http/exchange.h"

#include <fmt/format.h>

#include "http/error_text.h"

namespace plackett::http {
namespace {

unsigned status_of(serving::Refusal kind) {
  switch (kind) {
    case serving::Refusal::kInvalid:
      return 400;
    case serving::Refusal::kUnknown:
      return 404;
    case serving::Refusal::kConflict:
      return 409;
    case serving::Refusal::kTooLarge:
      return 413;
    case serving::Refusal::kBusy:
      return 429;
    case serving::Refusal::kUnavailable:
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

void Exchange::refuse(const serving::Refused& refused) {
  const unsigned status = status_of(refused.kind);
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
