#include "http/exchange.h"

#include <fmt/format.h>

namespace plackett::http {
namespace {

unsigned status_of(ErrorCode code) {
  // In the order of ErrorCode.
  constexpr unsigned kStatuses[] = {400, 404, 409, 413, 429, 503, 503};
  static_assert(std::size(kStatuses) == static_cast<std::size_t>(ErrorCode::kStopped) + 1);
  return kStatuses[static_cast<std::size_t>(code)];
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
  if (!model) throw Failed{{ErrorCode::kNotFound, fmt::format("no model \"{}\"", segment(1))}};
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
  const unsigned code = status_of(error.code);
  fail(code, error.message, error.where);
  if (code == 429 || code == 503) response.set(Field::retry_after, "1");
}

}  // namespace plackett::http
