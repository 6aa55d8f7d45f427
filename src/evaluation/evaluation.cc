#include "dataset/judgments.h"
