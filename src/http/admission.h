// Whether a request may go on, known from its header alone.
#pragma once

#include "http/exchange.h"
#include "http/router.h"

namespace plackett::http {

// The route of the request, where its method and path have one, its origin and host are this server
// and its token's role allows it. Otherwise none, and the exchange's response says why. `index` is
// set to the route's wherever the path and method have one.
const Route* admit(Exchange& exchange, std::size_t& index);

}  // namespace plackett::http
