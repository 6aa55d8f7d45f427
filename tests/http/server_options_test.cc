#include <gtest/gtest.h>

#include "http/server.h"
#include "support/sound_options.h"

namespace plackett {
namespace {

TEST(ServeOptions, TheirDefaultsAndBoundsReadBackAndNothingElseDoes) {
  testing::expect_sound(http::server_options(),
                        {"host", "allow-host", "tokens", "tls-cert", "tls-key", "request-log"});
  testing::expect_sound(serving::service_options(), {"node-name"});
}

TEST(ServeOptions, TakeSizesWithUnitsAndRefuseOthersWithTextAndRule) {
  http::ServerOptions server;
  const auto body = [&server](std::string_view text) {
    return testing::refusal(http::server_options(), server, "max-body", text);
  };
  EXPECT_EQ(body("64K"), "");
  EXPECT_EQ(server.limits.body_bytes, 65'536U);
  EXPECT_EQ(body("1500"), "");
  EXPECT_EQ(server.limits.body_bytes, 1500U);
  for (const char* text : {"", "K", "1Q", "-1", "1.5M", "1023", "99999999999T"}) {
    EXPECT_EQ(body(text),
              std::string(text) + "; expected bytes as 1500, 64K, 500M or 20G, at least 1K");
  }
  EXPECT_EQ(server.limits.body_bytes, 1500U);
}

TEST(ServeOptions, TakeTimesAboveZeroAndUpToADay) {
  http::ServerOptions server;
  const auto idle = [&server](std::string_view text) {
    return testing::refusal(http::server_options(), server, "idle-seconds", text);
  };
  EXPECT_EQ(idle("0.5"), "");
  EXPECT_EQ(idle("86400"), "");
  for (const char* text : {"0", "-1", "nan", "inf", "86401"}) {
    EXPECT_EQ(idle(text), std::string(text) + "; expected a number above 0, at most 86400");
  }
}

TEST(ServeOptions, TakeSeveralHosts) {
  http::ServerOptions server;
  EXPECT_EQ(testing::refusal(http::server_options(), server, "allow-host", "a.b, c.d"), "");
  EXPECT_EQ(server.allow_hosts, (std::vector<std::string>{"a.b", "c.d"}));
}

}  // namespace
}  // namespace plackett
