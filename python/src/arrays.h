// Arrays as Python gives and gets them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plackett/feature_view.h"
#include "plackett/index.h"

namespace plackett::python {

namespace py = pybind11;

// A query's feature rows, and what keeps them alive. Destroyed with the GIL held.
struct Rows {
  FeatureView view;
  py::object owner;  // the array that was given, or one made from it, or a plackett.Query
};

// Rows of a plackett.Query, or of whatever makes an array of two dimensions. float32 rows at least
// their length apart, with adjacent values, are used in place, in O(1); others are copied. Fails if
// a value is not a real number, if there is no document, or if the number of columns is not
// `feature_count`.
Rows rows_of(py::handle features, std::uint32_t feature_count);

// A matrix likewise, of any number of rows and columns below 2^32.
py::array matrix_of(py::handle features, std::string_view name);

// Floats from one row to the next in what matrix_of returned.
std::size_t stride_of(const py::array& matrix);

struct IntegerRule {
  std::string_view name;
  std::uint64_t most = 0;  // at most 2^53
  std::string_view rule;   // "labels are 0 to 31"
};

// A sequence of integers from 0 to rule.most, however they are written: 1, 1.0, True. For unsigned
// T of 8, 32 and 64 bits.
template <typename T>
std::vector<T> integers(py::handle values, const IntegerRule& rule);

std::vector<std::uint32_t> ranking_of(py::handle ranking);
std::vector<std::uint8_t> labels_of(py::handle labels, std::string_view name = "labels");
std::vector<std::uint8_t> clicks_of(py::handle clicks);

// Labels of a plackett.Query where they are, or others in `copied`.
std::span<const std::uint8_t> labels_in(py::handle labels, std::vector<std::uint8_t>& copied);

// Feature ids, from 1, all different.
std::vector<std::uint32_t> feature_ids_of(py::handle ids, std::string_view name);

// A sequence of real numbers, finite or not.
std::vector<double> real_numbers(py::handle values, std::string_view name);

// Real numbers that are finite as float32.
std::vector<float> finite_floats(py::handle values, std::string_view name);

// A new array of these values. Not by NumPy's own copy, which lets the GIL go for a while.
template <typename Values>
auto array_of(const Values& values) {
  py::array_t<typename Values::value_type> array(static_cast<py::ssize_t>(values.size()));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

// Documents as an int64 array.
py::array_t<std::int64_t> docs_array(std::span<const Doc> docs);

}  // namespace plackett::python
