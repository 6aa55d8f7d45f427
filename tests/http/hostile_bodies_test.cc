// Bodies that no honest client sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/hostile.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using testing::Connection;
using testing::HasStatus;
using testing::HttpClient;
using testing::IsError;
using testing::IsErrorAt;
using testing::item;
using testing::items;
using testing::Json;
using testing::request_bytes;

using HostileBodies = testing::HostileTest;

constexpr std::size_t kHundredMegabytes = 100'000'000;
// What the server's memory may grow by at its peak; ThreadSanitizer keeps four bytes more for each.
#if defined(__SANITIZE_THREAD__)
constexpr long kMoreKib = 200'000;
#else
constexpr long kMoreKib = 40'000;
#endif

TEST_F(HostileBodies, OfAHundredMegabytesAreRefusedAndNotKept) {
  const long before = server.status("VmHWM");
  const std::string piece(1 << 16, '[');
  for (const auto& [method, target] :
       {std::pair("POST", "/models/shop/rank"), std::pair("PUT", "/models/shop/items"),
        std::pair("POST", "/models/shop/import"), std::pair("PUT", "/models/new"),
        std::pair("POST", "/nowhere"), std::pair("GET", "/health")}) {
    Connection connection(server.port());
    connection.send(
        request_bytes(method, target, "", {{"Content-Length", std::to_string(kHundredMegabytes)}}));
    for (std::size_t sent = 0; sent < kHundredMegabytes; sent += piece.size()) {
      if (!connection.send(piece)) break;
    }
    EXPECT_THAT(connection.read_answer(), AnyOf(IsError(413), IsError(404))) << target;
    EXPECT_TRUE(connection.closes()) << target << ": the rest must not be read as a request";
  }
  EXPECT_LT(server.status("VmHWM") - before, kMoreKib);
}

TEST_F(HostileBodies, OfAHundredMegabytesInChunksAreRefusedAndNotKept) {
  const long before = server.status("VmHWM");
  const std::string piece = "10000\r\n" + std::string(1 << 16, '[') + "\r\n";
  Connection connection(server.port());
  connection.send(
      request_bytes("POST", "/models/shop/rank", "", {{"Transfer-Encoding", "chunked"}}));
  for (std::size_t sent = 0; sent < kHundredMegabytes; sent += piece.size()) {
    if (!connection.send(piece)) break;
  }
  EXPECT_THAT(connection.read_answer(), IsError(413));
  EXPECT_TRUE(connection.closes());
  EXPECT_LT(server.status("VmHWM") - before, kMoreKib);
}

TEST_F(HostileBodies, AreRefusedWithoutBeingSentWhereTheClientAsksFirst) {
  Connection connection(server.port());
  connection.send(request_bytes(
      "POST", "/models/shop/rank", "",
      {{"Content-Length", std::to_string(kHundredMegabytes)}, {"Expect", "100-continue"}}));
  EXPECT_THAT(connection.read_answer(), AnyOf(IsError(413), IsError(417)));
}

TEST_F(HostileBodies, NestedDeeplyAreRefused) {
  const std::string open(100'000, '[');
  const std::string close(100'000, ']');
  std::string objects;
  for (int at = 0; at < 100'000; ++at) objects += "{\"a\":";
  EXPECT_THAT(rank_raw(open), IsError(400));
  EXPECT_THAT(rank_raw(open + close), IsError(400));
  EXPECT_THAT(rank_raw(objects), IsError(400));
  EXPECT_THAT(rank_raw(R"({"items": )" + open + close + "}"), IsError(400));
  EXPECT_THAT(rank_raw(R"({"items": [{"id": "a", "features": )" + open + close + "}]}"),
              IsError(400));
  EXPECT_THAT(
      rank_raw(R"({"items": [{"id": "a", "features": [1, 2]}], "context": )" + open + close + "}"),
      AnyOf(IsError(400), IsError(413)));
  EXPECT_THAT(answer_to(request_bytes("PUT", "/models/new", R"({"features": )" + open)),
              IsError(400));
  EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/feedback", open + close)),
              IsError(400));
}

TEST_F(HostileBodies, WithAContextAsDeepAsItMayBeComeBackWhole) {
  const auto context = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const auto body = [&](std::size_t depth) {
    return R"({"items": [{"id": "a", "features": [1, 2]}], "context": )" + context(depth) + "}";
  };
  const Answer answer = rank_raw(body(30));
  ASSERT_THAT(answer, HasStatus(200));
  const std::string id = answer.json()["impression"];
  EXPECT_EQ(server.client().get("/models/shop/impressions/" + id).json()["context"].dump(),
            context(30));
  EXPECT_THAT(rank_raw(body(40)), IsErrorAt(400, "context"));
}

TEST_F(HostileBodies, WithAKeyTwiceAreRefused) {
  const std::string sound = R"("items": [{"id": "a", "features": [1, 2]}])";
  EXPECT_THAT(rank_raw("{" + sound + ", " + sound + "}"), IsError(400));
  EXPECT_THAT(rank_raw("{" + sound + R"(, "k": 1, "k": 2})"), IsError(400));
  EXPECT_THAT(rank_raw(R"({"items": [{"id": "a", "id": "b", "features": [1, 2]}]})"), IsError(400));
  EXPECT_THAT(rank_raw(R"({"items": [{"id": "a", "features": {"price": 1, "price": 2}}]})"),
              IsError(400));
}

TEST_F(HostileBodies, CutAnywhereAreRefused) {
  const std::string whole =
      Json{{"items", items(3)}, {"k", 2}, {"pinned", {{{"id", "a"}, {"rank", 1}}}}}.dump();
  HttpClient client = server.client();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(client.send("POST", "/models/shop/rank", whole.substr(0, size)), IsError(400))
        << size;
  }
  EXPECT_THAT(client.send("POST", "/models/shop/rank", whole), HasStatus(200));
}

TEST_F(HostileBodies, WithMoreAfterTheirEndAreRefused) {
  const std::string whole = Json{{"items", items(3)}}.dump();
  for (const std::string& more : {std::string("x"), whole, std::string("]"), std::string("}"),
                                  std::string("\0", 1), std::string("\xEF\xBB\xBF")}) {
    EXPECT_THAT(rank_raw(whole + more), IsError(400)) << more;
  }
  EXPECT_THAT(rank_raw(whole + " \r\n\t"), HasStatus(200));
}

TEST_F(HostileBodies, ThatAreNotUtf8AreRefused) {
  for (const std::string bad : {"\xFF", "\xC3", "\xC3(", "\xE2\x82", "\xC0\xAF", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "a\x80z"}) {
    const std::string items_with_id = R"("items": [{"id": ")" + bad + R"(", "features": [1, 2]}])";
    const std::string sound = R"("items": [{"id": "a", "features": [1, 2]}])";
    EXPECT_THAT(rank_raw("{" + items_with_id + "}"), IsError(400)) << Json(bad.size());
    EXPECT_THAT(rank_raw("{" + sound + R"(, "id": ")" + bad + "\"}"), IsError(400));
    EXPECT_THAT(rank_raw("{" + sound + R"(, "context": ")" + bad + "\"}"), IsError(400));
    EXPECT_THAT(rank_raw("{" + sound + ", \"" + bad + "\": 1}"), IsError(400));
    EXPECT_THAT(answer_to(request_bytes("PUT", "/models/shop/items", "{" + items_with_id + "}")),
                IsError(400));
    EXPECT_THAT(
        answer_to(request_bytes("PUT", "/models/new", R"({"features": ["a", ")" + bad + "\"]}")),
        IsError(400));
    EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/feedback",
                                        R"({"event": "close", "impression": ")" + bad + "\"}")),
                IsError(400));
    EXPECT_THAT(
        answer_to(request_bytes("POST", "/models/shop/snapshots", R"({"note": ")" + bad + "\"}")),
        IsError(400));
  }
  for (const std::string half : {R"("\ud800")", R"("\udc00x")", R"("\ud800\u0041")", R"("\u12")"}) {
    EXPECT_THAT(rank_raw(R"({"items": [{"id": )" + half + R"(, "features": [1, 2]}]})"),
                IsError(400))
        << half;
  }
}

TEST_F(HostileBodies, WithZeroBytesAreRefused) {
  const std::string zero(1, '\0');
  EXPECT_THAT(rank_raw(zero), IsError(400));
  EXPECT_THAT(rank_raw("{" + zero + R"("items": [{"id": "a", "features": [1, 2]}]})"),
              IsError(400));
  EXPECT_THAT(rank_raw(R"({"items": [{"id": "a)" + zero + R"(b", "features": [1, 2]}]})"),
              IsError(400));
}

// Browsers and proxies take "." and ".." out of an address, so that they could not be deleted.
TEST_F(HostileBodies, WithIdsThatNoAddressCanHaveAreRefused) {
  const std::string items = R"("items": [{"id": "a", "features": [1, 2]}])";
  for (const std::string dots : {".", ".."}) {
    const std::string quoted = "\"" + dots + "\"";
    const auto refused = [&](const std::string& path, const std::string& body,
                             const std::string& place) {
      const Answer answer = answer_to(request_bytes("POST", "/models/shop" + path, body));
      EXPECT_THAT(answer, IsErrorAt(400, place)) << body;
      EXPECT_THAT(answer.body, ::testing::HasSubstr("which no address can have"));
    };
    refused("/rank", "{" + items + ", \"unit\": " + quoted + "}", "unit");
    refused("/rank", "{" + items + ", \"id\": " + quoted + "}", "id");
    refused("/rank", "{\"items\": [{\"id\": " + quoted + ", \"features\": [1, 2]}]}",
            "items[0].id");
  }
  EXPECT_THAT(rank_raw("{" + items + R"(, "unit": "...", "id": ".a"})"), HasStatus(200));
}

TEST_F(HostileBodies, WithTextsThatSqlWouldCutAreRefused) {
  const auto refused = [&](const std::string& method, const std::string& path,
                           const std::string& body, const std::string& place) {
    const Answer answer = answer_to(request_bytes(method, "/models/shop" + path, body));
    EXPECT_THAT(answer, IsErrorAt(400, place)) << body;
    EXPECT_THAT(answer.body, ::testing::HasSubstr("U+0000"));
  };
  const std::string items = R"("items": [{"id": "a", "features": [1, 2]}])";
  refused("POST", "/rank", R"({"items": [{"id": "a\u0000b", "features": [1, 2]}]})", "items[0].id");
  refused("POST", "/rank", R"({"items": ["\u0000"]})", "items[0]");
  refused("POST", "/rank", R"({"id": "x\u0000", )" + items + "}", "id");
  refused("POST", "/rank", R"({"unit": "\u0000x", )" + items + "}", "unit");
  refused("PUT", "/items", R"({"items": [{"id": "a\u0000b", "features": [1, 2]}]})", "items[0].id");
  refused("POST", "/feedback", R"({"impression": "i\u0000", "event": "close"})", "impression");
  refused("POST", "/feedback", R"({"impression": "i", "event": "view", "item": "\u0000"})", "item");
  refused("POST", "/feedback", R"({"impression": "i", "event": "close", "event_id": "\u0000"})",
          "event_id");
  refused("POST", "/snapshots", R"({"note": "a\u0000"})", "note");
  for (const std::string context : {R"("\u0000")", R"({"a": ["\\\u0000"]})", R"({"\u0000": 1})"}) {
    refused("POST", "/rank", R"({"context": )" + context + ", " + items + "}", "context");
  }
  // Backslashes that only look like it.
  EXPECT_EQ(rank_raw(R"({"context": "\\u0000\u0001", )" + items + "}").status, 200);
}

TEST_F(HostileBodies, WithNumbersOutOfAllRangesAreRefused) {
  for (const std::string number :
       {"1e30", "99999999999999999999", "18446744073709551616", "4294967297", "-0.5", "1e-400",
        "-9223372036854775809", "1E+2147483648", "0.9999999999999999999"}) {
    EXPECT_THAT(rank_raw(R"({"items": [{"id": "a", "features": [1, 2]}], "k": )" + number + "}"),
                IsError(400))
        << number;
    EXPECT_THAT(
        answer_to(request_bytes("POST", "/models/shop/rollback", "{\"snapshot\": " + number + "}")),
        AnyOf(IsError(400), IsError(404)))
        << number;
  }
}

TEST_F(HostileBodies, WithAnIdTwiceAmongManyAreRefused) {
  Json all = Json::array();
  for (int at = 0; at < 900; ++at) all.push_back(item("item-" + std::to_string(at), {at, 1}));
  all.push_back(all.front());
  EXPECT_THAT(rank_raw(Json{{"items", all}}.dump()), AnyOf(IsError(400), IsError(413)));
}

}  // namespace
}  // namespace plackett
