// One list combined from several rankers' rankings, and what its clicks say about the rankers.
// Ranker 0 is the current one, the others are candidates to replace it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/index.h"
#include "plackett/rng.h"
#include "sampling/score_table.h"

namespace plackett {

// sign(candidate's clicks - current's clicks), as a random variable: clicks may be credited to
// rankers at random.
struct Duel {
  double expected = 0;
  bool won = false;
};

class Multileaving {
 public:
  virtual ~Multileaving() = default;
  Multileaving& operator=(const Multileaving&) = delete;
  Multileaving& operator=(Multileaving&&) = delete;

  // Fills `shown` with distinct documents, best place first. Equal scores come in random order.
  // Requires: scores finite; at least 2 rankers; 0 < shown.size() <= docs. Allocates only for a
  // larger table than ever before.
  virtual void show(const ScoreTable& scores, Rng& rng, std::span<Doc> shown) = 0;

  // Candidate c's duel is at c - 1. `clicks` are those on the list shown last. Random decisions
  // draw from `rng`. Valid until the next call.
  virtual std::span<const Duel> judge(std::span<const std::uint8_t> clicks, Rng& rng) = 0;

 protected:
  Multileaving() = default;
  Multileaving(const Multileaving&) = default;
  Multileaving(Multileaving&&) = default;
};

}  // namespace plackett
