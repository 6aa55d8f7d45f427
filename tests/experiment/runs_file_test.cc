#include "experiment/runs_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "plackett/rng.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const RunsHeader kHeader{.plackett = "0.1.0"};

FinishedRun small_run(std::uint32_t number) {
  FinishedRun run{.cell = 0xFEDCBA9876543210,
                  .dataset = "MQ2008",
                  .method = "pdgd",
                  .click_model = "perfect",
                  .user = "perfect",
                  .data = 1,
                  .user_file = 0,
                  .record = {}};
  run.record.run = number;
  run.record.fold = number % 5;
  run.record.curve = {{1, 0.5, 0.25}, {10, 0.1 + 0.2, 1e-7}};
  if (number % 2 == 1) {
    run.record.metrics = {{"MAP", {0.25, 0.75}}, {"MRR", {0, 1}}};
    run.record.validation = 0.5;
  }
  return run;
}

std::string small_file(std::uint32_t runs) {
  std::string text = to_line(kHeader);
  for (std::uint32_t run = 0; run < runs; ++run) text += to_line(small_run(run));
  return text;
}

TEST(RunsFile, DoublesReadBackToTheSameBits) {
  FinishedRun run = small_run(2);
  run.record.curve.clear();
  Rng rng({.seed = 1});
  std::uint64_t impression = 0;
  const auto add = [&](double value) {
    if (std::isfinite(value)) run.record.curve.push_back({++impression, value, -value});
  };
  for (int count = 0; count < 20'000; ++count) {
    const std::uint64_t high = rng.below(~std::uint32_t{0});
    add(std::bit_cast<double>(high << 32 | rng.below(~std::uint32_t{0})));
    add(rng.uniform());
  }
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, 1.0, 1e22, 123456789012345678.0, Limits::max(), Limits::min(),
                             Limits::denorm_min(), std::nextafter(1.0, 2.0)}) {
    add(value);
  }
  const auto file = parse_runs(to_line(kHeader) + to_line(run), {});
  ASSERT_TRUE(file.ok());
  ASSERT_THAT(file->damaged, IsEmpty());
  const auto& read = file->runs.front().record.curve;
  ASSERT_EQ(read.size(), run.record.curve.size());
  for (std::size_t at = 0; at < read.size(); ++at) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read[at].offline),
              std::bit_cast<std::uint64_t>(run.record.curve[at].offline));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read[at].online),
              std::bit_cast<std::uint64_t>(run.record.curve[at].online));
  }
}

TEST(RunsFile, AnyTextReadsBack) {
  FinishedRun run = small_run(0);
  run.dataset = "a \"b\" \\ \n \x01 \xC3\xA9";
  run.user = "";
  const auto file = parse_runs(to_line(kHeader) + to_line(run), {});
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->runs.size(), 1U);
  EXPECT_EQ(file->runs[0].dataset, run.dataset);
  EXPECT_EQ(file->header, kHeader);
}

TEST(RunsFile, MetricsAndValidationReadBack) {
  const auto file = parse_runs(small_file(2), {});
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->runs.size(), 2U);
  EXPECT_THAT(file->runs[0].record.metrics, IsEmpty());
  EXPECT_TRUE(std::isnan(file->runs[0].record.validation));
  const RunRecord& second = file->runs[1].record;
  ASSERT_EQ(second.metrics.size(), 2U);
  EXPECT_EQ(second.metrics[0].name, "MAP");
  EXPECT_THAT(second.metrics[0].values, ElementsAre(0.25, 0.75));
  EXPECT_EQ(second.validation, 0.5);
  EXPECT_EQ(file->runs[1].cell, 0xFEDCBA9876543210);
}

TEST(RunsFile, CutAnywhereKeepsTheWholeRecordsAndNothingElse) {
  const std::string text = small_file(4);
  std::vector<std::size_t> ends;  // behind each line break
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') ends.push_back(at + 1);
  }
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto file = parse_runs(text.substr(0, size), {});
    ASSERT_EQ(file.ok(), size >= ends[0]) << size;
    if (!file) continue;
    const auto whole = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= size; }));
    ASSERT_EQ(file->runs.size(), whole - 1) << size;
    const bool at_end = std::find(ends.begin(), ends.end(), size) != ends.end();
    ASSERT_EQ(file->damaged.size(), at_end ? 0U : 1U) << size;
  }
}

TEST(RunsFile, EveryChangedByteIsFoundOut) {
  const std::string text = small_file(3);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const auto file = parse_runs(changed, {});
    if (!file) continue;  // the header
    ASSERT_LT(file->runs.size(), 3U) << at;
    ASSERT_FALSE(file->damaged.empty()) << at;
  }
}

TEST(RunsFile, GarbageBehindTheRecordsIsDamageAndNoMore) {
  const std::string text = small_file(2);
  const std::string nulls(5000, '\0');
  const auto file = parse_runs(text + nulls, {});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->runs.size(), 2U);
  EXPECT_THAT(file->damaged, ElementsAre(4));
}

TEST(RunsFile, ADamagedRecordInTheMiddleIsNamedByItsLine) {
  std::string text = to_line(kHeader) + to_line(small_run(0));
  text += "{}\n" + to_line(small_run(1));
  const auto file = parse_runs(text, {});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->runs.size(), 2U);
  EXPECT_THAT(file->damaged, ElementsAre(3));
  EXPECT_THAT(file->line_of_runs, ElementsAre(2, 4));
}

TEST(RunsFile, RefusesAnotherFileAndAnotherVersion) {
  const auto message = [](const std::string& text) {
    return parse_runs(text, {.name = "r", .check = false}).error().message;
  };
  EXPECT_THAT(message("hello\n"), HasSubstr("r:1: not a results file"));
  EXPECT_THAT(message(""), HasSubstr("r:1: "));
  EXPECT_THAT(message("{\"checksum\":\"0000000000000000\",\"kind\":\"plackett-runs\","
                      "\"version\":1}\n"),
              HasSubstr("format version 1; this plackett reads version 2"));
}

}  // namespace
}  // namespace plackett
