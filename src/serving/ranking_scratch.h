// Memory for ranking.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/aligned.h"
#include "plackett/ranker.h"
#include "sampling/shown_list.h"
#include "serving/impression.h"
#include "serving/version.h"

namespace plackett::serving {

// Reused between requests, with copies of the models' rankers, which a newer version replaces. One
// thread at a time.
class RankingScratch {
 public:
  struct Copy {
    std::uint64_t serial = 0;
    std::shared_ptr<const Version> version;
    std::unique_ptr<Ranker> ranker;
  };
  std::unordered_map<std::int64_t, Copy> copies;  // by model

  AlignedVector<float> rows;              // of the candidates
  std::vector<std::uint32_t> candidates;  // items that are not blocked
  std::vector<float> scores;              // of the candidates
  std::vector<Pin> pins;                  // of candidates
  ListMaker lists;
  ShownList list;
  Impression impression;
};

}  // namespace plackett::serving
