// What was shown, as Python holds it.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>

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

// Documents as an int64 array.
py::array_t<std::int64_t> docs_array(std::span<const Doc> docs);

}  // namespace plackett::python
