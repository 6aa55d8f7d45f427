// Compiles with what the learner room may include.
#include "dataset/feature_view.h"
#include "learner/learner.h"
#include "ranker/ranker.h"
#include "sampling/plackett_luce.h"
