// Requests that are not HTTP, or only just.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/hostile.h"
#include "support/eventually.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using testing::Connection;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::IsError;
using testing::IsProper;
using testing::items;
using testing::Json;
using testing::NoAnswer;
using testing::request_bytes;

using HostileRequests = testing::HostileTest;

const std::string kHost = "Host: 127.0.0.1\r\n";

TEST_F(HostileRequests, WithHugeHeadersAreRefused) {
  EXPECT_THAT(answer_to(request_bytes("GET", "/health", "", {{"X", std::string(200'000, 'x')}})),
              IsError(431));
  std::string many = "GET /health HTTP/1.1\r\n" + kHost;
  for (int at = 0; at < 20'000; ++at) many += "X-" + std::to_string(at) + ": 1\r\n";
  EXPECT_THAT(answer_to(many + "\r\n"), IsError(431));
  EXPECT_THAT(answer_to("GET /" + std::string(200'000, 'x') + " HTTP/1.1\r\n" + kHost + "\r\n"),
              AnyOf(IsError(431), IsError(414)));
  EXPECT_THAT(answer_to(std::string(200'000, 'G')),
              AnyOf(IsError(431), IsError(414), IsError(400)));
  EXPECT_THAT(answer_to(request_bytes("GET", "/health", "", {{"X", std::string(2'000, 'x')}})),
              HasStatus(200));
}

TEST_F(HostileRequests, OfHttp10HaveNoTransferCoding) {
  const std::string body = "0\r\n\r\n";
  EXPECT_THAT(answer_to("POST /models/shop/rank HTTP/1.0\r\n" + kHost +
                        "Transfer-Encoding: chunked\r\n\r\n" + body),
              IsError(400));
}

TEST_F(HostileRequests, OfUnknownCodingsHideNoSecondRequest) {
  for (const char* coding : {"gzip", "chunked, gzip"}) {
    Connection connection(server.port());
    connection.send("POST /models/shop/rank HTTP/1.1\r\n" + kHost + "Transfer-Encoding: " + coding +
                    "\r\n\r\nDELETE /models/shop HTTP/1.1\r\n" + kHost + "\r\n");
    EXPECT_THAT(connection.read_answer(), IsError(400)) << coding;
    EXPECT_TRUE(connection.closes()) << coding;
  }
  EXPECT_THAT(server.client().get("/models/shop"), HasStatus(200));
}

TEST_F(HostileRequests, WithCompressedBodiesAreRefused) {
  const std::string body = Json{{"items", items(4)}}.dump();
  for (const char* coding : {"gzip", "br", "identity, gzip"}) {
    EXPECT_THAT(
        answer_to(request_bytes("POST", "/models/shop/rank", body, {{"Content-Encoding", coding}})),
        IsError(415))
        << coding;
  }
  EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/rank", body,
                                      {{"Content-Encoding", "identity"}})),
              HasStatus(200));
}

TEST_F(HostileRequests, WithTwoNamesOfTheServerAreRefused) {
  const auto get = [&](const std::string& address) {
    return answer_to("GET " + address + " HTTP/1.1\r\n" + kHost + "\r\n");
  };
  EXPECT_THAT(get("http://127.0.0.1/health"), HasStatus(200));
  EXPECT_THAT(get("http://shop.example/health"), IsError(400));
  EXPECT_THAT(get("http://user@127.0.0.1/health"), IsError(400));
  EXPECT_THAT(get("http:///health"), IsError(400));
}

TEST_F(HostileRequests, ThatAreNotHttpAreRefused) {
  for (const std::string bytes :
       {"GET\r\n\r\n", "GET /health\r\n\r\n", "GET /health HTTP\r\n\r\n",
        "GET /health HTP/1.1\r\n\r\n", " /health HTTP/1.1\r\n\r\n",
        "GET /health HTTP/1.1\r\nno colon\r\n\r\n", "GET /health HTTP/1.1\r\n: empty\r\n\r\n",
        "GET /health HTTP/1.1\r\nA b: c\r\n\r\n", "GE(T /health HTTP/1.1\r\n\r\n",
        "GET /he alth HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x01\r\n\r\n", "{\"items\": []}\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n"}) {
    Connection connection(server.port());
    connection.send(bytes);
    EXPECT_THAT(connection.read_answer(), IsError(400)) << bytes;
    EXPECT_TRUE(connection.closes()) << bytes;
  }
  EXPECT_THAT(answer_to("GET /health HTTP/9.9\r\n" + kHost + "\r\n"),
              AnyOf(IsError(400), IsError(505)));
  const std::string zero(1, '\0');
  EXPECT_THAT(answer_to("GET /hea" + zero + "lth HTTP/1.1\r\n" + kHost + "\r\n"), IsError(400));
  EXPECT_THAT(answer_to("GET /health HTTP/1.1\r\n" + kHost + "X: a" + zero + "b\r\n\r\n"),
              IsError(400));
  EXPECT_THAT(answer_to(zero + zero + zero + zero + "\r\n\r\n"), IsError(400));
}

TEST_F(HostileRequests, OfUnknownMethodsAreRefused) {
  HttpClient client = server.client();
  for (const std::string method : {"BREW", "PATCH", "TRACE", "CONNECT", "get", "PROPFIND", "G"}) {
    EXPECT_THAT(client.send(method, "/health"), IsError(405)) << method;
  }
}

TEST_F(HostileRequests, WithLengthsThatAreNoneAreRefused) {
  for (const std::string length : {"abc", "-1", "1e3", "0x10", "18446744073709551616", "5, 6"}) {
    EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/rank", "hello",
                                        {{"Content-Length", length}})),
                AnyOf(IsError(400), IsError(413)))
        << length;
  }
  EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/rank", "",
                                      {{"Content-Length", "9223372036854775807"}})),
              IsError(413));
  EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/rank", "hello",
                                      {{"Content-Length", "5"}, {"Content-Length", "6"}})),
              IsError(400));
  EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/rank", "0\r\n\r\n",
                                      {{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}})),
              IsError(400))
      << "two lengths let a request be smuggled past a proxy";
}

TEST_F(HostileRequests, LongerThanTheySayLeaveARequestThatIsRefused) {
  Connection connection(server.port());
  connection.send_all(
      request_bytes("POST", "/models/shop/rank", "{}tail\r\n\r\n", {{"Content-Length", "2"}}));
  EXPECT_THAT(connection.read_answer(), IsError(400));
  EXPECT_THAT(connection.read_answer(), IsError(400));
  EXPECT_TRUE(connection.closes());
}

TEST_F(HostileRequests, ShorterThanTheySayAreNotServed) {
  const std::string body = Json{{"items", items(3)}}.dump();
  Connection connection(server.port());
  connection.send(request_bytes("POST", "/models/shop/rank", body,
                                {{"Content-Length", std::to_string(body.size() + 1)}}));
  connection.finish_sending();
  try {
    EXPECT_THAT(connection.read_answer(), IsError(400));
  } catch (const NoAnswer&) {  // there is nobody who would read it
  }
  EXPECT_EQ(server.client().get("/models/shop").json()["impressions"], 0);
}

TEST_F(HostileRequests, InChunksAreServedWhereTheChunksAreSound) {
  const std::string body = Json{{"items", items(3)}}.dump();
  const testing::Headers chunked = {{"Transfer-Encoding", "chunked"}};
  std::string bytes;
  for (const char byte : body) bytes += std::string("1\r\n") + byte + "\r\n";
  EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/rank", bytes + "0\r\n\r\n", chunked)),
              HasStatus(200));
  for (const std::string bad : {"x\r\n{}\r\n0\r\n\r\n", "-1\r\n{}\r\n0\r\n\r\n",
                                "2\r\n{}x\r\n0\r\n\r\n", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"}) {
    EXPECT_THAT(answer_to(request_bytes("POST", "/models/shop/rank", bad, chunked)),
                AnyOf(IsError(400), IsError(413)))
        << bad;
  }
}

TEST_F(HostileRequests, ThatAskFirstAreToldToGoOn) {
  const std::string body = Json{{"items", items(3)}}.dump();
  Connection connection(server.port());
  connection.send(
      request_bytes("POST", "/models/shop/rank", "",
                    {{"Content-Length", std::to_string(body.size())}, {"Expect", "100-continue"}}));
  ASSERT_TRUE(testing::eventually([&] { return connection.stale(); })) << "it waits for the body";
  connection.send_all(body);
  EXPECT_THAT(connection.read_answer(), HasStatus(200));
}

TEST_F(HostileRequests, InOneGoAreAnsweredInTheirOrder) {
  Connection connection(server.port());
  std::string bytes;
  for (int at = 0; at < 50; ++at) {
    const Json body = {{"items", items(3)}, {"id", "mine-" + std::to_string(at)}};
    bytes += request_bytes("POST", "/models/shop/rank", body.dump());
    bytes += request_bytes("GET", "/models/shop/impressions/mine-" + std::to_string(at));
  }
  connection.send_all(bytes);
  for (int at = 0; at < 50; ++at) {
    const std::string id = "mine-" + std::to_string(at);
    const Answer ranked = connection.read_answer();
    ASSERT_THAT(ranked, HasStatus(200));
    EXPECT_EQ(ranked.json()["impression"], id);
    const Answer seen = connection.read_answer();
    ASSERT_THAT(seen, HasStatus(200));
    EXPECT_EQ(seen.json()["impression"], id);
  }
}

TEST_F(HostileRequests, BehindSoundOnesDoNotSpoilTheirAnswers) {
  Connection connection(server.port());
  connection.send_all(request_bytes("GET", "/health") + request_bytes("GET", "/ready") +
                      "NONSENSE\r\n\r\n" + request_bytes("DELETE", "/models/shop"));
  EXPECT_THAT(connection.read_answer(), HasStatus(200));
  EXPECT_THAT(connection.read_answer(), HasStatus(200));
  EXPECT_THAT(connection.read_answer(), IsError(400));
  EXPECT_TRUE(connection.closes());
  EXPECT_THAT(server.client().get("/models/shop"), HasStatus(200))
      << "what follows a broken request must not be believed";
}

TEST_F(HostileRequests, ForHeadsAndOptionsLeaveTheConnectionInStep) {
  HttpClient client = server.client();
  for (const auto& [target, status] :
       {std::pair("/health", 200), std::pair("/models/shop", 200), std::pair("/nowhere", 404),
        std::pair("/openapi.json", 200)}) {
    const Answer get = client.get(target);
    const Answer head = client.send("HEAD", target);
    EXPECT_EQ(head.status, status) << target;
    EXPECT_EQ(head.header("Content-Length"), get.header("Content-Length")) << target;
    EXPECT_EQ(client.get("/health").status, 200) << target;
    const Answer options = client.send("OPTIONS", target);
    EXPECT_THAT(options.status, AnyOf(204, 404)) << target;
    EXPECT_EQ(client.get("/health").status, 200) << target;
  }
  EXPECT_THAT(client.send("OPTIONS", "/models/shop").header("Allow"), HasSubstr("DELETE"));
  EXPECT_THAT(client.send("OPTIONS", "*"), HasStatus(204));
}

TEST_F(HostileRequests, WithEncodedPathsMeanWhatTheySay) {
  HttpClient client = server.client();
  EXPECT_THAT(client.get("/models/sh%6Fp"), HasStatus(200));
  EXPECT_THAT(client.get("/models/sh%6fp/weights"), HasStatus(200));
  EXPECT_THAT(client.get("/models%2Fshop"), AnyOf(IsError(404), IsError(400)));
  for (const std::string path :
       {"/models/sh%zzp", "/models/%", "/models/%4", "/models/shop/items/%FF",
        "/models/shop/items/%00", "/models/shop/items/%C3%28", "/models/shop/items/",
        "/models//items/a", "/models/", "/models/%2e%2e", "/models/..", "/..",
        "/models/shop/impressions/i-99999999999999999999999", "/models/shop/impressions/i--1",
        "/models/shop/impressions/%FF"}) {
    EXPECT_THAT(client.get(path), AnyOf(IsError(400), IsError(404), IsError(414))) << path;
  }
  const std::string too_long(5'000, 'x');
  EXPECT_THAT(client.get("/models/shop/items/" + too_long), AnyOf(IsError(400), IsError(404)));
  for (const std::string query : {"?", "?limit", "?limit=", "?=", "?&&&", "?limit=%zz",
                                  "?limit=1&limit=2", "?limit=99999999999999999999", "?%00=1"}) {
    EXPECT_THAT(client.get("/models/shop/impressions" + query), IsProper()) << query;
  }
}

TEST_F(HostileRequests, ForFilesOutsideFindNothing) {
  HttpClient client = server.client();
  for (const std::string path :
       {"/web/../../../../../../etc/passwd", "/web/..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/web/%2e%2e/%2e%2e/etc/passwd", "/web//etc/passwd", "/web/%2Fetc%2Fpasswd",
        "/web/....//....//etc/passwd", "/web/..%5c..%5cetc%5cpasswd", "/web/.", "/web/..",
        "//etc/passwd", "/web/%00", "/web/"}) {
    const Answer answer = client.get(path);
    EXPECT_THAT(answer, AnyOf(IsError(400), IsError(404))) << path;
    EXPECT_EQ(answer.body.find("root:"), std::string::npos) << path;
  }
}

TEST_F(HostileRequests, OfTheOldProtocolAreAnsweredAndClosed) {
  Connection connection(server.port());
  connection.send("GET /health HTTP/1.0\r\n\r\n");
  EXPECT_THAT(connection.read_answer(), HasStatus(200));
  EXPECT_TRUE(connection.closes());
}

TEST_F(HostileRequests, ThatAskToCloseAreAnsweredAndClosed) {
  Connection connection(server.port());
  connection.send(request_bytes("GET", "/health", "", {{"Connection", "close"}}));
  const Answer answer = connection.read_answer();
  EXPECT_THAT(answer, HasStatus(200));
  EXPECT_THAT(answer.header("Connection"), HasSubstr("close"));
  EXPECT_TRUE(connection.closes());
}

}  // namespace
}  // namespace plackett
