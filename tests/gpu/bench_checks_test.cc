// What gpu_bench counts and compares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "experiment/run_inputs.h"
#include "gpu/engine_bits.h"
#include "gpu/run_checks.h"
#include "gpu/run_limits.h"
#include "plackett/method_entry.h"

namespace plackett::gpu {
namespace {

using ::testing::HasSubstr;

TEST(BenchRecords, AreTheSameIfAllButTheirTimesIs) {
  const RunRecord record{.run = 3, .fold = 1, .curve = {{10, 0.5, 1.5}, {20, 0.6, 2.5}}};
  RunRecord other = record;
  other.seconds = 7;
  EXPECT_TRUE(bench::same(record, other));
  other.curve[1].impression = 19;
  EXPECT_FALSE(bench::same(record, other));
  other = record;
  other.curve[0].offline = 0.25;
  EXPECT_FALSE(bench::same(record, other));
  other = record;
  other.curve[1].online = 2;
  EXPECT_FALSE(bench::same(record, other));
  other = record;
  other.curve.pop_back();
  EXPECT_FALSE(bench::same(record, other));
  EXPECT_FALSE(bench::same(other, record));
  other = record;
  other.run = 2;
  EXPECT_FALSE(bench::same(record, other));
}

TEST(BenchRecords, AreCountedOncePerRun) {
  bench::Delivered delivered(3);
  EXPECT_FALSE(delivered.each_once());
  delivered.add(0);
  delivered.add(2);
  delivered.add(2);
  EXPECT_EQ(delivered.runs(), 2U);
  EXPECT_FALSE(delivered.each_once());
  bench::Delivered all(3);
  for (const std::uint32_t run : {2U, 0U, 1U}) all.add(run);
  EXPECT_EQ(all.runs(), 3U);
  EXPECT_TRUE(all.each_once());
}

constexpr bench::Card kH200 = {.bandwidth = 4.26e12, .processors = 132, .clock_hz = 1.98e9};

bench::Limit limit_of(const std::string& method, const bench::Shape& shape) {
  SimulationSpec spec = tiny_spec();
  apply(parse_method_entry(method).value(), spec);
  const Dataset data = make_dataset({.features = shape.features, .docs = {2}});
  const Simulation simulation = Simulation::prepare(data, spec).value();
  const auto learner = RunInputs(simulation).learner(0).value();
  return bench::limit_of(device_method(simulation.spec(), *learner).value(), shape, kH200);
}

TEST(BenchLimit, CountsTheNetworksThatAnImpressionScores) {
  const bench::Shape shape{.features = 136, .docs = 125};
  const double one = limit_of("pdgd:neural", shape).rate;
  EXPECT_DOUBLE_EQ(limit_of("pairwise:neural", shape).rate, one);
  EXPECT_DOUBLE_EQ(limit_of("dbgd:neural", shape).rate, one / 2);
  EXPECT_DOUBLE_EQ(limit_of("mgd:neural", shape).rate, one / 50);
  EXPECT_DOUBLE_EQ(limit_of("mgd:neural:candidates=9", shape).rate, one / 10);
  EXPECT_THAT(limit_of("pdgd:neural", shape).basis, HasSubstr("1.09 M fused multiply-adds"));
}

TEST(BenchLimit, IsThatOfTheFeaturesForLinearRankersAndOfInstructionsForMgd) {
  const bench::Shape shape{.features = 136, .docs = 125};
  for (const char* method : {"pdgd", "pairwise", "dbgd"}) {
    EXPECT_THAT(limit_of(method, shape).basis, HasSubstr("72 KB of features")) << method;
  }
  EXPECT_THAT(limit_of("mgd", shape).basis, HasSubstr("thousand instructions"));
  EXPECT_GT(limit_of("mgd:candidates=9", shape).rate, 3 * limit_of("mgd", shape).rate);
}

// As docs/decisions/0021-gpu.md says.
TEST(BenchLimit, CountsRanksByWhatIsDoneForThatManyDocuments) {
  EXPECT_EQ(bench::rank_instructions(64), 376);
  EXPECT_NEAR(bench::rank_instructions(125), 670, 10);
  EXPECT_NEAR(bench::rank_instructions(315), 2'750, 10);
  EXPECT_NEAR(bench::rank_instructions(737), 48'300, 50);
  // Not by the square of the documents.
  EXPECT_LT(bench::rank_instructions(512), 3 * bench::rank_instructions(256));
  EXPECT_GT(bench::rank_instructions(64), bench::rank_instructions(32));
  EXPECT_GT(bench::rank_instructions(513), 4 * bench::rank_instructions(512));
}

TEST(BenchTarget, SaysWhereLessIsReachedThanBeforeThoughItIsTheAim) {
  EXPECT_EQ(bench::target_text("mgd", "mslr", 2.8e6, 0.2),
            "; reaches the target of 1 M; 2.8 M measured before");
  EXPECT_EQ(bench::target_text("mgd", "mslr", 1.5e6, 0.2),
            "; reaches the target of 1 M; LESS than the 2.8 M measured before");
  EXPECT_EQ(bench::target_text("mgd", "mslr", 0.9e6, 0.2),
            "; MISSES the target of 1 M; LESS than the 2.8 M measured before");
  EXPECT_EQ(bench::target_text("pdgd", "mslr", 41e6, 0.6),
            "; MISSES the target of 40 M and 0.65; 41.7 M measured before");
  EXPECT_EQ(bench::target_text("mgd", "yahoo", 1, 0), "");
}

}  // namespace
}  // namespace plackett::gpu
