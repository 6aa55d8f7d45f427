// Makes the list that is shown from the scores of the candidates. Simulated learners and the
// service both use this, so a served model shows what a simulated one would.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/index.h"
#include "plackett/plackett_luce.h"
#include "plackett/ranking.h"
#include "plackett/rng.h"

namespace plackett {

// Samples min(places, scores.size()) documents from the Plackett-Luce distribution into `ranking`,
// with their scores and the mass of the rest. False, without a change, if a score is not finite.
// Requires: scores not empty. No allocation once the memory has grown.
bool sample_list(std::span<const float> scores, std::uint32_t places, Rng& rng,
                 SamplingScratch& scratch, Ranking& ranking);

// A document with a fixed rank, from 0.
struct Pin {
  Doc doc{0};
  std::uint32_t rank = 0;
};

enum class ListOrder : std::uint8_t {
  kSampled,
  kSorted,   // by score
  kAsGiven,  // as the candidates are; without pins
};

struct ListRules {
  std::uint32_t places = 10;  // fewer if there are fewer candidates
  float temperature = 1;      // scores are divided by it
  ListOrder order = ListOrder::kSampled;
  std::span<const Pin> pins = {};  // distinct documents and ranks; ranks below the places
};

struct PlacedList {
  struct Place {
    Doc doc{0};
    double score = 0;  // over the temperature
    bool pinned = false;
  };
  std::vector<Place> places;   // places[rank]
  Mass rest;                   // of the candidates that were sampled from and not shown
  double log_probability = 0;  // of the sampled part; 0 if nothing was sampled
  double entropy = 0;  // of the first place, in nats, if sampled from those that are not pinned
};

// Keeps memory between lists. One thread at a time.
class ListMaker {
 public:
  // Takes what the next list is made from; the pins must live until then. False if a score over
  // the temperature is not finite.
  bool set(std::span<const float> scores, const ListRules& rules);
  // Requires: set() gave true. Deterministic in `rng`.
  void make(Rng rng, PlacedList& list);

 private:
  void sort(std::uint32_t places);

  ListRules rules_;
  std::vector<float> scores_;       // over the temperature, of all
  std::vector<float> free_scores_;  // of those that are not pinned
  std::vector<Doc> free_;
  std::vector<std::uint32_t> order_;
  Ranking ranking_;  // indices into free_
  SamplingScratch scratch_;
};

}  // namespace plackett
