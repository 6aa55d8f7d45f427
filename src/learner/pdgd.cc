#include "learner/learner.h"
