// The bytes of one request, turned into a Request.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>

#include "http/request.h"

namespace plackett::http {

// Beast's parser, with only what the server looks at kept. One a request; the Request belongs to
// the caller and is filled in place. is_header_done(), is_done(), keep_alive() and put() are
// Beast's own.
class RequestReader final : public boost::beast::http::basic_parser<true> {
 public:
  using ErrorCode = boost::beast::error_code;

  struct Limits {
    std::uint32_t header_bytes = 16 * 1024;
    std::uint64_t body_bytes = 16 * 1024 * 1024;
  };
  RequestReader(Request& request, const Limits& limits);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader() override = default;

 private:
  using Field = boost::beast::http::field;
  using Text = boost::beast::string_view;

  void on_request_impl(Verb verb, Text verb_text, Text target, int version,
                       ErrorCode& error) override;
  void on_response_impl(int, Text, int, ErrorCode&) override {}
  void on_field_impl(Field name, Text name_text, Text value, ErrorCode& error) override;
  void on_header_impl(ErrorCode& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, ErrorCode& error) override;
  std::size_t on_body_impl(Text bytes, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t remain, Text bytes, ErrorCode& error) override;
  void on_finish_impl(ErrorCode&) override {}

  Request& request_;
  int version_ = 11;
  bool in_header_ = true;
};

}  // namespace plackett::http
