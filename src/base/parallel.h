// Independent pieces of work, done by a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace plackett {

// Calls piece(0) ... piece(count - 1), each once, in any order, from up to `threads` threads of
// which the caller is one. Returns when all are done. If pieces throw, the exception of the
// lowest-numbered piece that threw is rethrown here, and pieces not yet started may be skipped.
void parallel_for(unsigned threads, std::size_t count,
                  const std::function<void(std::size_t)>& piece);

// How many threads `asked` means: 0 is one per core.
unsigned thread_count(unsigned asked);

}  // namespace plackett
