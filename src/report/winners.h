// Who is ahead, and by how much: the sentences about means and tests.
#pragma once

#include <string>
#include <vector>

#include "report/arrangement.h"
#include "report/significance.h"

namespace plackett::report {

// Two means differ clearly where the test between them has p < 0.05; where there is none (neither
// is a baseline), where they are two standard errors of the difference apart. Without spread, as
// between single runs, nothing is clear.

inline constexpr double kClearErrors = 2;

// The difference of two means in standard errors of it; NaN where there is no spread to judge by.
double standard_errors(const CellSummary& one, const CellSummary& other, const Measure& measure);

// One sentence: who beats every baseline in every block, by the tests; where nobody does, who wins
// clearly in most blocks.
std::string headline(const Arrangement& arrangement, const Significance& significance);

// "Offline: PDGD (linear) with 0.511, 0.017 ahead of MGD (linear) (p = 3.1e-10)." Empty where no
// mean is finite.
std::string lead_sentence(const Arrangement& arrangement, const Block& block,
                          const Significance& significance, const Measure& measure);

// "Offline: PDGD (linear) leads under all three click models." For one dataset of several. Goes by
// the means alone, and says so where they are of single runs.
std::string leads_sentence(const Arrangement& arrangement, std::size_t dataset,
                           const Measure& measure);

// "almost random", for the middle of a sentence.
std::string click_model_words(const CellSummary& cell);

}  // namespace plackett::report
