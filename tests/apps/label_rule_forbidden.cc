// A learner that peeks at labels: must not compile.
#include "plackett/judgments.h"
#include "plackett/learner.h"
