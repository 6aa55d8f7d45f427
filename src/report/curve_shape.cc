#include "report/curve_shape.h"

#include <cmath>
#include <span>

namespace plackett::report {
namespace {

// The stretches of a curve that can be drawn without a gap.
std::vector<std::span<const CurveSummary>> pieces(const std::vector<CurveSummary>& curve,
                                                  Metric metric) {
  std::vector<std::span<const CurveSummary>> found;
  for (std::size_t start = 0; start < curve.size();) {
    if (!drawable(curve[start], metric)) {
      ++start;
      continue;
    }
    std::size_t end = start;
    while (end < curve.size() && drawable(curve[end], metric)) ++end;
    found.emplace_back(curve.data() + start, end - start);
    start = end;
  }
  return found;
}

// The point `side` deviations above the mean.
Point place(const CurveSummary& point, double side, const Axes& axes, Metric metric) {
  const Moments& value = moments(point, metric);
  const double deviation = std::isfinite(value.std) ? value.std : 0;
  return {axes.x(static_cast<double>(point.impression)), axes.y(value.mean + side * deviation)};
}

}  // namespace

std::vector<Polyline> line_shapes(const CellSummary& cell, const Axes& axes, Metric metric) {
  std::vector<Polyline> shapes;
  for (const auto piece : pieces(cell.curve, metric)) {
    Polyline& shape = shapes.emplace_back();
    for (const CurveSummary& point : piece) shape.push_back(place(point, 0, axes, metric));
  }
  return shapes;
}

std::vector<Polyline> band_shapes(const CellSummary& cell, const Axes& axes, Metric metric) {
  std::vector<Polyline> shapes;
  for (const auto piece : pieces(cell.curve, metric)) {
    Polyline& shape = shapes.emplace_back();
    for (const CurveSummary& point : piece) shape.push_back(place(point, 1, axes, metric));
    for (std::size_t at = piece.size(); at-- > 0;) {
      shape.push_back(place(piece[at], -1, axes, metric));
    }
  }
  return shapes;
}

}  // namespace plackett::report
