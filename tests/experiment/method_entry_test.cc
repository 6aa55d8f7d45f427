#include "plackett/method_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plackett/comparison_spec.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

TEST(MethodEntry, ReadsMethodRankerAndSettingsInAnyOrder) {
  const MethodEntry plain = parse_method_entry("mgd").value();
  EXPECT_EQ(plain.method, "mgd");
  EXPECT_EQ(plain.ranker, RankerKind::kLinear);
  EXPECT_TRUE(plain.settings.empty());

  for (const char* text : {"mgd:neural:candidates=9:interleaving=team-draft",
                           "mgd:candidates=9:interleaving=team-draft:neural"}) {
    const MethodEntry entry = parse_method_entry(text).value();
    EXPECT_EQ(entry.ranker, RankerKind::kNeural);
    EXPECT_EQ(entry.settings,
              (std::vector<GivenSetting>{{"candidates", "9"}, {"interleaving", "team-draft"}}));
    EXPECT_EQ(to_text(entry), "mgd:neural:candidates=9:interleaving=team-draft");
  }
}

TEST(MethodEntry, WithoutARankerItIsTheMethodsOwn) {
  const MethodEntry cascade = parse_method_entry("cascade").value();
  EXPECT_EQ(cascade.ranker, RankerKind::kLinearPlusNeural);
  for (const char* text : {"cascade", "cascade:linear", "cascade:window=9", "pdgd:linear+neural"}) {
    EXPECT_EQ(to_text(parse_method_entry(text).value()), text);
  }
  EXPECT_EQ(to_text(parse_method_entry("cascade:linear+neural").value()), "cascade");
  EXPECT_EQ(to_text(parse_method_entry("pdgd:linear").value()), "pdgd");
}

TEST(MethodEntry, ErrorsNameWhatIsAllowed) {
  const auto error = [](const char* text) { return parse_method_entry(text).error().message; };
  EXPECT_THAT(error(""), HasSubstr("unknown method \"\"; known: cascade"));
  EXPECT_THAT(error("sgd"), HasSubstr("unknown method \"sgd\"; known: cascade"));
  EXPECT_THAT(error("mgd:tree"), HasSubstr("mgd:tree: unknown ranker \"tree\"; known: linear"));
  EXPECT_THAT(error("mgd:linear:linear"), HasSubstr("a method has one ranker"));
  EXPECT_THAT(error("mgd:speed=9"), HasSubstr("mgd:speed=9: unknown setting \"speed\"; known:"));
  EXPECT_THAT(error("mgd:candidates=many"), HasSubstr("candidates many; it must be an integer"));
  EXPECT_THAT(error("mgd::neural"), HasSubstr("unknown ranker \"\""));
  EXPECT_THAT(error("mgd:"), HasSubstr("unknown ranker \"\""));
}

TEST(MethodGroups, HoldEntriesThatAreSoundAndDiffer) {
  for (const MethodGroup& group : method_groups()) {
    const auto entries = parse_methods(group.name);
    ASSERT_TRUE(entries.ok());
    ASSERT_EQ(entries->size(), group.entries.size());
    ComparisonSpec spec = default_comparison();
    spec.methods.clear();
    for (std::size_t at = 0; at < entries->size(); ++at) {
      EXPECT_EQ(to_text(entries->at(at)), group.entries[at]);
      spec.methods.push_back({.entry = entries->at(at)});
    }
    const auto valid = check(spec);
    EXPECT_TRUE(valid.ok()) << valid.error().message;
  }
}

TEST(MethodGroups, OtherTextIsOneEntry) {
  const auto one = parse_methods("mgd:candidates=49");
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one->size(), 1U);
  EXPECT_EQ(to_text(one->front()), "mgd");
  EXPECT_FALSE(parse_methods("fields").ok());
  EXPECT_FALSE(parse_methods("field:neural").ok());
}

}  // namespace
}  // namespace plackett
