// What a comparison says, in sentences computed from its numbers.
#pragma once

#include <string>
#include <vector>

#include "report/arrangement.h"

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

// Says who is ahead by how much, and in how many standard errors of the difference (each side
// with its own variance), and calls less than two of them too close to call. That is a
// description, not a test. Cells whose numbers are not finite take no part.
Findings find(const Comparison& comparison, const Arrangement& arrangement);

}  // namespace plackett::report
