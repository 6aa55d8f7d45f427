// The service over TLS, with a certificate made for the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "http/service.h"

namespace plackett {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using testing::Connection;
using ::testing::HasSubstr;
using testing::NoAnswer;
using testing::request_bytes;
using testing::Server;
using ::testing::StartsWith;
using testing::TemporaryFolder;

// Writes a key, and a certificate for it that it signs itself.
void write_certificate(const std::string& cert_path, const std::string& key_path,
                       EVP_PKEY* made = EVP_EC_gen("P-256")) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(made, EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> cert(X509_new(), X509_free);
  X509_set_version(cert.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
  X509_NAME* name = X509_get_subject_name(cert.get());
  const unsigned char common_name[] = "localhost";
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0);
  X509_set_issuer_name(cert.get(), name);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
  X509_set_pubkey(cert.get(), key.get());
  X509_sign(cert.get(), key.get(), EVP_sha256());
  const auto write = [](const std::string& path, const auto& put) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(put(file), 1);
    std::fclose(file);
  };
  write(cert_path, [&](std::FILE* file) { return PEM_write_X509(file, cert.get()); });
  write(key_path, [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

class Tls : public ::testing::Test {
 protected:
  Tls() { write_certificate(folder / "cert.pem", folder / "key.pem"); }

  [[nodiscard]] std::vector<std::string> arguments() const {
    return {"--tls-cert",       folder / "cert.pem", "--tls-key",
            folder / "key.pem", "--request-seconds", "1"};
  }

  // All that the server says to the bytes, until it closes. Throws where there is no handshake,
  // or the server has another certificate.
  [[nodiscard]] std::string over_tls(const Server& server, const std::string& bytes,
                                     int version) const {
    asio::io_context io;
    ssl::context context(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context.native_handle(), version);
    SSL_CTX_set_max_proto_version(context.native_handle(), version);
    SSL_CTX_set_security_level(context.native_handle(), 0);
    context.set_verify_mode(ssl::verify_peer);
    context.load_verify_file(trusted);
    ssl::stream<asio::ip::tcp::socket> stream(io, context);
    stream.next_layer().connect({asio::ip::address_v4::loopback(), server.port()});
    stream.handshake(ssl::stream_base::client);
    asio::write(stream, asio::buffer(bytes));
    std::string said;
    boost::system::error_code ended;
    asio::read(stream, asio::dynamic_buffer(said), ended);
    return said;
  }

  TemporaryFolder folder;
  std::string trusted = folder / "cert.pem";
};

const std::string kHealth = request_bytes("GET", "/health", "", {{"Connection", "close"}});

TEST_F(Tls, CarriesRequests) {
  const Server server(arguments());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_THAT(over_tls(server, kHealth, version), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  const std::string spec = testing::shop().dump();
  const std::string body = testing::Json{{"items", testing::items(6)}}.dump();
  const std::string both =
      request_bytes("PUT", "/models/shop", spec) +
      request_bytes("POST", "/models/shop/rank", body, {{"Connection", "close"}});
  const std::string said = over_tls(server, both, TLS1_3_VERSION);
  EXPECT_THAT(said, StartsWith("HTTP/1.1 201 Created\r\n"));
  EXPECT_THAT(said, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(said, HasSubstr("\"impression\""));
}

TEST_F(Tls, ShowsTheCertificateAndStopsCleanly) {
  Server server(arguments());
  write_certificate(folder / "other.pem", folder / "other_key.pem");
  trusted = folder / "other.pem";
  EXPECT_ANY_THROW((void)over_tls(server, kHealth, TLS1_3_VERSION)) << "no client looks at it";
  EXPECT_EQ(server.stop(), 0) << server.error_output();
}

TEST_F(Tls, ShowsTheNewCertificateAfterAReload) {
  Server server(arguments());
  EXPECT_THAT(over_tls(server, kHealth, TLS1_3_VERSION), HasSubstr("200 OK"));
  write_certificate(folder / "cert.pem", folder / "key.pem");  // which is trusted from now on
  EXPECT_ANY_THROW((void)over_tls(server, kHealth, TLS1_3_VERSION));
  EXPECT_THAT(server.reload(), HasSubstr("read again"));
  EXPECT_THAT(over_tls(server, kHealth, TLS1_3_VERSION), HasSubstr("200 OK"));
  write_certificate(folder / "other.pem", folder / "key.pem");
  EXPECT_THAT(server.reload(), HasSubstr("key.pem: not a private key in PEM, or not that of"));
  EXPECT_THAT(over_tls(server, kHealth, TLS1_3_VERSION), HasSubstr("200 OK"));
  EXPECT_EQ(server.stop(), 0) << server.error_output();
}

TEST_F(Tls, NeedsTheCertificatesOwnKey) {
  for (EVP_PKEY* other : {EVP_EC_gen("P-256"), EVP_RSA_gen(2048)}) {
    write_certificate(folder / "other.pem", folder / "other_key.pem", other);
    const auto run = testing::run_command("serve --port 0 --db '" + (folder / "x.db") +
                                          "' --tls-cert '" + (folder / "cert.pem") +
                                          "' --tls-key '" + (folder / "other_key.pem") + "'");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("other_key.pem: not "));
    EXPECT_THAT(run.err, HasSubstr("of " + (folder / "cert.pem")));
  }
}

TEST_F(Tls, IsNotReadFromAPipe) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string& arguments :
       {"--tls-key '" + (folder / "pipe") + "' --tls-cert '" + (folder / "cert.pem") + "'",
        "--tls-key '" + (folder / "key.pem") + "' --tls-cert '" + (folder / "pipe") + "'",
        "--tokens '" + (folder / "pipe") + "'"}) {
    const auto run =
        testing::run_command("serve --port 0 --db '" + (folder / "x.db") + "' " + arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("pipe: not a regular file")) << arguments;
  }
}

TEST_F(Tls, OfOldVersionsIsRefused) {
  const Server server(arguments());
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    EXPECT_ANY_THROW((void)over_tls(server, kHealth, version));
  }
  EXPECT_THAT(over_tls(server, kHealth, TLS1_3_VERSION), HasSubstr("200 OK"));
}

TEST_F(Tls, IsNotLeftOutByClientsWithoutIt) {
  const Server server(arguments());
  Connection plain(server.port());
  plain.send(kHealth);
  EXPECT_THROW((void)plain.read_answer(), NoAnswer);
  Connection silent(server.port());
  EXPECT_TRUE(silent.closes()) << "a handshake that never comes";
  EXPECT_THAT(over_tls(server, kHealth, TLS1_3_VERSION), HasSubstr("200 OK"));
}

TEST_F(Tls, DoesNotStartWithoutItsFiles) {
  write_certificate(folder / "other.pem", folder / "other_key.pem");
  const auto refusal = [&](const std::string& cert, const std::string& key) {
    const auto run = testing::run_command("serve --port 0 --db '" + (folder / "db") + "'" +
                                          (cert.empty() ? "" : " --tls-cert '" + cert + "'") +
                                          (key.empty() ? "" : " --tls-key '" + key + "'"));
    EXPECT_EQ(run.exit_code, 2);
    return run.err;
  };
  const std::string cert = folder / "cert.pem";
  const std::string key = folder / "key.pem";
  EXPECT_THAT(refusal(cert, ""), HasSubstr("--tls-key"));
  EXPECT_THAT(refusal("", key), HasSubstr("--tls-cert"));
  EXPECT_THAT(refusal(folder / "none.pem", key), HasSubstr("none.pem"));
  EXPECT_THAT(refusal(key, key), HasSubstr("key.pem: not a certificate"));
  EXPECT_THAT(refusal(cert, cert), HasSubstr("cert.pem: not a private key"));
  EXPECT_THAT(refusal(cert, folder / "other_key.pem"), HasSubstr("other_key.pem"));
}

}  // namespace
}  // namespace plackett
