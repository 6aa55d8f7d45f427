// A client's connection: reads requests one after the other, has each answered, writes the answer.
#pragma once

#include "http/exchange.h"
#include "http/worker.h"

namespace plackett::http {

// Runs on the worker's thread until the connection is closed. The site has counted the connection.
// `refused`: it is one too many, and is only told so.
Awaitable<void> serve_connection(Worker& worker, Socket socket, bool refused);

}  // namespace plackett::http
