#include "http/tls.h"

#include <fmt/format.h>

namespace plackett::http {

Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::filesystem::path& cert,
                                                            const std::filesystem::path& key) {
  namespace ssl = boost::asio::ssl;
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | SSL_OP_NO_RENEGOTIATION,
                       error);
  if (error) return Error{fmt::format("TLS: {}", error.message())};
  context->use_certificate_chain_file(cert.string(), error);
  if (error) {
    return Error{fmt::format("{}: no certificate in PEM: {}", cert.string(), error.message())};
  }
  context->use_private_key_file(key.string(), ssl::context::pem, error);
  if (error) {
    return Error{fmt::format("{}: no private key in PEM, or not the certificate's: {}",
                             key.string(), error.message())};
  }
  return context;
}

}  // namespace plackett::http
