#include "learner/document_span.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner_samples.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 21;

std::vector<float> row_of(const AlignedVector<float>& rows, std::uint32_t doc) {
  const float* start = &rows[std::size_t{doc} * padded_width(kFeatures)];
  return {start, start + kFeatures};
}

double dot(const std::vector<float>& one, const AlignedVector<float>& other) {
  double sum = 0;
  for (std::size_t at = 0; at < one.size(); ++at) sum += double{one[at]} * double{other[at]};
  return sum;
}

// The projection is in the span, and what it leaves is orthogonal to every document: nothing else
// has both properties. The first is checked by projecting again.
TEST(DocumentSpan, ProjectsOntoTheDocuments) {
  for (const std::uint32_t docs : {1U, 5U, 13U, 20U}) {
    const auto rows = testing::random_rows(docs, kFeatures, docs);
    DocumentSpan span(kFeatures);
    for (std::uint32_t doc = 0; doc < docs; ++doc) span.add(row_of(rows, doc));
    EXPECT_EQ(span.rank(), docs);
    const auto direction = testing::random_rows(1, kFeatures, 77);
    AlignedVector<float> projected = direction;
    span.project(projected);
    AlignedVector<float> left(direction.size());
    for (std::size_t at = 0; at < left.size(); ++at) left[at] = direction[at] - projected[at];
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      EXPECT_NEAR(dot(row_of(rows, doc), left), 0, 2e-5) << docs;
    }
    AlignedVector<float> again = projected;
    span.project(again);
    for (std::size_t at = 0; at < left.size(); ++at) EXPECT_NEAR(again[at], projected[at], 2e-6);
    EXPECT_GT(length(left), 0.01F);  // something is projected away
  }
}

// Rows that nearly depend on each other ruin Gram-Schmidt done once.
TEST(DocumentSpan, StaysOrthogonalForRowsThatNearlyDepend) {
  const auto rows = testing::random_rows(15, kFeatures, 3);
  DocumentSpan span(kFeatures);
  for (std::uint32_t doc = 0; doc < 15; ++doc) {
    std::vector<float> row = row_of(rows, 0);
    for (std::size_t at = 0; at < kFeatures; ++at) row[at] += 1e-3F * row_of(rows, doc)[at];
    span.add(row);
  }
  EXPECT_EQ(span.rank(), 15U);
  AlignedVector<float> direction = testing::random_rows(1, kFeatures, 5);
  span.project(direction);
  AlignedVector<float> again = direction;
  span.project(again);
  for (std::size_t at = 0; at < again.size(); ++at) EXPECT_NEAR(again[at], direction[at], 5e-6);
}

TEST(DocumentSpan, DropsRowsThatAddNothing) {
  const auto rows = testing::random_rows(2, kFeatures);
  DocumentSpan span(kFeatures);
  span.add(std::vector<float>(kFeatures));
  EXPECT_EQ(span.rank(), 0U);
  std::vector<float> sum(kFeatures);
  for (std::uint32_t doc = 0; doc < 2; ++doc) {
    span.add(row_of(rows, doc));
    for (std::size_t at = 0; at < kFeatures; ++at) sum[at] += 3 * row_of(rows, doc)[at];
  }
  span.add(row_of(rows, 0));
  span.add(sum);
  EXPECT_EQ(span.rank(), 2U);
  AlignedVector<float> direction = testing::random_rows(1, kFeatures, 6);
  span.clear();
  span.project(direction);
  EXPECT_EQ(length(direction), 0);
  for (std::uint32_t doc = 0; doc < 40; ++doc) {
    span.add(row_of(testing::random_rows(1, kFeatures, 100 + doc), 0));
  }
  EXPECT_EQ(span.rank(), kFeatures);
}

}  // namespace
}  // namespace plackett
