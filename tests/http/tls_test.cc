// The server behind TLS, asked by a client that checks its certificate. Skipped without openssl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "support/child.h"
#include "support/http_client.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Tls : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string make =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost "
        "-addext subjectAltName=IP:127.0.0.1 -keyout '" +
        key() + "' -out '" + certificate() + "' 2>'" + (folder_ / "log") + "'";
    if (std::system(make.c_str()) != 0) GTEST_SKIP() << "no openssl";
  }

  [[nodiscard]] std::string key() const { return folder_ / "key.pem"; }
  [[nodiscard]] std::string certificate() const { return folder_ / "cert.pem"; }

  // What a Python client that trusts this certificate alone reads from the address.
  [[nodiscard]] std::string fetch(const std::string& address) const {
    const std::string script =
        "import ssl, sys, urllib.request as u\n"
        "context = ssl.create_default_context(cafile=sys.argv[1])\n"
        "print(u.urlopen(sys.argv[2], context=context, timeout=10).read().decode())\n";
    const std::string line = "python3 -c '" + script + "' '" + certificate() + "' '" + address +
                             "' >'" + (folder_ / "answer") + "' 2>&1";
    [[maybe_unused]] const int code = std::system(line.c_str());
    return testing::slurp(folder_ / "answer");
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Tls, ServesThoseWhoTrustItsCertificateAndOutlivesThoseWhoSpeakPlainly) {
  testing::Child child({"serve", "--db", folder_ / "db", "--port", "0", "--tls-cert", certificate(),
                        "--tls-key", key()},
                       folder_ / "out", folder_ / "err");
  const auto said = [&] { return testing::slurp(folder_ / "out"); };
  ASSERT_TRUE(testing::eventually([&] { return said().find('\n') != std::string::npos; }))
      << testing::slurp(folder_ / "err");
  ASSERT_THAT(said(), StartsWith("plackett serves https://127.0.0.1:"));
  const std::string address = said().substr(16, said().find('\n') - 16);
  EXPECT_THAT(fetch(address + "/health"), HasSubstr("\"status\":\"ok\""));
  const auto port = static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
  EXPECT_THROW(testing::HttpClient(port, "").get("/health"), testing::NoAnswer);
  EXPECT_THAT(fetch(address + "/models"), HasSubstr("\"models\":[]"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(Tls, AKeyThatIsNotTheCertificatesIsRefusedAtTheStart) {
  const std::string other =
      "openssl genrsa -out '" + (folder_ / "other.pem") + "' 2048 2>'" + (folder_ / "log") + "'";
  ASSERT_EQ(std::system(other.c_str()), 0);
  const auto run =
      testing::run_command("serve --port 0 --db '" + (folder_ / "db") + "' --tls-cert '" +
                           certificate() + "' --tls-key '" + (folder_ / "other.pem") + "'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("other.pem"));
}

}  // namespace
}  // namespace plackett
