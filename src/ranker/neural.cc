#include "ranker/ranker.h"
