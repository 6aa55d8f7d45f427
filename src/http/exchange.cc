#include "http/exchange.h"

#include <fmt/format.h>

#include "http/json_writer.h"

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

simdjson::padded_string_view Exchange::body() const {
  auto& buffer = request->body();
  buffer.reserve(buffer.size() + simdjson::SIMDJSON_PADDING);
  return simdjson::padded_string_view(static_cast<const char*>(buffer.data().data()), buffer.size(),
                                      buffer.capacity());
}

serving::ModelHandle Exchange::model() const {
  serving::ModelHandle model = site.service.find(segment(1));
  if (!model) throw Refused{{ErrorCode::kNotFound, fmt::format("no model \"{}\"", segment(1))}};
  return model;
}

void Exchange::fail(unsigned code, std::string_view message, std::string_view where) {
  response = {};
  status(code);
  JsonWriter json(response.body());
  const auto write_fields = [&] {
    json.fields("status", code, "message", message);
    if (!where.empty()) json.fields("where", where);
  };
  json.object("error", [&] { json.object(write_fields); });
}

void Exchange::refuse(const Error& error) {
  fail(status_of(error.code), error.message, error.where);
  if (status_of(error.code) == 429 || status_of(error.code) == 503)
    response.set(Field::retry_after, "1");
}

}  // namespace plackett::http
