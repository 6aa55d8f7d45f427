// What was shown, with what pair weights need to know later about that moment.
#pragma once

#include <vector>

#include "plackett/index.h"
#include "plackett/mass.h"

namespace plackett {

// Plain data: keep it until the clicks arrive, however long that takes.
struct Ranking {
  std::vector<Doc> shown = {};      // shown[rank]
  std::vector<double> scores = {};  // scores[rank], at display time
  Mass rest = {};                   // of the candidates not shown, at display time
};

}  // namespace plackett
