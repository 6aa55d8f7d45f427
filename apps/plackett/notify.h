// Tells a supervisor how far a server is: systemd's protocol of sd_notify(3).
#pragma once

#include <string_view>

namespace plackett::command {

// Sends a state, such as "READY=1", to the socket that NOTIFY_SOCKET names. Does nothing if there
// is none, or if nobody listens.
void notify_supervisor(std::string_view state);

}  // namespace plackett::command
