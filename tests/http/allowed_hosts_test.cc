// By which names a server on loopback may be asked for.
#include "http/allowed_hosts.h"

#include <gtest/gtest.h>

namespace plackett::http {
namespace {

bool is_local(std::string_view host, const std::vector<std::string>& others = {}) {
  return is_local_name(host_name(host), others);
}

TEST(AllowedHosts, AreThoseOfLoopbackAtAnyPort) {
  for (const std::string_view host :
       {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:80", "127.8.9.10:1", "[::1]",
        "[::1]:8080", "localhost:", "[0:0:0:0:0:0:0:1]"}) {
    EXPECT_TRUE(is_local(host)) << host;
  }
}

TEST(AllowedHosts, AreNotThoseThatOnlyLookLikeThem) {
  for (const std::string_view host : {"",
                                      ":80",
                                      "elsewhere.example",
                                      "elsewhere.example:8080",
                                      "localhost.elsewhere.example",
                                      "elsewhere.localhost",
                                      "127.0.0.1.elsewhere.example",
                                      "127.elsewhere.example",
                                      "127.1",
                                      "128.0.0.1",
                                      "10.0.0.1",
                                      "0.0.0.0",
                                      "[::2]",
                                      "[::1",
                                      "[::1]x",
                                      "[::1].elsewhere.example",
                                      "::1",
                                      "[]",
                                      "[",
                                      "localhost:80:80",
                                      "localhost:elsewhere.example",
                                      "localhost@elsewhere",
                                      "[localhost]",
                                      "[127.0.0.1]",
                                      "2130706433",
                                      "0x7f.0.0.1"}) {
    EXPECT_FALSE(is_local(host)) << host;
  }
}

TEST(AllowedHosts, AreThoseThatWereNamedToo) {
  const std::vector<std::string> others = {"shop.example", "[fd00::1]"};
  EXPECT_TRUE(is_local("shop.example", others));
  EXPECT_TRUE(is_local("SHOP.example:443", others));
  EXPECT_TRUE(is_local("[fd00::1]:8080", others));
  EXPECT_TRUE(is_local("localhost", others));
  EXPECT_FALSE(is_local("a.shop.example", others));
  EXPECT_FALSE(is_local("shop.example.elsewhere.example", others));
}

TEST(AllowedHosts, AreAskedForOnLoopbackAddressesAlone) {
  using boost::asio::ip::make_address;
  EXPECT_TRUE(is_loopback(make_address("127.0.0.1")));
  EXPECT_TRUE(is_loopback(make_address("127.3.0.1")));
  EXPECT_TRUE(is_loopback(make_address("::1")));
  EXPECT_TRUE(is_loopback(make_address("::ffff:127.0.0.1")));
  EXPECT_FALSE(is_loopback(make_address("0.0.0.0")));
  EXPECT_FALSE(is_loopback(make_address("::")));
  EXPECT_FALSE(is_loopback(make_address("10.0.0.1")));
}

}  // namespace
}  // namespace plackett::http
