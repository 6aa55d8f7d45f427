// Whether a request may go on, known from its header alone.
#pragma once

#include "http/exchange.h"
#include "http/router.h"

namespace plackett::http {

// Whether the method and path have a route, the origin and host are this server and the token's
// role allows it. Otherwise the exchange's response says why not. `match` is set as far as known.
bool admit(Exchange& exchange, Match& match);

}  // namespace plackett::http
