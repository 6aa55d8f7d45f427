// The body of feedback, in its three forms.
#include "http/requests.h"

#include <gtest/gtest.h>

#include <string>

namespace plackett::http {
namespace {

Result<std::vector<serving::FeedbackEvent>> read(const std::string& body) {
  JsonReader json;
  return read_feedback_request(json, simdjson::padded_string(body));
}

std::string where(const std::string& body) {
  const auto events = read(body);
  return events ? "taken" : events.error().where;
}

TEST(FeedbackRequest, IsOneEventAnArrayOrAnObjectOfThem) {
  const std::string event =
      R"({"event_id": "e", "impression": "i-1", "item": "a", "event": "view"})";
  for (const std::string& body : {event, "[" + event + "]", "{\"events\": [" + event + "]}"}) {
    const auto events = read(body);
    ASSERT_TRUE(events.ok()) << body;
    ASSERT_EQ(events->size(), 1U);
    EXPECT_EQ((*events)[0].impression, "i-1");
    EXPECT_EQ((*events)[0].item, "a");
    EXPECT_EQ((*events)[0].event_id, "e");
    EXPECT_EQ((*events)[0].kind, serving::EventKind::kView);
  }
}

TEST(FeedbackRequest, OfACloseHasNoItem) {
  for (const char* body : {R"({"impression": "i-1", "event": "close"})",
                           R"({"impression": "i-1", "event": "close", "item": "a"})",
                           R"({"impression": "i-1", "event": "close", "item": null})"}) {
    const auto events = read(body);
    ASSERT_TRUE(events.ok()) << body;
    EXPECT_TRUE((*events)[0].item.empty()) << body;
  }
}

TEST(FeedbackRequest, SaysWhereItIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"impression": "i", "event": "click"})", "item"},
      {R"({"event": "close"})", "impression"},
      {R"({"impression": "i", "item": "a"})", "event"},
      {R"([{"impression": "i", "event": "close"}, {"impression": "i", "event": "buy!"}])",
       "[1].event"},
      {R"({"events": [{"impression": "", "event": "close"}]})", "events[0].impression"},
      {R"({"events": [{"impression": "i", "event": "view"}]})", "events[0].item"},
      {R"({"events": [5]})", "events[0]"},
      {R"({"events": [], "more": 1})", "more"},
      {R"({"events": {}})", "events"},
      {R"({"impression": "i", "event": "close", "event_id": 5})", "event_id"},
      {R"([])", ""},
      {R"({"events": [{"impression": "i", "event": "close"}], "impression": "i"})", ""},
  };
  for (const auto& [body, place] : cases) EXPECT_EQ(where(body), place) << body;
}

TEST(FeedbackRequest, HasABoundedNumberOfEvents) {
  const std::string event = R"({"impression":"i","event":"close"})";
  std::string all = event;
  for (std::size_t at = 1; at < kMaxEvents; ++at) all += "," + event;
  EXPECT_TRUE(read("[" + all + "]").ok());
  const auto more = read("[" + all + "," + event + "]");
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace plackett::http
