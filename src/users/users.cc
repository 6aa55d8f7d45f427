#include "users/user.h"
