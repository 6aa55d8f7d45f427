// Sums over the lists of a log, by several threads, with bits that don't depend on their number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/attempt.h"
#include "base/parallel.h"
#include "plackett/logged_list.h"

namespace plackett {

// All parts of a log, or `most` of them, spread over it.
inline std::vector<std::size_t> some_parts(const LoggedLists& lists, std::size_t most) {
  const std::size_t all = lists.parts();
  const std::size_t count = std::min(all, most);
  std::vector<std::size_t> parts(count);
  for (std::size_t at = 0; at < count; ++at) parts[at] = at * all / count;
  return parts;
}

// For each of these parts of the log: a new sum = make(), worker = begin(sum), then worker(list)
// for each list; the sums are merged into `total` in the order of the parts. Throws what these
// throw, and Failed if the log can't be read.
template <typename Sums, typename Make, typename Begin>
void read_parts(LoggedLists& lists, std::span<const std::size_t> parts, ListNeed need,
                unsigned threads, Sums& total, const Make& make, const Begin& begin) {
  const std::size_t at_once = std::max<std::size_t>(std::size_t{2} * threads, 1);
  for (std::size_t start = 0; start < parts.size(); start += at_once) {
    const std::size_t count = std::min(at_once, parts.size() - start);
    std::vector<std::unique_ptr<Sums>> made(count);
    parallel_for(threads, count, [&](std::size_t at) {
      made[at] = std::make_unique<Sums>(make());
      auto worker = begin(*made[at]);
      take(lists.each(parts[start + at], need, [&](const LoggedList& list) { worker(list); }));
    });
    for (const auto& one : made) total.merge(*one);
  }
}

}  // namespace plackett
