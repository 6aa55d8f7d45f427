#include "plackett/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plackett {
namespace {

using ::testing::HasSubstr;

TEST(Protocol, EveryCombinationHasANameThatReadsBack) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    const Protocol protocol{(bits & 1) != 0, (bits & 2) != 0,  (bits & 4) != 0,
                            (bits & 8) != 0, (bits & 16) != 0, (bits & 32) != 0};
    EXPECT_EQ(parse_protocol(name_of(protocol)).value(), protocol) << name_of(protocol);
  }
  EXPECT_EQ(name_of(Protocol::kDescribed), "described");
  EXPECT_EQ(name_of(Protocol::kPublished), "published");
  EXPECT_EQ(name_of({.stop = true, .ties = true}), "described+stop+ties");
}

TEST(Protocol, ErrorsNameWhatIsAllowed) {
  const auto error = [](const char* text) { return parse_protocol(text).error().message; };
  EXPECT_THAT(error("printed"), HasSubstr("unknown protocol \"printed\"; known: described, pub"));
  EXPECT_THAT(error(""), HasSubstr("unknown protocol"));
  EXPECT_THAT(error("published+stop"), HasSubstr("unknown protocol"));
  EXPECT_THAT(error("described+"),
              HasSubstr("unknown deviation \"\"; known: stop, reversed, decay"));
  EXPECT_THAT(error("described+stop+go"), HasSubstr("unknown deviation \"go\""));
}

TEST(Protocol, EachWayChangesItsRuleAlone) {
  EXPECT_EQ(rules_of({.stop = true}).stop_rule, StopRule::kAfterAnyDocument);
  EXPECT_EQ(rules_of({.stop = true}).methods.learning_rate_decay, 1);
  EXPECT_FALSE(rules_of({.stop = true}).methods.published_decay);
  EXPECT_EQ(rules_of({.decay = true}).methods.learning_rate_decay, 0.9999977);
  EXPECT_TRUE(rules_of({.decay = true}).methods.published_decay);
  EXPECT_EQ(rules_of({.start = true}).initialisation, Initialisation::kPublished);
  EXPECT_TRUE(rules_of({.start = true}).methods.published_start);
  EXPECT_FALSE(rules_of({.start = true}).methods.miscount);
  EXPECT_TRUE(rules_of({.miscount = true}).methods.miscount);
  EXPECT_TRUE(rules_of({.ties = true}).methods.ties_by_chance);
  EXPECT_FALSE(rules_of({.ties = true}).methods.exploit_worst_first);
  EXPECT_TRUE(rules_of({.reversed = true}).methods.exploit_worst_first);
}

}  // namespace
}  // namespace plackett
