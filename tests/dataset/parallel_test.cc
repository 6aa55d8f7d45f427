#include "dataset/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace plackett {
namespace {

TEST(ParallelFor, DoesEveryPieceOnceForAnyNumberOfThreads) {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::vector<std::atomic<int>> done(100);
    parallel_for(threads, done.size(), [&](std::size_t piece) { ++done[piece]; });
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, RethrowsWhatAPieceThrew) {
  for (const unsigned threads : {1U, 3U}) {
    EXPECT_THROW(parallel_for(threads, 10,
                              [](std::size_t piece) {
                                if (piece == 4) throw std::bad_alloc();
                              }),
                 std::bad_alloc);
  }
}

}  // namespace
}  // namespace plackett
