#include "arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "arguments.h"
#include "background.h"
#include "failure.h"
#include "handles.h"
#include "plackett/judgments.h"

namespace plackett::python {
namespace {

constexpr auto kFloatBytes = static_cast<py::ssize_t>(sizeof(float));

// An array whose class is numpy.ndarray itself.
py::array as_array(py::handle values, std::string_view name) {
  static const py::handle ndarray = py::type::of(py::array()).release();
  if (py::type::handle_of(values).is(ndarray)) return py::reinterpret_borrow<py::array>(values);
  return errors_module().attr("as_array")(values, name);
}

bool aligned(const py::array& array, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(array.data()) % bytes == 0;
}

// The same numbers as T, contiguous; the array itself if it is that already.
template <typename T>
py::array converted(const py::array& array, std::string_view name) {
  if (std::string_view("fiub").find(array.dtype().kind()) == std::string_view::npos) {
    bad_type("{}: dtype {}; expected real numbers", name, std::string(py::str(array.dtype())));
  }
  using Made = py::array_t<T, py::array::c_style | py::array::forcecast>;
  const auto made = unless_the_program_ends([&] { return Made(array); });
  return aligned(made, alignof(T)) ? py::array(made) : py::array(made.attr("copy")());
}

std::string shape_text(const py::array& array) { return py::str(array.attr("shape")); }

void require_one_dimension(const py::array& array, std::string_view name) {
  if (array.ndim() != 1) bad_value("{}: shape {}; expected one dimension", name, shape_text(array));
}

// Whether the engine can read the rows in place.
bool usable(const py::array& matrix) {
  const py::dtype type = matrix.dtype();
  if (type.kind() != 'f' || type.itemsize() != kFloatBytes || type.byteorder() != '=') return false;
  if (!aligned(matrix, alignof(float))) return false;
  const py::ssize_t features = matrix.shape(1);
  if (features > 1 && matrix.strides(1) != kFloatBytes) return false;
  if (matrix.shape(0) <= 1) return true;
  return matrix.strides(0) >= features * kFloatBytes && matrix.strides(0) % kFloatBytes == 0;
}

template <typename From, typename To>
std::vector<To> read_integers(const py::array& array, const IntegerRule& rule) {
  const auto values = array.unchecked<From, 1>();
  std::vector<To> numbers;
  numbers.reserve(static_cast<std::size_t>(values.shape(0)));
  for (py::ssize_t at = 0; at < values.shape(0); ++at) {
    const From value = values(at);
    const auto real = static_cast<double>(value);
    if (!(real >= 0 && real <= static_cast<double>(rule.most) && real == std::floor(real))) {
      bad_value("{}: {} at {}; {}", rule.name, value, at, rule.rule);
    }
    numbers.push_back(static_cast<To>(value));
  }
  return numbers;
}

}  // namespace

template <typename T>
std::vector<T> integers(py::handle values, const IntegerRule& rule) {
  const py::array array = as_array(values, rule.name);
  const py::dtype type = array.dtype();
  const char kind = type.kind();
  // None, a set: NumPy takes each for a single object.
  if (array.ndim() == 0 && kind == 'O') {
    bad_type("{}: {}; {}", rule.name, shown_value(values), rule.rule);
  }
  require_one_dimension(array, rule.name);
  if (array.shape(0) == 0) return {};
  if ((kind == 'b' || kind == 'u') && type.itemsize() == 1) {
    return read_integers<std::uint8_t, T>(array, rule);
  }
  return read_integers<double, T>(converted<double>(array, rule.name), rule);
}
template std::vector<std::uint8_t> integers(py::handle, const IntegerRule&);
template std::vector<std::uint32_t> integers(py::handle, const IntegerRule&);
template std::vector<std::uint64_t> integers(py::handle, const IntegerRule&);

py::array matrix_of(py::handle features, std::string_view name) {
  py::array array = as_array(features, name);
  if (array.ndim() != 2) {
    bad_value("{}: shape {}; expected two dimensions, documents x features", name,
              shape_text(array));
  }
  if (std::max(array.shape(0), array.shape(1)) > std::numeric_limits<std::uint32_t>::max()) {
    bad_value("{}: shape {}; expected fewer than 2^32 rows and columns", name, shape_text(array));
  }
  return usable(array) ? array : converted<float>(array, name);
}

std::size_t stride_of(const py::array& matrix) {
  return static_cast<std::size_t>(matrix.shape(0) <= 1 ? matrix.shape(1)
                                                       : matrix.strides(0) / kFloatBytes);
}

Rows rows_of(py::handle features, std::uint32_t feature_count) {
  Rows rows;
  py::ssize_t columns = 0;
  if (py::isinstance<QueryHandle>(features)) {
    rows.view = py::cast<const QueryHandle&>(features).features();
    rows.owner = py::reinterpret_borrow<py::object>(features);
    columns = rows.view.feature_count();
  } else {
    py::array matrix = matrix_of(features, "features");
    const py::ssize_t docs = matrix.shape(0);
    columns = matrix.shape(1);
    if (docs == 0) bad_value("features: 0 documents; expected at least 1");
    if (columns == feature_count) {
      rows.view =
          FeatureView::of(static_cast<const float*>(matrix.data()),
                          static_cast<std::uint32_t>(docs), feature_count, stride_of(matrix));
    }
    rows.owner = std::move(matrix);
  }
  if (columns != feature_count) {
    bad_value("features: {} columns; the ranker reads {}", columns, feature_count);
  }
  return rows;
}

std::vector<std::uint32_t> ranking_of(py::handle ranking) {
  return integers<std::uint32_t>(ranking, {.name = "ranking",
                                           .most = std::numeric_limits<std::uint32_t>::max(),
                                           .rule = "a ranking holds indices of documents, from 0"});
}

std::vector<std::uint8_t> labels_of(py::handle labels, std::string_view name) {
  static_assert(kMaxLabel == 31);
  return integers<std::uint8_t>(labels,
                                {.name = name, .most = kMaxLabel, .rule = "labels are 0 to 31"});
}

std::vector<std::uint8_t> clicks_of(py::handle clicks) {
  return integers<std::uint8_t>(
      clicks, {.name = "clicks",
               .most = 1,
               .rule = "expected a 0 or 1 for each shown document, from the top"});
}

std::span<const std::uint8_t> labels_in(py::handle labels, std::vector<std::uint8_t>& copied) {
  if (py::isinstance<QueryHandle>(labels)) {
    return py::cast<const QueryHandle&>(labels).judgments().labels();
  }
  copied = labels_of(labels);
  return copied;
}

std::vector<std::uint32_t> feature_ids_of(py::handle ids, std::string_view name) {
  const std::string rule = fmt::format("feature ids are 1 to {}", kLargestFeatureId);
  auto values =
      integers<std::uint32_t>(ids, {.name = name, .most = kLargestFeatureId, .rule = rule});
  std::vector<std::uint32_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.front() == 0) bad_value("{}: 0; {}", name, rule);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) bad_value("{}: {} appears twice; ids must differ", name, *twice);
  return values;
}

std::vector<double> real_numbers(py::handle values, std::string_view name) {
  const py::array array = as_array(values, name);
  require_one_dimension(array, name);
  if (array.shape(0) == 0) return {};
  const py::array numbers = converted<double>(array, name);
  const auto* first = static_cast<const double*>(numbers.data());
  return {first, first + numbers.size()};
}

std::vector<float> finite_floats(py::handle values, std::string_view name) {
  std::vector<float> floats;
  for (const double value : real_numbers(values, name)) {
    floats.push_back(static_cast<float>(value));
    if (!std::isfinite(floats.back())) {
      bad_value("{}: {} at {}; expected finite float32 numbers", name, value, floats.size() - 1);
    }
  }
  return floats;
}

py::array_t<std::int64_t> docs_array(std::span<const Doc> docs) {
  py::array_t<std::int64_t> array(static_cast<py::ssize_t>(docs.size()));
  std::int64_t* out = array.mutable_data();
  for (const Doc doc : docs) *out++ = index(doc);
  return array;
}

}  // namespace plackett::python
