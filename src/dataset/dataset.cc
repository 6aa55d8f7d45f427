#include "dataset/dataset.h"
