// The best documents by score.
#pragma once

#include <span>

#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/rng.h"

namespace plackett {

// Puts the out.size() documents of highest score into `out`, best first. Documents of equal
// score come in random order, every order equally likely, even if only some of them fit.
// Requires: no score is NaN; out.size() <= scores.size().
// Cost: for scores in random order O(n) and about k log(n / k) insertions; no allocation; draws
// only if scores are equal. Deterministic in `rng`.
PLACKETT_EXPORT void top_k(std::span<const float> scores, Rng& rng, std::span<Doc> out);

}  // namespace plackett
