// Compiles with what the learner room may include.
#include "plackett/feature_view.h"
#include "plackett/learner.h"
#include "plackett/plackett_luce.h"
#include "plackett/ranker.h"
