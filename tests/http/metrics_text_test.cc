// Prometheus' text, line by line.
#include "http/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <thread>

#include "http/router.h"

namespace plackett::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const ServerCounts& server, const serving::ServiceMeters& service) {
  std::string out;
  write_metrics(out, server, service, {.resident_bytes = 1024, .start_seconds = 5});
  return out;
}

TEST(MetricsText, CountsRequestsByRouteAndTheirTimesInGrowingBuckets) {
  Meters one(routes().size());
  Meters two(routes().size());
  one.count(0, 200, 0.0002);
  two.count(0, 200, 0.003);
  two.count(0, 429, 20);
  two.count(routes().size(), 400, 0);
  two.count(0, 299, 0);
  ServerCounts counts;
  counts.connections = 3;
  one.add_to(counts.routes);
  two.add_to(counts.routes);
  const std::string text = text_of(counts, {});
  const std::string labels = R"({route="/models/{m}/rank",method="POST",)";
  EXPECT_THAT(text, HasSubstr("plackett_http_requests_total" + labels + "status=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("plackett_http_requests_total" + labels + "status=\"429\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("plackett_http_requests_total" + labels + "status=\"other\"} 1\n"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(plackett_http_requests_total{route="none",method="none",status="400"} 1)"));
  const std::string bucket = "plackett_http_request_seconds_bucket" + labels;
  EXPECT_THAT(text, HasSubstr(bucket + "le=\"0.0001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "le=\"0.00025\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "le=\"0.005\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "le=\"10\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "le=\"+Inf\"} 4\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(plackett_http_request_seconds_count{route="/models/{m}/rank",method="POST"} 4)"));
  EXPECT_THAT(text, HasSubstr("plackett_http_connections 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("route=\"/health\"")));
}

TEST(MetricsText, SaysHowEachModelStands) {
  serving::ServiceMeters service;
  service.models.resize(1);
  service.models[0].spec.name = "a\"b\\c\nd";
  service.models[0].clicks[0] = 7;
  service.models[0].entropy = 1.5;
  service.models[0].learning = false;
  service.models[0].impressions = 12;
  service.models[0].updates = 9;
  service.commits = 4;
  const std::string text = text_of({}, service);
  EXPECT_THAT(text, HasSubstr(R"(plackett_clicks_total{model="a\"b\\c\nd",status="accepted"} 7)"));
  EXPECT_THAT(text, HasSubstr(R"(plackett_entropy{model="a\"b\\c\nd"} 1.5)"));
  EXPECT_THAT(text, HasSubstr(R"(plackett_learning{model="a\"b\\c\nd"} 0)"));
  EXPECT_THAT(text, HasSubstr("# TYPE plackett_impressions_total counter\n"));
  EXPECT_THAT(text, HasSubstr(R"(plackett_impressions_total{model="a\"b\\c\nd"} 12)"));
  EXPECT_THAT(text, HasSubstr("# TYPE plackett_updates gauge\n"));
  EXPECT_THAT(text, HasSubstr(R"(plackett_updates{model="a\"b\\c\nd"} 9)"));
  EXPECT_THAT(text, HasSubstr("plackett_store_commits_total 4\n"));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes 1024\n"));
}

TEST(MetricsText, NamesEachMetricOnceBeforeItsSamples) {
  std::istringstream lines(text_of({}, {}));
  std::set<std::string> types;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    EXPECT_TRUE(types.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
  }
  EXPECT_GE(types.size(), 24U);
}

TEST(ProcessFacts, AreThoseOfThisProcess) {
  const ProcessFacts facts = read_process();
  EXPECT_GT(facts.resident_bytes, 1U << 20);
  EXPECT_LE(facts.start_seconds, static_cast<double>(std::time(nullptr)) + 2);
  EXPECT_GT(facts.start_seconds, static_cast<double>(std::time(nullptr)) - 3600);
}

}  // namespace
}  // namespace plackett::http
