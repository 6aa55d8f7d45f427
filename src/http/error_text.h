// The body of every answer of 400 and more.
#pragma once

#include <string>
#include <string_view>

#include "http/json_writer.h"

namespace plackett::http {

inline void write_error(std::string& out, unsigned status, std::string_view message,
                        std::string_view where = {}) {
  JsonWriter json(out);
  json.begin_object();
  json.key("error");
  json.begin_object();
  json.field("status", status);
  json.field("message", message);
  if (!where.empty()) json.field("where", where);
  json.end_object();
  json.end_object();
}

}  // namespace plackett::http
