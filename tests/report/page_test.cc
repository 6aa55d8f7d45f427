#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "report/write.h"
#include "samples.h"

namespace plackett::report {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::large_comparison;
using ::testing::Not;
using testing::paper_comparison;
using testing::single_runs;
using testing::small_comparison;

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

json results_of(const Comparison& comparison, const PageOptions& options = {}) {
  return json::parse(results_json(comparison, options));
}

// The data in the page, as its script reads it.
std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"results\">";
  const std::size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script>", start) - start);
}

TEST(Page, EscapesAllTextOfTheComparison) {
  const std::string plain = html_report(small_comparison());
  const std::string evil = "</script><script>alert(1)</script><!-- \" onload='x' ]]>";
  Comparison comparison = small_comparison();
  comparison.title = evil;
  comparison.version = evil;
  for (CellSummary& cell : comparison.cells) {
    cell.label = cell.ranker + evil;
    cell.method = "<script>";
    cell.click_model += evil;
    cell.dataset = evil;
    cell.protocol = evil;
  }
  const std::string page = html_report(comparison, {.command = evil});
  for (const char* tag : {"<script", "</script", "<!--"}) {
    EXPECT_EQ(occurrences(page, tag), occurrences(plain, tag));
  }
  EXPECT_THAT(page, AllOf(Not(HasSubstr("alert(1)</")), HasSubstr("<title>&lt;/script&gt;")));
  EXPECT_EQ(json::parse(data_of(page))["title"], evil);
}

TEST(Page, NeverReadsTextAsMarkup) {
  for (const char* name : {"report.js", "charts.js", "dom.js", "format.js"}) {
    const auto script =
        read_file(std::filesystem::path(PLACKETT_SOURCE_DIR) / "web" / name).value();
    for (const char* reader : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"}) {
      EXPECT_THAT(script, Not(HasSubstr(reader))) << name;
    }
  }
}

TEST(Page, HoldsItsDataAndNeedsNothingBesideIt) {
  const std::string page = html_report(large_comparison());
  EXPECT_EQ(json::parse(data_of(page)), results_of(large_comparison()));
  for (const char* outside :
       {" src=", "<link", "@import", "url(", "fetch(", "{{", "\nimport ", "\nexport "}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; "));
}

TEST(Page, SaysOnWhichQueriesItWasMeasured) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  const auto about = [&] {
    const json results = json::parse(results_json(comparison));
    return results["facts"]["split"].get<std::string>() + ": " +
           results["measures"][0]["about"].get<std::string>();
  };
  EXPECT_EQ(about(), "test: NDCG@10 on the test queries");
  for (CellSummary& cell : comparison.cells) cell.split = "validation";
  EXPECT_EQ(about(), "validation: NDCG@10 on the validation queries");
  comparison.cells[0].split = "test";
  EXPECT_EQ(about(), "held-out: NDCG@10 on the held-out queries");
  EXPECT_THAT(results_json(comparison), HasSubstr("Perfect · test queries"));
}

TEST(Page, IsAFunctionOfTheResultsAlone) {
  Comparison slow = paper_comparison({"MQ2007"}, 0);
  slow.threads = 1;
  for (CellSummary& cell : slow.cells) {
    cell.seconds *= 16;
    cell.impressions_per_second = 3;
    cell.evaluation_share = 0.5;
  }
  EXPECT_EQ(html_report(slow), html_report(paper_comparison({"MQ2007"}, 0)));
}

TEST(Results, SayHowTheyWereMade) {
  const json results = results_of(small_comparison(), {.command = "plackett compare --x 'a b'"});
  EXPECT_EQ(results["kind"], "plackett-results");
  EXPECT_EQ(results["version"], 1);
  EXPECT_EQ(results["plackett"], "0.1.0");
  EXPECT_EQ(results["command"], "plackett compare --x 'a b'");
  EXPECT_EQ(results["facts"]["datasets"], "MQ2007");
  EXPECT_EQ(results["facts"]["runs"], "125");
  EXPECT_EQ(results["facts"]["impressions"], "10,000");
  EXPECT_EQ(results["facts"]["seeds"], "42");
}

TEST(Results, HaveEveryPointOfEveryCurve) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(1);
  comparison.cells[0].curve = {{1, {0.25, 0.01}, {0.5, 0}},
                               {10, {std::nan(""), 0.01}, {4, 0}},
                               {100, {0.5, std::nan("")}, {40, 1}}};
  const json curve = results_of(comparison)["blocks"][0]["rows"][0]["curve"];
  EXPECT_EQ(curve.dump(), R"({"impression":[1,10,100],)"
                          R"("offline":{"mean":[0.25,null,0.5],"std":[0.01,0.01,null]},)"
                          R"("online":{"mean":[0.5,4.0,40.0],"std":[0.0,0.0,1.0]}})");
}

TEST(Results, TablesNameTheBestAndTheTests) {
  const json results = results_of(paper_comparison({"MQ2007"}, 0));
  EXPECT_EQ(results["test"]["name"], "Welch's t-test");
  EXPECT_EQ(results["test"]["baselines"][3], "Pairwise (linear)");
  const json& table = results["tables"][0];
  EXPECT_EQ(table["columns"], (json{"offline NDCG@10", "online NDCG@10"}));
  const json& rows = table["sections"][1]["rows"];
  EXPECT_EQ(rows[4]["name"], "PDGD (linear)");
  EXPECT_EQ(rows[4]["cells"][0]["bold"], true);
  EXPECT_EQ(rows[0]["cells"][0]["tests"], json::array());
  const json& worse = rows[5]["cells"][1]["tests"][1];
  EXPECT_EQ(worse["mark"], "▽");
  EXPECT_NEAR(worse["p"], 0.043, 5e-4);
  EXPECT_NEAR(worse["t"], -2.05, 5e-3);
  EXPECT_NEAR(worse["difference"], 560.9 - 573.7, 1e-9);
  // t(0.975, 135.28) = 1.9777.
  EXPECT_NEAR(worse["half_width"], 1.9777 * 12.8 / 2.0461, 1e-3);
  EXPECT_GE(worse["holm"], worse["p"]);
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  comparison.test = SignificanceTest::kPaired;
  EXPECT_EQ(results_of(comparison)["test"]["name"], "paired t-test");
}

TEST(Results, HaveSettingsMetricsAndTheSweep) {
  const json results = results_of(testing::sweep_comparison());
  EXPECT_EQ(results["measures"][2]["title"], "Offline MAP");
  EXPECT_EQ(results["tables"][0]["settings"], (json{"ranker", "learning-rate"}));
  EXPECT_EQ(results["tables"][0]["sections"][0]["rows"][1]["settings"], (json{"linear", "0.01"}));
  const json& row = results["blocks"][0]["rows"][1];
  EXPECT_EQ(row["settings"], (json{{"ranker", "linear"}, {"learning-rate", "0.01"}}));
  EXPECT_NEAR(row["MAP"]["mean"], 0.9 * 0.47, 1e-12);
  EXPECT_EQ(row["curve"]["MAP"]["mean"].size(), row["curve"]["impression"].size());
  const json& sweep = results["sweep"];
  EXPECT_EQ(sweep["setting"], "learning-rate");
  const json& line = sweep["panels"][0]["lines"][0];
  EXPECT_EQ(line["x"], (json{0.003, 0.01, 0.03, 0.1, 0.3}));
  EXPECT_NEAR(line["MAP"]["mean"][3], 0.45, 1e-12);
  EXPECT_EQ(line["runs"][0], 125);
  EXPECT_EQ(sweep["panels"][0]["lines"][2]["level"], true);
  EXPECT_EQ(results["selection"], "");
  EXPECT_EQ(results_of(small_comparison())["sweep"], json());
}

TEST(Results, ScorecardHasEveryNumber) {
  EXPECT_EQ(results_of(paper_comparison({"MQ2007"}, 1))["scorecard"]["scores"].size(), 36U);
  EXPECT_EQ(results_of(large_comparison())["scorecard"], json());
}

TEST(Results, ASingleRunHasNoDeviation) {
  const json results = results_of(single_runs(small_comparison()));
  EXPECT_EQ(results["tables"][0]["sections"][0]["rows"][0]["cells"][0]["std"], "–");
  EXPECT_THAT(std::string(results["facts"]["line"]), HasSubstr("· 1 run × 10,000"));
  const json& row = results["blocks"][0]["rows"][0];
  EXPECT_EQ(row["offline"]["std"], json());
  EXPECT_EQ(row["curve"]["offline"]["std"].back(), json());
}

TEST(Results, AnyTextIsValidJson) {
  const json results = results_of(testing::weird_comparison());
  EXPECT_THAT(std::string(results["title"]), HasSubstr("検索 \x01 \uFFFD"));
}

}  // namespace
}  // namespace plackett::report
