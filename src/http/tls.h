// TLS: the certificate that the server shows.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>

#include "plackett/result.h"

namespace plackett::http {

// TLS 1.2 and 1.3. `cert`: PEM, the server's certificate and what leads to a known one; `key`:
// PEM, its private key.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::filesystem::path& cert,
                                                            const std::filesystem::path& key);

}  // namespace plackett::http
