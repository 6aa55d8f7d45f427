// A request as it was read, and the answer to it.
#pragma once

#include <boost/beast/http/verb.hpp>
#include <string>
#include <string_view>

#include "http/padded_text.h"
#include "http/target.h"

namespace plackett::http {

using Verb = boost::beast::http::verb;

// Reused between the requests of a connection.
struct Request {
  Verb verb = Verb::unknown;
  std::string target_text;
  Target target;
  std::string host;
  std::string origin;
  std::string authorization;
  std::string if_none_match;
  bool is_http10 = false;
  bool has_host = false;
  bool has_origin = false;
  bool expects_continue = false;
  bool expects_else = false;  // something that nobody knows
  PaddedText body;
};

struct Response {
  unsigned status = 200;
  std::string_view type = "application/json";  // static
  std::string body;
  std::string_view page;  // static, in place of the body where it is not empty
  std::string headers;    // further ones, each with its \r\n
  bool cacheable = false;
  bool is_page = false;  // HTML

  void clear() {
    status = 200;
    type = "application/json";
    body.clear();
    page = {};
    headers.clear();
    cacheable = false;
    is_page = false;
  }
};

}  // namespace plackett::http
