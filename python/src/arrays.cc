#include "arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "arguments.h"
#include "data.h"
#include "failure.h"
#include "plackett/judgments.h"

namespace plackett::python {
namespace {

constexpr std::string_view kRealKinds = "fiub";
constexpr auto kFloatBytes = static_cast<py::ssize_t>(sizeof(float));

using Api = py::detail::npy_api;

bool is_plain(py::handle values) { return Py_TYPE(values.ptr()) == Api::get().PyArray_Type_; }

// What NumPy makes of the values, as it is asked to by `flags`; null with Python's error set.
py::object from_any(py::handle values, py::handle dtype, int flags) {
  return py::reinterpret_steal<py::object>(
      Api::get().PyArray_FromAny_(values.ptr(), dtype.inc_ref().ptr(), 0, 0, flags, nullptr));
}

// An array of numpy.ndarray's own class, in the same memory where that can be: a subclass could
// answer anything about itself.
py::array as_array(py::handle values, std::string_view name) {
  if (is_plain(values)) return py::reinterpret_borrow<py::array>(values);
  py::object array = from_any(values, {}, 0);
  if (array && !is_plain(array)) {
    if (py::isinstance(array, py::module_::import("numpy.ma").attr("MaskedArray"))) {
      bad_type("{}: a masked array; fill it first, with its filled()", name);
    }
    array = from_any(array, {}, Api::NPY_ARRAY_ENSUREARRAY_);
  }
  if (!array) {
    const py::error_already_set error;
    if (!error.matches(PyExc_Exception)) throw error;
    bad_type("{}: {} is no array: {}", name, type_name(values), said_by(error));
  }
  return py::reinterpret_steal<py::array>(array.release());
}

// The same numbers as T, aligned, one after another; the array itself where it is so.
template <typename T>
py::array converted(const py::array& array, std::string_view name) {
  constexpr int kFlags = Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_ALIGNED_ |
                         Api::NPY_ARRAY_FORCECAST_ | Api::NPY_ARRAY_ENSUREARRAY_;
  py::object made = from_any(array, py::dtype::of<T>(), kFlags);
  if (!made) throw py::error_already_set();
  if (!py::isinstance<py::array_t<T, py::array::c_style>>(made) ||
      py::reinterpret_borrow<py::array>(made).ndim() != array.ndim()) {
    bad_type("{}: {} can't be made an array of numbers", name, type_name(array));
  }
  return py::reinterpret_steal<py::array>(made.release());
}

void require_real(const py::array& array, std::string_view name) {
  if (kRealKinds.find(array.dtype().kind()) == std::string_view::npos) {
    bad_type("{}: dtype {}; they are real numbers", name, std::string(py::str(array.dtype())));
  }
}

std::string shape_text(const py::array& array) { return py::str(array.attr("shape")); }

void require_one_dimension(const py::array& array, std::string_view name) {
  if (array.ndim() != 1) {
    bad_value("{}: shape {}; they have one dimension", name, shape_text(array));
  }
}

bool is_float32(const py::array& array) {
  const py::dtype type = array.dtype();
  return type.kind() == 'f' && type.itemsize() == kFloatBytes && type.byteorder() == '=';
}

// Whether the engine can read the rows where they are.
bool usable(const py::array& matrix) {
  const py::ssize_t docs = matrix.shape(0);
  const py::ssize_t features = matrix.shape(1);
  if (reinterpret_cast<std::uintptr_t>(matrix.data()) % alignof(float) != 0) return false;
  if (features > 1 && matrix.strides(1) != kFloatBytes) return false;
  if (docs <= 1) return true;
  return matrix.strides(0) >= features * kFloatBytes && matrix.strides(0) % kFloatBytes == 0;
}

template <typename From, typename To>
void read_whole(const py::array& array, const WholeRule& rule, std::vector<To>& out) {
  const auto count = static_cast<std::size_t>(array.shape(0));
  out.resize(count);
  const auto* at = static_cast<const char*>(array.data());
  const py::ssize_t stride = array.strides(0);
  for (std::size_t number = 0; number < count; ++number, at += stride) {
    From value;
    std::memcpy(&value, at, sizeof value);
    bool fits = true;
    if constexpr (std::is_floating_point_v<From>) {
      fits = value >= 0 && value <= static_cast<From>(rule.most) && value == std::floor(value);
    } else if constexpr (std::is_signed_v<From>) {
      fits = value >= 0 && static_cast<std::uint64_t>(value) <= rule.most;
    } else {
      fits = value <= rule.most;
    }
    if (!fits) bad_value("{}: {} at {}; {}", rule.name, value, number, rule.rule);
    out[number] = static_cast<To>(value);
  }
}

template <typename To>
void read_whole_numbers(py::handle values, const WholeRule& rule, std::vector<To>& out) {
  py::array array = as_array(values, rule.name);
  // None, a set: NumPy takes them for one thing.
  if (array.ndim() == 0 && array.dtype().kind() == 'O') {
    bad_type("{}: {}; {}", rule.name, shown_value(values), rule.rule);
  }
  require_one_dimension(array, rule.name);
  if (array.shape(0) == 0) {
    out.clear();
    return;
  }
  require_real(array, rule.name);
  switch (array.dtype().kind()) {
    case 'b':
      read_whole<std::uint8_t>(array, rule, out);
      return;
    case 'f':
      read_whole<double>(converted<double>(array, rule.name), rule, out);
      return;
    case 'u':
      if (array.dtype().itemsize() == 1) {
        read_whole<std::uint8_t>(array, rule, out);
      } else {
        read_whole<std::uint64_t>(converted<std::uint64_t>(array, rule.name), rule, out);
      }
      return;
    default:
      read_whole<std::int64_t>(converted<std::int64_t>(array, rule.name), rule, out);
  }
}

}  // namespace

py::array one_dimension_of(py::handle values, std::string_view name) {
  py::array array = as_array(values, name);
  require_one_dimension(array, name);
  return array;
}

py::array matrix_of(py::handle features, std::string_view name) {
  py::array array = as_array(features, name);
  if (array.ndim() != 2) {
    bad_value("{}: shape {}; they have two dimensions, documents x features", name,
              shape_text(array));
  }
  if (is_float32(array) && usable(array)) return array;
  require_real(array, name);
  return converted<float>(array, name);
}

Matrix layout_of(const py::array& matrix) {
  Matrix layout;
  layout.rows = static_cast<const float*>(matrix.data());
  layout.doc_count = static_cast<std::size_t>(matrix.shape(0));
  layout.feature_count = static_cast<std::size_t>(matrix.shape(1));
  layout.stride = layout.doc_count <= 1 ? layout.feature_count
                                        : static_cast<std::size_t>(matrix.strides(0) / kFloatBytes);
  return layout;
}

Rows rows_of(py::handle features, std::uint32_t feature_count) {
  Rows rows;
  if (py::isinstance<QueryHandle>(features)) {
    rows.view = py::cast<const QueryHandle&>(features).features();
    rows.owner = py::reinterpret_borrow<py::object>(features);
  } else {
    py::array matrix = matrix_of(features, "features");
    const Matrix layout = layout_of(matrix);
    if (layout.doc_count == 0) bad_value("features: 0 documents; there is at least 1");
    if (layout.doc_count > std::numeric_limits<std::uint32_t>::max()) {
      bad_value("features: {} documents; fewer than 2^32", layout.doc_count);
    }
    if (layout.feature_count != feature_count) {
      bad_value("features: {} columns; the ranker reads {}", layout.feature_count, feature_count);
    }
    rows.view = FeatureView::of(layout.rows, static_cast<std::uint32_t>(layout.doc_count),
                                feature_count, layout.stride);
    rows.owner = std::move(matrix);
  }
  if (rows.view.feature_count() != feature_count) {
    bad_value("features: {} columns; the ranker reads {}", rows.view.feature_count(),
              feature_count);
  }
  return rows;
}

void whole_numbers(py::handle values, const WholeRule& rule, std::vector<std::uint8_t>& out) {
  read_whole_numbers(values, rule, out);
}
void whole_numbers(py::handle values, const WholeRule& rule, std::vector<std::uint32_t>& out) {
  read_whole_numbers(values, rule, out);
}
void whole_numbers(py::handle values, const WholeRule& rule, std::vector<std::uint64_t>& out) {
  read_whole_numbers(values, rule, out);
}

std::vector<std::uint32_t> ranking_of(py::handle ranking) {
  std::vector<std::uint32_t> docs;
  whole_numbers(ranking,
                {.name = "ranking",
                 .most = std::numeric_limits<std::uint32_t>::max(),
                 .rule = "a ranking holds numbers of documents, from 0"},
                docs);
  return docs;
}

std::vector<std::uint8_t> labels_of(py::handle labels, std::string_view name) {
  static_assert(kMaxLabel == 31);
  std::vector<std::uint8_t> values;
  whole_numbers(labels, {.name = name, .most = kMaxLabel, .rule = "labels are 0 to 31"}, values);
  return values;
}

std::vector<std::uint8_t> clicks_of(py::handle clicks) {
  std::vector<std::uint8_t> values;
  whole_numbers(clicks,
                {.name = "clicks",
                 .most = 1,
                 .rule = "a click is 0 or 1, one for each shown document from the top"},
                values);
  return values;
}

std::vector<std::uint32_t> feature_ids_of(py::handle ids, std::string_view name) {
  const std::string rule = fmt::format("feature ids are 1 to {}", kLargestFeatureId);
  std::vector<std::uint32_t> values;
  whole_numbers(ids, {.name = name, .most = kLargestFeatureId, .rule = rule}, values);
  std::vector<std::uint32_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.front() == 0) bad_value("{}: 0; {}", name, rule);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) bad_value("{}: {} twice; no two are alike", name, *twice);
  return values;
}

std::vector<double> real_numbers(py::handle values, std::string_view name) {
  const py::array array = as_array(values, name);
  require_one_dimension(array, name);
  if (array.shape(0) == 0) return {};
  require_real(array, name);
  const py::array numbers = converted<double>(array, name);
  const auto* first = static_cast<const double*>(numbers.data());
  return {first, first + numbers.size()};
}

}  // namespace plackett::python
