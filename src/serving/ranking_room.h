// What one thread needs to rank.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/aligned.h"
#include "plackett/index.h"
#include "plackett/plackett_luce.h"
#include "plackett/ranker.h"
#include "serving/version.h"
#include "store/impression.h"

namespace plackett::serving {

// Its own copies of the models' rankers, made again when a newer version is out, and memory that
// is used again. One thread at a time.
class RankingRoom {
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
  std::vector<std::uint32_t> item_at;     // a rank's pinned item
  std::vector<std::uint32_t> sampled;     // indices into candidates
  std::vector<float> sampled_scores;
  std::vector<double> shown_scores;
  std::vector<Doc> order;  // indices into sampled
  std::vector<std::uint32_t> all;
  SamplingScratch sampling;
  store::Impression impression;
};

}  // namespace plackett::serving
