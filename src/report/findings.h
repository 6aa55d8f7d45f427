// What a comparison says, in a few sentences computed from its numbers.
#pragma once

#include <string>
#include <vector>

#include "report/arrangement.h"

namespace plackett::report {

struct Finding {
  std::string lead;  // what the sentences are about: a click model
  std::vector<std::string> sentences;
};

// Raw texts, not escaped.
struct Findings {
  std::string headline;
  std::vector<Finding> findings;  // one per block; none if there are more than six
};

// Two means differ clearly if the test between them has p < 0.05; if there is none (neither is a
// baseline), if they are two standard errors of the difference apart. Without spread, as between
// single runs, nothing is clear. Cells whose numbers are not finite take no part.
Findings find(const Arrangement& arrangement);

}  // namespace plackett::report
