// What tests of learners share.
#pragma once

#include <vector>

#include "base/aligned.h"
#include "plackett/feature_view.h"
#include "plackett/ranker.h"
#include "plackett/rng.h"

namespace plackett::testing {

// Features uniform on [0, 1).
inline AlignedVector<float> random_rows(std::uint32_t docs, std::uint32_t features,
                                        std::uint64_t seed = 9) {
  Rng rng({.seed = seed});
  AlignedVector<float> rows(std::size_t{docs} * padded_width(features));
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    for (std::uint32_t f = 0; f < features; ++f) {
      rows[doc * padded_width(features) + f] = static_cast<float>(rng.uniform());
    }
  }
  return rows;
}

inline std::vector<float> parameters_of(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  return parameters;
}

}  // namespace plackett::testing
