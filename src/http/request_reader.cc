#include "http/request_reader.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/rfc7230.hpp>

namespace plackett::http {
namespace {

namespace beast = boost::beast;

// What a body's announced length may make us reserve before its bytes are there.
constexpr std::uint64_t kMostReserved = std::uint64_t{256} << 10;
// Memory for bodies that a connection keeps while it waits.
constexpr std::size_t kKeptBodyBytes = std::size_t{512} << 10;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

RequestReader::RequestReader(Request& request, const Limits& limits) : request_(request) {
  header_limit(limits.header_bytes);
  body_limit(limits.body_bytes);
  eager(false);
  request.verb = Verb::unknown;
  request.target_text.clear();
  request.host.clear();
  request.origin.clear();
  request.authorization.clear();
  request.if_none_match.clear();
  request.has_host = false;
  request.has_origin = false;
  request.expects_continue = false;
  request.expects_else = false;
  request.body.clear(kKeptBodyBytes);
}

void RequestReader::on_request_impl(Verb verb, Text, Text target, int version, ErrorCode& error) {
  error = {};
  request_.verb = verb;
  request_.target_text = view(target);
  version_ = version;
  request_.is_http10 = version < 11;
}

void RequestReader::on_field_impl(Field name, Text, Text value, ErrorCode& error) {
  error = {};
  if (!in_header_) return;  // a trailer
  switch (name) {
    case Field::host:
      if (request_.has_host) error = beast::http::error::bad_field;
      request_.has_host = true;
      request_.host = view(value);
      break;
    case Field::origin:
      if (request_.has_origin) error = beast::http::error::bad_field;
      request_.has_origin = true;
      request_.origin = view(value);
      break;
    case Field::authorization:
      if (!request_.authorization.empty()) error = beast::http::error::bad_field;
      request_.authorization = view(value);
      break;
    case Field::if_none_match:
      request_.if_none_match = view(value);
      break;
    case Field::expect:
      // RFC 9110 knows no other.
      request_.expects_else = !beast::iequals(value, "100-continue");
      request_.expects_continue = version_ >= 11;
      break;
    case Field::transfer_encoding:
      // Any other coding would hide where the body ends.
      if (!beast::iequals(value, "chunked")) error = beast::http::error::bad_transfer_encoding;
      break;
    default:
      break;
  }
}

void RequestReader::on_header_impl(ErrorCode& error) {
  in_header_ = false;
  error = {};
  if (version_ >= 11 && !request_.has_host) error = beast::http::error::bad_field;
}

void RequestReader::on_body_init_impl(const boost::optional<std::uint64_t>& length,
                                      ErrorCode& error) {
  error = {};
  if (length) request_.body.reserve(static_cast<std::size_t>(std::min(*length, kMostReserved)));
}

std::size_t RequestReader::on_body_impl(Text bytes, ErrorCode& error) {
  error = {};
  request_.body.append(view(bytes));
  return bytes.size();
}

std::size_t RequestReader::on_chunk_body_impl(std::uint64_t, Text bytes, ErrorCode& error) {
  return on_body_impl(bytes, error);
}

}  // namespace plackett::http
