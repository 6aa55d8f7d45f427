// What was shown, as Python holds it, and rankings as Python gives them.
#pragma once

#include <pybind11/numpy.h>

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

// What a ranking is of: so many documents, each with one of these.
struct Candidates {
  std::string_view name;  // "labels", "scores"
  std::size_t count = 0;
};

// The documents of a ranking as Python gives it, from the top: an Impression's, or numbers. Fails
// where one is not among the candidates or comes twice.
std::vector<Doc> ranked_docs(py::handle ranking, const Candidates& candidates);

// Documents as an int64 array.
py::array_t<std::int64_t> docs_array(std::span<const Doc> docs);

}  // namespace plackett::python
