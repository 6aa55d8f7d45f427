// Small splits for tests: labels per query, and one feature whose value the test chooses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plackett/dataset.h"

namespace plackett::testing {

struct SmallQuery {
  std::vector<std::uint8_t> labels;
  std::vector<float> features;  // one a document; zeros where left empty
};

inline Split small_split(const std::vector<SmallQuery>& queries) {
  struct Memory {
    std::vector<float> rows;
    std::vector<std::uint8_t> labels;
    std::vector<std::uint64_t> begin{0};
  };
  auto memory = std::make_shared<Memory>();
  for (const SmallQuery& query : queries) {
    for (std::size_t doc = 0; doc < query.labels.size(); ++doc) {
      memory->labels.push_back(query.labels[doc]);
      memory->rows.push_back(query.features.empty() ? 0 : query.features[doc]);
      memory->rows.resize(memory->rows.size() + padded_width(1) - 1);
    }
    memory->begin.push_back(memory->labels.size());
  }
  return Split({.feature_count = 1,
                .query_count = static_cast<std::uint32_t>(queries.size()),
                .rows = memory->rows.data(),
                .labels = memory->labels.data(),
                .query_begin = memory->begin.data(),
                .owner = memory});
}

}  // namespace plackett::testing
