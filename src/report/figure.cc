#include "report/figure.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "report/numbers.h"
#include "report/text.h"

namespace plackett {
namespace report {

bool drawable(const CurveSummary& point, const Measure& measure) {
  return point.impression > 0 && std::isfinite((point.*measure.curve).mean);
}

Axes::Axes(const std::vector<const CellSummary*>& cells, const Measure& measure) {
  for (const CellSummary* cell : cells) {
    for (const CurveSummary& point : cell->curve) {
      if (!drawable(point, measure)) continue;
      const auto& [mean, std] = point.*measure.curve;
      const double deviation = std::isfinite(std) ? std::fabs(std) : 0;
      first_ = std::min(first_, static_cast<double>(point.impression));
      last_ = std::max(last_, static_cast<double>(point.impression));
      low_ = std::min(low_, mean - deviation);
      high_ = std::max(high_, mean + deviation);
    }
  }
  if (last_ == 0) first_ = 1, low_ = 0, high_ = 1;
  if (!(last_ > first_)) last_ = first_ * 10;
  // No measure is below 0: bands end there.
  low_ = measure.from_zero ? 0 : std::max(low_, 0.0);
  high_ = std::min(high_, measure.largest);
  const double least_span = std::max(std::fabs(high_) * 0.01, 1e-3);
  if (!(high_ - low_ > least_span)) {
    const double middle = (low_ + high_) / 2;
    low_ = std::max(0.0, middle - least_span);
    high_ = middle + least_span;
  }
  // A little air above and below, within the measure's bounds.
  const double air = 0.04 * (high_ - low_);
  low_ = std::max(low_ - air, 0.0);
  high_ = std::max(high_, std::min(high_ + air, measure.largest));
}

std::vector<Tick> Axes::x_ticks() const {
  std::vector<Tick> ticks;
  const bool dense = last_ < 99 * first_;
  for (double power = std::pow(10, std::floor(std::log10(first_))); power <= last_; power *= 10) {
    for (const double value : {power, 2 * power, 5 * power}) {
      if (value != power && !dense) continue;
      if (value < first_ * (1 - 1e-9) || value > last_ * (1 + 1e-9)) continue;
      ticks.push_back({value, compact(value)});
    }
  }
  return ticks;
}

std::vector<Tick> Axes::y_ticks() const {
  const double rough = (high_ - low_) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power >= rough * 0.85) step = factor * power;
  }
  std::vector<Tick> ticks;
  for (double at = std::ceil(low_ / step - 1e-9); at <= high_ / step + 1e-9; ++at) {
    ticks.push_back({at * step, compact(at * step)});
  }
  return ticks;
}

double Axes::x(double impression, const Frame& frame) const {
  const double clamped = std::clamp(impression, first_, last_);
  return frame.left + frame.width * std::log(clamped / first_) / std::log(last_ / first_);
}

double Axes::y(double value, const Frame& frame) const {
  return frame.bottom() - frame.height * (std::clamp(value, low_, high_) - low_) / (high_ - low_);
}

}  // namespace report
namespace {

using report::Arrangement;
using report::Axes;
using report::Block;
using report::Frame;
using report::Measure;
using report::Tick;

constexpr std::uint32_t kInk = 0x1c222b;
constexpr std::uint32_t kMuted = 0x5b6472;
constexpr std::uint32_t kGrid = 0xe3e6ea;

constexpr double kMargin = 12;
constexpr double kYLabels = 40;  // left of the first panel of a line
constexpr double kGap = 28;      // between panels
constexpr double kPanelTitle = 34;
constexpr double kPlot = 230;      // height
constexpr double kPanelFoot = 26;  // the numbers below a panel
constexpr double kAxisTitle = 22;
constexpr double kLeastPanel = 280;
constexpr std::size_t kMostColumns = 4;
constexpr double kLine = 2.25;

struct Font {
  double size = 13;
  std::uint32_t colour = kInk;
  bool bold = false;
};
constexpr Font kName{};
constexpr Font kSmall{.size = 12, .colour = kMuted};
constexpr Font kTitle{.size = 15, .bold = true};

struct Point {
  double x = 0, y = 0;
};

struct Destroy {
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;

class Canvas {
 public:
  explicit Canvas(cairo_surface_t* surface) : cairo_(cairo_create(surface)) {
    cairo_set_line_cap(get(), CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(get(), CAIRO_LINE_JOIN_ROUND);
  }
  [[nodiscard]] cairo_status_t status() const { return cairo_status(get()); }

  void paint_white() {
    colour(0xffffff, 1);
    cairo_paint(get());
  }

  double width(const std::string& text, const Font& font) {
    use(font);
    cairo_text_extents_t extents;
    cairo_text_extents(get(), text.c_str(), &extents);
    return extents.x_advance;
  }
  // The printable text, cut to fit into `space`.
  std::string fit(const std::string& text, double space, const Font& font) {
    std::size_t columns = report::display_width(text);
    std::string out = report::printable(text);
    while (columns > 4 && width(out, font) > space) out = report::shorten(text, --columns);
    return out;
  }
  // `align`: 0 starts at the point, 0.5 is centred on it, 1 ends there.
  void text(Point at, const std::string& text, const Font& font, double align = 0) {
    const double start = at.x - align * width(text, font);
    colour(font.colour, 1);
    cairo_move_to(get(), start, at.y);
    cairo_show_text(get(), text.c_str());
  }
  void pen(std::uint32_t rgb, double line_width, std::size_t dash = 0) {
    constexpr std::array<std::array<double, 2>, report::kDashes> kDashes{{{}, {7, 5}, {0.1, 5}}};
    colour(rgb, 1);
    cairo_set_line_width(get(), line_width);
    cairo_set_dash(get(), kDashes[dash].data(), dash == 0 ? 0 : 2, 0);
  }
  void stroke(const std::vector<Point>& line) {
    path(line);
    if (line.size() == 1) cairo_close_path(get());  // a dot, by its round ends
    cairo_stroke(get());
  }
  void fill_band(const std::vector<Point>& outline, std::uint32_t rgb) {
    colour(rgb, 0.13);
    path(outline);
    cairo_fill(get());
  }

 private:
  [[nodiscard]] cairo_t* get() const { return cairo_.get(); }
  void use(const Font& font) {
    cairo_select_font_face(get(), "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                           font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(get(), font.size);
  }
  void colour(std::uint32_t rgb, double opacity) {
    const auto part = [rgb](unsigned shift) { return (rgb >> shift & 0xFFU) / 255.0; };
    cairo_set_source_rgba(get(), part(16), part(8), part(0), opacity);
  }
  void path(const std::vector<Point>& points) {
    cairo_new_path(get());
    for (const Point& point : points) cairo_line_to(get(), point.x, point.y);
  }

  std::unique_ptr<cairo_t, Destroy> cairo_;
};

class Figure {
 public:
  Figure(const Arrangement& arrangement, const Measure& measure, double width)
      : arrangement_(arrangement), measure_(measure), width_(std::max(width, kLeastPanel)) {}

  [[nodiscard]] double width() const { return width_; }

  // Draws all of it and returns its height.
  [[nodiscard]] double draw(Canvas& canvas) const {
    canvas.paint_white();
    const double top = draw_legend(canvas) + kAxisTitle;
    const std::vector<Block>& blocks = arrangement_.blocks;
    const std::string about =
        fmt::format("{}; shaded: standard deviation over runs", measure_.about);
    canvas.text({kMargin, top - 4}, blocks.empty() ? "No runs to show" : about, kSmall);

    std::size_t most = 1;  // panels of one dataset
    for (std::size_t at = 0, first = 0; at < blocks.size(); ++at) {
      if (blocks[at].dataset != blocks[first].dataset) first = at;
      most = std::max(most, at - first + 1);
    }
    const auto fitting = static_cast<std::size_t>(width_ / kLeastPanel);
    const auto columns = static_cast<double>(std::min({fitting, most, kMostColumns}));
    Frame frame{.left = kMargin + kYLabels, .top = top + kPanelTitle, .width = 0, .height = kPlot};
    frame.width = (width_ - frame.left - kMargin - kGap * (columns - 1)) / columns;
    double column = 0;
    for (std::size_t at = 0; at < blocks.size(); ++at, ++column) {
      if (column == columns || (at > 0 && blocks[at - 1].dataset != blocks[at].dataset)) {
        frame.top += kPanelTitle + kPlot + kPanelFoot;
        column = 0;
      }
      frame.left = kMargin + kYLabels + column * (frame.width + kGap);
      draw_panel(canvas, blocks[at], frame, column == 0);
    }
    const double height = frame.bottom() + kPanelFoot + kAxisTitle;
    canvas.text({width_ - kMargin, height - 6}, "impressions learned from", kSmall, 1);
    return height;
  }

 private:
  // From left to right, onto the next line if an entry would pass the right border. Returns where
  // it ends.
  double draw_legend(Canvas& canvas) const {
    Point next{kMargin, kMargin + 5.5};
    for (const report::Series& series : arrangement_.series) {
      const std::string name = canvas.fit(series.label, width_ - 58 - kMargin, kName);
      const double taken = 58 + canvas.width(name, kName);
      if (next.x > kMargin && next.x + taken > width_) next = {kMargin, next.y + 22};
      canvas.pen(report::kSeriesColours[series.colour], kLine, series.dash);
      canvas.stroke({next, {next.x + 22, next.y}});
      canvas.text({next.x + 30, next.y + 4.5}, name, kName);
      next.x += taken;
    }
    return arrangement_.series.empty() ? 0 : next.y + 18.5;
  }

  void draw_panel(Canvas& canvas, const Block& block, const Frame& frame, bool y_labels) const {
    std::vector<const CellSummary*> cells;  // all of the dataset: its panels share their scales
    for (const Block& other : arrangement_.blocks) {
      if (other.dataset != block.dataset) continue;
      for (const report::Row& row : other.rows) cells.push_back(row.cell);
    }
    const Axes axes(cells, measure_);
    canvas.text({frame.left, frame.top - 12}, canvas.fit(block.title, frame.width, kTitle), kTitle);
    for (const Tick& tick : axes.y_ticks()) {
      const double y = axes.y(tick.value, frame);
      canvas.pen(kGrid, 1);
      canvas.stroke({{frame.left, y}, {frame.right(), y}});
      if (y_labels) canvas.text({frame.left - 8, y + 4}, tick.label, kSmall, 1);
    }
    for (const Tick& tick : axes.x_ticks()) {
      const double x = axes.x(tick.value, frame);
      canvas.pen(kMuted, 1);
      canvas.stroke({{x, frame.bottom()}, {x, frame.bottom() + 4}});
      canvas.text({x, frame.bottom() + 19}, tick.label, kSmall, 0.5);
    }
    canvas.pen(kMuted, 1);
    canvas.stroke({{frame.left, frame.bottom()}, {frame.right(), frame.bottom()}});
    for (const bool bands : {true, false}) {
      for (const report::Row& row : block.rows) draw_row(canvas, row, axes, frame, bands);
    }
  }

  // The line, or the band one standard deviation either side. A point that can't be drawn is a gap.
  void draw_row(Canvas& canvas, const report::Row& row, const Axes& axes, const Frame& frame,
                bool band) const {
    const auto& [label, colour, dash] = arrangement_.series[row.series];
    std::vector<Point> line, upper, lower;
    const auto flush = [&] {
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      canvas.pen(report::kSeriesColours[colour], kLine, dash);
      if (band) canvas.fill_band(upper, report::kSeriesColours[colour]);
      if (!band) canvas.stroke(line);
      for (auto* points : {&line, &upper, &lower}) points->clear();
    };
    for (const CurveSummary& point : row.cell->curve) {
      if (!drawable(point, measure_)) {
        flush();
        continue;
      }
      const auto& [mean, std] = point.*measure_.curve;
      const double deviation = std::isfinite(std) ? std : 0;
      const double x = axes.x(static_cast<double>(point.impression), frame);
      line.push_back({x, axes.y(mean, frame)});
      upper.push_back({x, axes.y(mean + deviation, frame)});
      lower.push_back({x, axes.y(mean - deviation, frame)});
    }
    flush();
  }

  const Arrangement& arrangement_;
  const Measure& measure_;
  double width_;
};

cairo_status_t append(void* out, const unsigned char* bytes, unsigned length) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), length);
  return CAIRO_STATUS_SUCCESS;
}

Surface make_surface(const Figure& figure, double height, const FigureStyle& style,
                     const std::string& title, std::string& out) {
  if (style.format == FigureFormat::kSvg) {
    Surface made(cairo_svg_surface_create_for_stream(append, &out, figure.width(), height));
    cairo_svg_surface_set_document_unit(made.get(), CAIRO_SVG_UNIT_PX);
    return made;
  }
  Surface made(
      cairo_pdf_surface_create_for_stream(append, &out, 0.75 * figure.width(), 0.75 * height));
  cairo_surface_set_device_scale(made.get(), 0.75, 0.75);
  cairo_pdf_surface_set_metadata(made.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
  cairo_pdf_surface_set_metadata(made.get(), CAIRO_PDF_METADATA_CREATOR, "plackett");
  // Fixed: the default is now, and the same results must give the same bytes.
  cairo_pdf_surface_set_metadata(made.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                 "1970-01-01T00:00:00Z");
  return made;
}

}  // namespace

Result<std::string> draw_curves(const Comparison& comparison, const FigureStyle& style) {
  const Arrangement arrangement(comparison);
  const Figure figure(arrangement, *style.measure, style.width);
  const std::string title =
      report::printable(comparison.title.empty() ? "Learning curves" : comparison.title);
  // Drawn without output first, for the height.
  const Surface nothing(cairo_svg_surface_create(nullptr, 1, 1));
  Canvas ruler(nothing.get());
  std::string out;
  const Surface surface = make_surface(figure, figure.draw(ruler), style, title, out);
  Canvas canvas(surface.get());
  static_cast<void>(figure.draw(canvas));
  const cairo_status_t drawn = canvas.status();
  cairo_surface_finish(surface.get());
  if (drawn != CAIRO_STATUS_SUCCESS) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("can't draw the curves: {}", cairo_status_to_string(drawn))};
  }
  if (style.format == FigureFormat::kSvg) {
    // Cairo numbers its surfaces over the life of the process, and writes no title.
    const std::size_t id = out.find(" id=\"surface");
    if (id != std::string::npos) out.erase(id, out.find('"', id + 5) + 1 - id);
    out.insert(out.find('>', out.find("<svg")) + 1,
               fmt::format("\n<title>{}</title>", report::markup(title)));
  }
  return out;
}

}  // namespace plackett
