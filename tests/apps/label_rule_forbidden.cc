// A learner that peeks at labels: must not compile.
#include "dataset/judgments.h"
#include "learner/learner.h"
