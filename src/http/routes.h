// Every address of the API, in one table.
#pragma once

#include <span>

#include "http/router.h"

namespace plackett::http {

std::span<const Route> routes();

}  // namespace plackett::http
