// Sound requests, changed at random: never a crash, and always an answer as the API gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "http/hostile.h"

namespace plackett {
namespace {

using testing::Answer;
using testing::Connection;
using testing::event;
using testing::HttpClient;
using testing::IsProper;
using testing::items;
using testing::Json;
using testing::NoAnswer;
using testing::request_bytes;

class HostileMutations : public testing::HostileTest {
 protected:
  struct Sample {
    std::string method;
    std::string target;
    std::string body;
  };

  HostileMutations() {
    HttpClient client = server.client();
    client.put("/models/shop/items", {{"items", items(5)}});
    const Json ranking =
        client.post("/models/shop/rank", {{"items", items(5)}, {"id", "shown"}}).json();
    const std::string file = client.get("/models/shop/export").body;
    const Json wanted = {{"items", {"a", {{"id", "b"}}, items(5)[3], items(5)[4]}},
                         {"k", 3},
                         {"mode", "explore"},
                         {"context", {{"query", "shoes"}}},
                         {"pinned", {{{"id", "b"}, {"rank", 2}}}},
                         {"blocked", {"e"}}};
    const Json spec = {{"features", {"price", "rating"}},
                       {"ranker", "neural"},
                       {"hidden", {4}},
                       {"activation", "relu"},
                       {"learner", "pdgd"},
                       {"settings", {{"steps", "adagrad"}}},
                       {"learning_rate", 0.1},
                       {"k", 3},
                       {"scaling", "none"},
                       {"seed", 3}};
    const Json named = {{"items", {{{"id", "n"}, {"features", {{"price", 1.5}, {"rating", 2}}}}}}};
    samples = {
        {"POST", "/models/shop/rank", wanted.dump()},
        {"POST", "/models/shop/rank", Json{{"items", items(5)}}.dump()},
        {"PUT", "/models/shop/items", Json{{"items", items(5)}}.dump()},
        {"PUT", "/models/shop/items", named.dump()},
        {"POST", "/models/shop/feedback",
         Json{event(ranking, "click", "a"), event(ranking, "view", "b")}.dump()},
        {"POST", "/models/shop/feedback",
         Json{{"events", Json::array({event(ranking, "close")})}}.dump()},
        {"PUT", "/models/other", spec.dump()},
        {"POST", "/models/shop/snapshots", R"({"note": "once"})"},
        {"POST", "/models/shop/rollback", R"({"snapshot": 1})"},
        {"POST", "/models/shop/import", file},
        {"GET", "/models/shop/impressions/shown?limit=3&clicked=true", ""},
        {"GET", "/models/shop/stats?points=20", ""},
    };
  }

  std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  }

  // One to three changes.
  std::string changed(std::string text) {
    static const std::vector<std::string> kPieces = {
        "\"",         "\\", "{",     "}",   "[",    "]",   ":",       ",",      "null",
        "true",       "-",  "1e999", "NaN", "0.1",  "-1",  "1e-9999", "\xFF",   "\xC3",
        "\n",         " ",  "%",     "\\u", "\\ud", "i-1", "/",       "..",     "\"a\"",
        "4294967296", "{}", "[]",    "?",   "\r\n", "&",   "\x01",    "\x7F\0", "9007199254740993"};
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(text.size() + 1);
      const std::size_t size = below(std::min<std::size_t>(8, text.size() - at) + 1);
      switch (below(6)) {
        case 0:
          text.insert(at, kPieces[below(kPieces.size())]);
          break;
        case 1:
          text.replace(at, size, kPieces[below(kPieces.size())]);
          break;
        case 2:
          text.erase(at, size);
          break;
        case 3:
          text.insert(at, text.substr(at, size));
          break;
        case 4:
          text.insert(at, 1, static_cast<char>(below(256)));
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      }
    }
    return text;
  }

  std::vector<Sample> samples;
  std::minstd_rand random{20180};
};

TEST_F(HostileMutations, OfBodiesAreAnsweredAsTheApiAnswers) {
  HttpClient client = server.client();
  int refused = 0;
  for (int round = 0; round < 1'400; ++round) {
    const Sample& sample = samples[below(samples.size())];
    const std::string body = changed(sample.body);
    Answer answer;
    ASSERT_NO_THROW(answer = client.send(sample.method, sample.target, body))
        << round << " " << sample.target << " " << Json::binary({body.begin(), body.end()});
    ASSERT_THAT(answer, IsProper()) << round << " " << sample.target << " " << body;
    if (answer.status >= 400) ++refused;
  }
  EXPECT_GT(refused, 300) << "the changes change nothing";
}

TEST_F(HostileMutations, OfTargetsAreAnsweredAsTheApiAnswers) {
  int answered = 0;
  for (int round = 0; round < 200; ++round) {
    const Sample& sample = samples[below(samples.size())];
    Connection connection(server.port());
    connection.send(request_bytes(sample.method, changed(sample.target), sample.body));
    connection.finish_sending();
    try {
      ASSERT_THAT(connection.read_answer(), IsProper()) << round;
      ++answered;
    } catch (const NoAnswer& none) {
      ADD_FAILURE() << round << ": " << none.what();
    }
  }
  EXPECT_GT(answered, 150);
}

// Such requests may have no end that the server could see; then it may say nothing.
TEST_F(HostileMutations, OfWholeRequestsDoNoHarm) {
  int answered = 0;
  for (int round = 0; round < 400; ++round) {
    const Sample& sample = samples[below(samples.size())];
    const std::string bytes = changed(request_bytes(sample.method, sample.target, sample.body,
                                                    {{"Content-Type", "application/json"}}));
    Connection connection(server.port());
    connection.send(bytes);
    connection.finish_sending();
    try {
      ASSERT_THAT(connection.read_answer(), IsProper()) << round << " " << bytes;
      ++answered;
    } catch (const NoAnswer&) {
      ASSERT_TRUE(server.runs()) << round << " " << server.error_output();
    }
  }
  EXPECT_GT(answered, 250);
}

}  // namespace
}  // namespace plackett
