// Arrays as Python gives and gets them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plackett/feature_view.h"

namespace plackett::python {

namespace py = pybind11;

// A query's feature rows, and what keeps them alive. Gone with the GIL held.
struct Rows {
  FeatureView view;
  py::object owner;  // the array that was given, or one made from it, or a plackett.Query
};

// Rows of a plackett.Query or of whatever makes an array of two dimensions. float32 rows that lie
// apart by at least their length, their values next to each other, are used where they are; others
// are copied. O(1) for those. Fails where a value is no real number, where there is no document,
// and where there are other than `feature_count` columns.
Rows rows_of(py::handle features, std::uint32_t feature_count);

// Values of any kind, as an array of numpy.ndarray's own class and of one dimension.
py::array one_dimension_of(py::handle values, std::string_view name);

// A matrix likewise, any number of columns.
py::array matrix_of(py::handle features, std::string_view name);

// The rows of what matrix_of gave.
struct Matrix {
  const float* rows = nullptr;
  std::size_t doc_count = 0;
  std::size_t feature_count = 0;
  std::size_t stride = 0;  // floats from row to row
};
Matrix layout_of(const py::array& matrix);

struct WholeRule {
  std::string_view name;
  std::uint64_t most = 0;
  std::string_view rule;  // "labels are 0 to 31"
};

// A sequence of whole numbers from 0 to rule.most, however they are written: 1, 1.0, True. Reuses
// `out`.
void whole_numbers(py::handle values, const WholeRule& rule, std::vector<std::uint8_t>& out);
void whole_numbers(py::handle values, const WholeRule& rule, std::vector<std::uint32_t>& out);
void whole_numbers(py::handle values, const WholeRule& rule, std::vector<std::uint64_t>& out);

std::vector<std::uint32_t> ranking_of(py::handle ranking);
std::vector<std::uint8_t> labels_of(py::handle labels, std::string_view name = "labels");
std::vector<std::uint8_t> clicks_of(py::handle clicks);

// Feature ids, from 1, no two alike.
std::vector<std::uint32_t> feature_ids_of(py::handle ids, std::string_view name);

// A sequence of real numbers, finite or not.
std::vector<double> real_numbers(py::handle values, std::string_view name);

// Borrowed memory as an array that can't be written to; `owner` keeps the memory alive.
template <typename T>
py::array read_only(std::vector<py::ssize_t> shape, std::vector<py::ssize_t> strides, const T* data,
                    py::handle owner) {
  py::array array(py::dtype::of<T>(), std::move(shape), std::move(strides), data, owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// A new array of these values.
template <typename T>
py::array_t<T> array_of(std::span<const T> values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace plackett::python
