// What was shown, with all that pair weights need to know later of the moment of showing.
#pragma once

#include <vector>

#include "plackett/index.h"
#include "plackett/mass.h"

namespace plackett {

// Plain data: keep it until the clicks come, however long that takes.
struct Ranking {
  std::vector<Doc> shown = {};      // shown[rank]
  std::vector<double> scores = {};  // scores[rank], at display time
  Mass rest = {};                   // of the candidates not shown, at display time
};

}  // namespace plackett
