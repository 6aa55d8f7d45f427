// What a comparison says, in sentences computed from its numbers.
#pragma once

#include <string>
#include <vector>

#include "report/arrangement.h"
#include "report/significance.h"

namespace plackett::report {

// A large number with what it is.
struct Card {
  std::string label;
  std::string value;
  std::string note;
};

struct Finding {
  std::string lead;  // what the sentences are about: a click model, or a question
  std::vector<std::string> sentences;
};

// Texts as the data has them, not yet made safe.
struct Findings {
  std::string headline;
  std::vector<Card> cards;
  std::vector<Finding> findings;
};

// Says who is ahead by how much, by the tests where the comparison has them (report/winners.h).
// Cells whose numbers are not finite take no part.
Findings find(const Comparison& comparison, const Arrangement& arrangement,
              const Significance& significance);

}  // namespace plackett::report
