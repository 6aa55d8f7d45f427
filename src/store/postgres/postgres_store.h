// The service's store in a PostgreSQL database.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::store {

struct PostgresOptions {
  std::string url{};  // postgresql://...
  // Of several processes that write at the same time, each has its own number.
  std::int64_t node = 0;
  std::string name = "plackett";  // what the server calls its connections: application_name
  // Fail if another process serves the store, as long as that is alone, too.
  bool alone = true;
  // Several processes serve the store together: serving/shared_store.h gives each its node.
  bool shared = false;
};

// Opens the store, or creates its tables. Fails if they are of another version.
//
// A transaction of changes alone is one round trip. When the connection is lost, the current
// transaction fails and the next one opens a new connection. If it is lost during a commit, the
// store finds out whether that took place, for up to ten seconds; if the answer comes later and is
// yes, or if another process wrote as the same node, only a restart helps, and begin() says so.
Result<std::unique_ptr<serving::Store>> open_postgres(const PostgresOptions& options);

// Reads a store, while others may be serving it. Fails if there is none. A connection that is lost
// is opened again by the next call.
// `name`: application_name; empty: one for readers.
Result<std::unique_ptr<serving::StoreReader>> read_postgres(const std::string& url,
                                                            const std::string& name = "");

}  // namespace plackett::store
