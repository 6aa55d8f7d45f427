// What PDGD infers from clicks, for lists of any length.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plackett/pairs.h"
#include "plackett/ranking.h"

namespace plackett::python {

namespace py = pybind11;

// As PairInference::infer, to the bit. Cost: O(clicks x documents seen x documents seen), cubic at
// worst. Where that is long it is done in parts on another thread: the GIL is free, and Ctrl-C
// stops it.
std::vector<WeightedPair> inferred_pairs(const Ranking& ranking,
                                         std::span<const std::uint8_t> clicks);

// As document_weights, to the bit: one for each of so many candidates.
py::array_t<double> weights_by_doc(const Ranking& ranking, std::span<const std::uint8_t> clicks,
                                   std::size_t doc_count);

}  // namespace plackett::python
