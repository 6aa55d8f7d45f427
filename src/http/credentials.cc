#include "http/credentials.h"

#include <fmt/format.h>

#include "base/attempt.h"
#include "base/file.h"

namespace plackett::http {
namespace {

namespace ssl = boost::asio::ssl;

// Throws Failed.
std::shared_ptr<ssl::context> make_tls(const std::string& cert, const std::string& key) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  const auto require = [&](const std::string& rule) {
    if (error) throw Failed{Error{fmt::format("{}: {}", rule, error.message())}};
  };
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | SSL_OP_NO_RENEGOTIATION,
                       error);
  require("TLS");
  context->use_certificate_chain(boost::asio::buffer(take(read_file(cert))), error);
  require(cert + ": not a certificate in PEM");
  context->use_private_key(boost::asio::buffer(take(read_file(key))), ssl::context::pem, error);
  require(fmt::format("{}: not a private key in PEM, or not that of {}", key, cert));
  // A key of another kind than the certificate's would be kept for another certificate.
  if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
    throw Failed{Error{fmt::format("{}: not the private key of {}", key, cert)}};
  }
  return context;
}

}  // namespace

Result<std::shared_ptr<const Credentials>> Credentials::load(const ServerOptions& options) {
  return attempt([&]() -> std::shared_ptr<const Credentials> {
    auto made = std::make_shared<Credentials>();
    if (!options.tokens.empty()) made->tokens = take(Tokens::load(options.tokens));
    if (!options.tls_cert.empty()) {
      made->tls = make_tls(options.tls_cert.string(), options.tls_key.string());
    }
    return made;
  });
}

}  // namespace plackett::http
