// Distinct types for indices, so that one can't be passed for another. A `doc`
// indexes the candidates of a query; a `rank` (a plain std::uint32_t, from 0 at the top)
// indexes the shown list; a `query` indexes the queries of a split.
#pragma once

#include <cstdint>

namespace plackett {

// Which of a query's candidates, from 0.
enum class Doc : std::uint32_t {};
// Which of a split's queries, from 0.
enum class Query : std::uint32_t {};

// The number, for indexing arrays.
constexpr std::uint32_t index(Doc doc) { return static_cast<std::uint32_t>(doc); }
// The number, for indexing arrays.
constexpr std::uint32_t index(Query query) { return static_cast<std::uint32_t>(query); }

}  // namespace plackett
