#include "experiment/record.h"
