// What was shown, as Python holds it, and rankings as Python gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "plackett/method.h"
#include "plackett/ranking.h"

namespace plackett::python {

struct Impression {
  Rows rows;
  Ranking ranking;
  const Method* method = nullptr;
  std::uint64_t learner = 0;  // its id
  std::uint64_t seed = 0;
  std::uint32_t run = 0;
  std::uint64_t number = 0;
};

// Clicks on an impression. Fails unless there is one for each shown document.
std::vector<std::uint8_t> clicks_on(const Impression& impression, py::handle clicks);

// The documents of a ranking as Python gives it, from the top: an Impression's, or indices. Fails
// if one appears twice or is not below `count`, the number of candidates, each of which has one of
// `name` ("labels", "scores").
std::vector<Doc> ranked_docs(py::handle ranking, std::size_t count, std::string_view name);

// PDGD's weights for each of `doc_count` candidates, as document_weights, to the bit. For lists of
// any length.
py::array_t<double> weights_by_doc(const Ranking& ranking, std::span<const std::uint8_t> clicks,
                                   std::size_t doc_count);

}  // namespace plackett::python
