// Random data of a given shape for benchmarks: uniform features, labels 0 to 4.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dataset/build_fold.h"
#include "plackett/dataset.h"
#include "plackett/rng.h"

namespace plackett::bench {

struct Shape {
  std::uint32_t features = 136;
  std::uint32_t docs = 125;
  std::uint32_t queries = 6'000;
};

inline Split make_split(const Shape& shape) {
  struct Memory {
    std::shared_ptr<float> rows;
    std::vector<std::uint8_t> labels;
    std::vector<std::uint64_t> query_begin;
  };
  auto memory = std::make_shared<Memory>();
  const std::size_t docs = std::size_t{shape.docs} * shape.queries;
  const std::uint32_t stride = padded_width(shape.features);
  memory->rows = zeroed_rows(docs * stride).value();
  memory->labels.resize(docs);
  Rng rng({.seed = 77});
  for (std::size_t doc = 0; doc < docs; ++doc) {
    float* row = memory->rows.get() + doc * stride;
    for (std::uint32_t f = 0; f < shape.features; ++f) {
      row[f] = static_cast<float>(rng.next_u32()) * 0x1p-32F;
    }
    const std::uint32_t draw = rng.below(100);
    memory->labels[doc] = static_cast<std::uint8_t>(draw < 55   ? 0
                                                    : draw < 80 ? 1
                                                    : draw < 93 ? 2
                                                    : draw < 98 ? 3
                                                                : 4);
  }
  for (std::uint64_t query = 0; query <= shape.queries; ++query) {
    memory->query_begin.push_back(query * shape.docs);
  }
  Split::Storage storage;
  storage.feature_count = shape.features;
  storage.query_count = shape.queries;
  storage.rows = memory->rows.get();
  storage.labels = memory->labels.data();
  storage.query_begin = memory->query_begin.data();
  storage.owner = std::move(memory);
  return Split(std::move(storage));
}

inline Dataset make_dataset(const Shape& shape) {
  Dataset dataset;
  dataset.name = "bench";
  dataset.max_label = 4;
  Fold fold;
  fold.name = "Fold1";
  fold.train = make_split(shape);
  fold.test = make_split({shape.features, shape.docs, 200});
  dataset.folds.push_back(std::move(fold));
  return dataset;
}

}  // namespace plackett::bench
