// Compiles with what rooms that see learners may include.
#include "plackett/feature_view.h"
#include "plackett/learner.h"
#include "plackett/plackett_luce.h"
#include "plackett/ranker.h"
