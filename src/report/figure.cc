#include "report/figure.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "report/drift.h"
#include "report/numbers.h"
#include "report/sweep.h"
#include "report/text.h"

namespace plackett::report {

namespace {

// The standard error of a mean; 0 for a single run.
double error_of(const CellSummary& cell, const Moments& moments) {
  const bool has_error = cell.runs > 1 && std::isfinite(moments.std);
  return has_error ? std::fabs(moments.std) / std::sqrt(cell.runs) : 0;
}

constexpr std::uint32_t kInk = 0x1c222b;
constexpr std::uint32_t kMuted = 0x5b6472;
constexpr std::uint32_t kGrid = 0xe3e6ea;

constexpr double kWidth = 960;
constexpr double kMargin = 12;
constexpr double kYLabels = 40;   // left of the first panel of a line
constexpr double kPanelGap = 28;  // between panels
constexpr double kPanelTitle = 34;
constexpr double kMarkRow = 15;  // names of drifts
constexpr std::size_t kMostMarkRows = 3;
constexpr double kPlot = 230;      // height
constexpr double kPanelFoot = 26;  // the numbers below a panel
constexpr double kAxisTitle = 22;
constexpr std::size_t kMostColumns = 3;
constexpr double kLine = 2.25;
constexpr std::size_t kBestLinearColour = 5;  // of kSeriesColours: nearly ink

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

// Where a panel's curves are, without the space for labels around it.
struct Frame {
  double left = 0, top = 0, width = 0;
  [[nodiscard]] double x(double part) const { return left + width * part; }
  [[nodiscard]] double y(double part) const { return top + kPlot * (1 - part); }
};

struct Panel {
  std::string title = {};
  std::size_t group = 0;  // panels of a group share their scales, and start a line
  const Measure* measure = nullptr;
  std::vector<Line> lines = {};
  Phases phases = {};  // of drift
};

struct Picture {
  std::string title = {};  // of the document
  std::string about = {};
  std::string x_title = {};
  AxisRules rules = {};
  std::vector<double> ticks = {};  // of x; empty: round values
  std::vector<Series> series = {};
  std::vector<Panel> panels = {};
};

struct Destroy {
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;

// All panels of a picture, drawn onto white paper.
class Figure {
 public:
  Figure(cairo_surface_t* surface, const Picture& picture)
      : cairo_(cairo_create(surface)), picture_(picture) {
    cairo_set_line_cap(cairo_.get(), CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo_.get(), CAIRO_LINE_JOIN_ROUND);
  }
  [[nodiscard]] cairo_status_t status() const { return cairo_status(cairo_.get()); }

  // Draws all of it and returns its height.
  double draw() {
    colour(0xffffff);
    cairo_paint(cairo_.get());
    const double top = draw_legend() + kAxisTitle;
    const std::vector<Panel>& panels = picture_.panels;
    const std::string about = picture_.about + "; shaded: standard error of the mean";
    text({kMargin, top - 4}, panels.empty() ? "No runs to show" : about, kSmall);

    std::size_t most = 1;  // panels of one group
    std::map<std::size_t, std::size_t> counts;
    for (const Panel& panel : panels) most = std::max(most, ++counts[panel.group]);
    const auto columns = static_cast<double>(std::min(most, kMostColumns));
    const double title = kPanelTitle + kMarkRow * mark_rows();
    Frame frame{.left = kMargin + kYLabels, .top = top + title};
    frame.width = (kWidth - frame.left - kMargin - kPanelGap * (columns - 1)) / columns;
    double column = 0;
    for (std::size_t at = 0; at < panels.size(); ++at, ++column) {
      if (column == columns || (at > 0 && panels[at - 1].group != panels[at].group)) {
        frame.top += title + kPlot + kPanelFoot;
        column = 0;
      }
      frame.left = kMargin + kYLabels + column * (frame.width + kPanelGap);
      draw_panel(panels[at], frame, column == 0);
    }
    const double height = frame.y(0) + kPanelFoot + kAxisTitle;
    text({kWidth - kMargin, height - 6}, picture_.x_title, kSmall, 1);
    return height;
  }

 private:
  // From left to right, onto the next line if an entry would pass the right border. Returns where
  // it ends.
  double draw_legend() {
    Point next{kMargin, kMargin + 5.5};
    for (const auto& [label, colour, dash] : picture_.series) {
      const std::string name = fit(label, kWidth - 58 - kMargin, kName);
      const double taken = 58 + text_width(name, kName);
      if (next.x > kMargin && next.x + taken > kWidth) next = {kMargin, next.y + 22};
      stroke({next, {next.x + 22, next.y}}, kSeriesColours[colour], kLine, dash);
      text({next.x + 30, next.y + 4.5}, name, kName);
      next.x += taken;
    }
    return picture_.series.empty() ? 0 : next.y + 18.5;
  }

  void draw_panel(const Panel& panel, const Frame& frame, bool y_labels) {
    std::vector<Line> beside;
    for (const Panel& one : picture_.panels) {
      if (one.group == panel.group) {
        beside.insert(beside.end(), one.lines.begin(), one.lines.end());
      }
    }
    const Axes axes(beside, *panel.measure, picture_.rules);
    text({frame.left, frame.top - 12 - kMarkRow * mark_rows()},
         fit(panel.title, frame.width, kTitle), kTitle);
    for (const auto& [from, to] : panel.phases.bands) {
      const double left = frame.x(axes.x.part(from));
      const double right = frame.x(axes.x.part(to));
      fill({{left, frame.y(1)}, {right, frame.y(1)}, {right, frame.y(0)}, {left, frame.y(0)}},
           kMuted, 0.1);
    }
    for (const double tick : axes.y.ticks()) {
      const double y = frame.y(axes.y.part(tick));
      stroke({{frame.left, y}, {frame.x(1), y}}, kGrid);
      if (y_labels) text({frame.left - 8, y + 4}, compact(tick), kSmall, 1);
    }
    const double bottom = frame.y(0);
    double end = -HUGE_VAL;  // of the last number
    for (const double tick : picture_.ticks.empty() ? axes.x.ticks() : picture_.ticks) {
      const double x = frame.x(axes.x.part(tick));
      stroke({{x, bottom}, {x, bottom + 4}}, kMuted);
      const double half = text_width(compact(tick), kSmall) / 2;
      if (x - half < end + 6) continue;
      text({x, bottom + 19}, compact(tick), kSmall, 0.5);
      end = x + half;
    }
    stroke({{frame.left, bottom}, {frame.x(1), bottom}}, kMuted);
    draw_marks(panel.phases, axes, frame);
    for (const bool bands : {true, false}) {
      for (const Line& line : panel.lines) draw_line(line, axes, frame, bands);
    }
    for (const Line& line : panel.lines) {
      if (line.has_dots) draw_dots(line, axes, frame);
    }
  }

  // Rows of names above each panel.
  [[nodiscard]] double mark_rows() const {
    std::size_t most = 0;
    for (const Panel& panel : picture_.panels) most = std::max(most, panel.phases.marks.size());
    return static_cast<double>(std::min(most, kMostMarkRows));
  }

  // Upright lines with names above the panel, each in the lowest row that has room, or none.
  void draw_marks(const Phases& phases, const Axes& axes, const Frame& frame) {
    std::array<double, kMostMarkRows> ends;
    ends.fill(-HUGE_VAL);
    for (const Phases::Mark& mark : phases.marks) {
      const double x = frame.x(axes.x.part(mark.at));
      stroke({{x, frame.y(1)}, {x, frame.y(0)}}, kMuted, 1.25, 1);
      const double width = text_width(mark.name, kSmall);
      const double left = std::max(frame.left, std::min(x - width / 2, frame.x(1) - width));
      const auto row =
          std::find_if(ends.begin(), ends.end(), [left](double end) { return end + 8 <= left; });
      if (row == ends.end()) continue;
      *row = left + width;
      text({left, frame.y(1) - 6 - kMarkRow * static_cast<double>(row - ends.begin())}, mark.name,
           kSmall);
    }
  }

  static Point place(const LinePoint& point, const Axes& axes, const Frame& frame,
                     double errors = 0) {
    return {frame.x(axes.x.part(point.x)), frame.y(axes.y.part(point.mean + errors * point.error))};
  }

  // The line, or the band one standard error either side. A point that can't be drawn is a gap.
  void draw_line(const Line& drawn, const Axes& axes, const Frame& frame, bool band) {
    const Series& series = picture_.series[drawn.series];
    const std::uint32_t rgb = kSeriesColours[series.colour];
    std::vector<Point> line, lower;
    const auto flush = [&] {
      line.insert(line.end(), lower.rbegin(), lower.rend());
      band ? fill(line, rgb, 0.13) : stroke(line, rgb, kLine, series.dash);
      line.clear();
      lower.clear();
    };
    for (const LinePoint& point : drawn.points) {
      if (!axes.can_show(point)) {
        flush();
        continue;
      }
      line.push_back(place(point, axes, frame, band ? 1 : 0));
      if (band) lower.push_back(place(point, axes, frame, -1));
    }
    flush();
  }

  void draw_dots(const Line& line, const Axes& axes, const Frame& frame) {
    const std::uint32_t rgb = kSeriesColours[picture_.series[line.series].colour];
    const LinePoint* best = nullptr;
    for (const LinePoint& point : line.points) {
      if (axes.can_show(point) && (best == nullptr || point.mean > best->mean)) best = &point;
    }
    for (const LinePoint& point : line.points) {
      if (!axes.can_show(point)) continue;
      const double size = &point == best ? 11 : 7;
      stroke({place(point, axes, frame)}, 0xffffff, size + 3);
      stroke({place(point, axes, frame)}, rgb, size);
    }
  }

  double text_width(const std::string& text, const Font& font) {
    cairo_select_font_face(cairo_.get(), "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                           font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo_.get(), font.size);
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_.get(), text.c_str(), &extents);
    return extents.x_advance;
  }
  // The printable text, cut to fit into `space`.
  std::string fit(const std::string& text, double space, const Font& font) {
    std::size_t columns = display_width(text);
    std::string out = printable(text);
    while (columns > 4 && text_width(out, font) > space) out = shorten(text, --columns);
    return out;
  }
  // `align`: 0 starts at the point, 0.5 is centred on it, 1 ends there.
  void text(Point at, const std::string& text, const Font& font, double align = 0) {
    const double start = at.x - align * text_width(text, font);
    colour(font.colour);
    cairo_move_to(cairo_.get(), start, at.y);
    cairo_show_text(cairo_.get(), text.c_str());
  }
  void stroke(const std::vector<Point>& line, std::uint32_t rgb, double line_width = 1,
              std::size_t dash = 0) {
    constexpr std::array<std::array<double, 2>, kDashes> kDashes{{{}, {7, 5}, {0.1, 5}}};
    colour(rgb);
    cairo_set_line_width(cairo_.get(), line_width);
    cairo_set_dash(cairo_.get(), kDashes[dash].data(), dash == 0 ? 0 : 2, 0);
    path(line);
    if (line.size() == 1) cairo_close_path(cairo_.get());  // a dot, by its round ends
    cairo_stroke(cairo_.get());
  }
  void fill(const std::vector<Point>& outline, std::uint32_t rgb, double opacity) {
    colour(rgb, opacity);
    path(outline);
    cairo_fill(cairo_.get());
  }

  void colour(std::uint32_t rgb, double opacity = 1) {
    const auto part = [rgb](unsigned shift) { return (rgb >> shift & 0xFFU) / 255.0; };
    cairo_set_source_rgba(cairo_.get(), part(16), part(8), part(0), opacity);
  }
  void path(const std::vector<Point>& points) {
    cairo_new_path(cairo_.get());
    for (const Point& point : points) cairo_line_to(cairo_.get(), point.x, point.y);
  }

  std::unique_ptr<cairo_t, Destroy> cairo_;
  const Picture& picture_;
};

cairo_status_t append(void* out, const unsigned char* bytes, unsigned length) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), length);
  return CAIRO_STATUS_SUCCESS;
}

Surface make_surface(FigureFormat format, double height, const std::string& title,
                     std::string& out) {
  if (format == FigureFormat::kSvg) {
    Surface made(cairo_svg_surface_create_for_stream(append, &out, kWidth, height));
    cairo_svg_surface_set_document_unit(made.get(), CAIRO_SVG_UNIT_PX);
    return made;
  }
  Surface made(cairo_pdf_surface_create_for_stream(append, &out, 0.75 * kWidth, 0.75 * height));
  cairo_surface_set_device_scale(made.get(), 0.75, 0.75);
  // The date is fixed: the default is now, and the same results must give the same bytes.
  for (const auto& [key, value] : {std::pair{CAIRO_PDF_METADATA_TITLE, title.c_str()},
                                   {CAIRO_PDF_METADATA_CREATOR, "plackett"},
                                   {CAIRO_PDF_METADATA_CREATE_DATE, "1970-01-01T00:00:00Z"}}) {
    cairo_pdf_surface_set_metadata(made.get(), key, value);
  }
  return made;
}

Result<std::string> draw(const Picture& picture, FigureFormat format) {
  // Drawn without output first, for the height.
  const Surface nothing(cairo_svg_surface_create(nullptr, 1, 1));
  const double height = Figure(nothing.get(), picture).draw();
  std::string out;
  const Surface surface = make_surface(format, height, picture.title, out);
  Figure figure(surface.get(), picture);
  figure.draw();
  cairo_surface_finish(surface.get());
  if (const cairo_status_t status = figure.status(); status != CAIRO_STATUS_SUCCESS) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("can't draw the curves: {}", cairo_status_to_string(status))};
  }
  if (format == FigureFormat::kSvg) {
    // Cairo numbers its surfaces over the life of the process, and writes no title.
    const std::size_t id = out.find(" id=\"surface");
    if (id != std::string::npos) out.erase(id, out.find('"', id + 5) + 1 - id);
    out.insert(out.find('>', out.find("<svg")) + 1,
               fmt::format("\n<title>{}</title>", markup(picture.title)));
  }
  return out;
}

std::string title_of(const Comparison& comparison, const char* otherwise) {
  return printable(comparison.title.empty() ? otherwise : comparison.title);
}

bool is_curve(const CellSummary& cell) { return cell.curve.size() > 1; }

// What a figure says of its numbers.
std::string about_of(const Arrangement& arrangement, std::string about) {
  return arrangement.selection.empty() ? about
                                       : about + "; settings chosen on the validation queries";
}

}  // namespace

Line curve_of(const CellSummary& cell, const Measure& measure, std::size_t series) {
  Line line{.series = series};
  for (std::size_t at = 0; at < cell.curve.size(); ++at) {
    const Moments moments = measure.at(cell, at);
    line.points.push_back(
        {static_cast<double>(cell.curve[at].impression), moments.mean, error_of(cell, moments)});
  }
  return line;
}

bool Axes::can_show(const LinePoint& point) const {
  return (point.x > 0 || !x.is_logarithmic) && std::isfinite(point.mean);
}

Axes::Axes(const std::vector<Line>& lines, const Measure& measure, const AxisRules& rules) {
  x.is_logarithmic = rules.is_x_logarithmic;
  for (const Line& line : lines) {
    for (const LinePoint& point : line.points) {
      if (!can_show(point)) continue;
      x.low = std::min(x.low, point.x);
      x.high = std::max(x.high, point.x);
      y.low = std::min(y.low, point.mean - point.error);
      y.high = std::max(y.high, point.mean + point.error);
    }
  }
  if (x.high < x.low) x.low = 1, y.low = 0, y.high = 1;
  if (!(x.high > x.low)) x.high = x.is_logarithmic ? x.low * 10 : x.low + 1;
  if (x.is_logarithmic) {
    const double air = std::pow(x.high / x.low, rules.x_air);
    x.low /= air, x.high *= air;
  } else {
    const double air = (x.high - x.low) * rules.x_air;
    x.low -= air, x.high += air;
  }
  // No measure is below 0: bands end there.
  y.low = measure.is_online && rules.is_online_from_zero ? 0 : std::max(y.low, 0.0);
  y.high = std::min(y.high, measure.largest);
  // A little air above and below, also around a flat curve, within the measure's bounds.
  const double span = y.high - y.low;
  const double least_span = std::max(std::fabs(y.high) * 0.01, 1e-3);
  const double air = span > least_span ? 0.04 * span : least_span;
  y.low = std::max(y.low - air, 0.0);
  y.high = std::min(y.high + air, measure.largest);
}

double Scale::part(double value) const {
  const double inside = std::clamp(value, low, high);
  return is_logarithmic ? std::log(inside / low) / std::log(high / low)
                        : (inside - low) / (high - low);
}

std::vector<double> Scale::ticks() const {
  std::vector<double> ticks;
  if (is_logarithmic) {
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
      for (const double value : {power, 2 * power, 5 * power}) {
        if (value != power && high >= 99 * low) continue;
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push_back(value);
      }
    }
    return ticks;
  }
  const double rough = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power >= rough * 0.85) step = factor * power;
  }
  const auto last = static_cast<int>(std::floor(high / step + 1e-9));
  for (auto at = static_cast<int>(std::ceil(low / step - 1e-9)); at <= last; ++at) {
    ticks.push_back(at * step);
  }
  return ticks;
}

Result<std::string> draw_curves(const Comparison& comparison, const Measure& measure,
                                FigureFormat format) {
  const auto& cells = comparison.cells;
  if (!cells.empty() && std::none_of(cells.begin(), cells.end(), is_curve)) return std::string();
  const Arrangement arrangement(comparison);
  Picture picture{.title = title_of(comparison, "Learning curves"),
                  .about = about_of(arrangement, measure.about()),
                  .x_title = "impressions learned from",
                  // A logarithm would squeeze what follows a drift into a corner.
                  .rules = {.is_x_logarithmic = !has_drift(arrangement)},
                  .series = arrangement.series};
  for (const Block& block : arrangement.blocks) {
    Panel& panel = picture.panels.emplace_back(Panel{block.title, block.dataset, &measure});
    panel.phases = phases_of(block);
    for (const Row& row : block.rows) {
      panel.lines.push_back(curve_of(*row.cell, measure, row.series));
    }
  }
  return draw(picture, format);
}

Result<std::string> draw_windows(const Comparison& comparison, FigureFormat format) {
  const Arrangement arrangement(comparison);
  if (!has_drift(arrangement)) return std::string();
  Picture picture{.title = title_of(comparison, "Drift"),
                  .about = "online NDCG@10, mean of each window",
                  .x_title = "impressions",
                  .rules = {.is_x_logarithmic = false},
                  .series = arrangement.series};
  const std::size_t best = picture.series.size();
  picture.series.push_back({kBestLinear, kBestLinearColour, kDashes - 1});
  for (const Block& block : arrangement.blocks) {
    const Phases phases = phases_of(block);
    if (phases.marks.empty()) continue;
    Panel& panel = picture.panels.emplace_back(
        Panel{block.title, block.dataset, &kWindowMeasure, {Line{.series = best}}, phases});
    const auto point = [](const CellSummary& cell, const WindowSummary& window,
                          const Moments& moments) {
      return LinePoint{static_cast<double>(window.end), moments.mean, error_of(cell, moments)};
    };
    for (const Row& row : block.rows) {
      Line line{.series = row.series};
      for (const WindowSummary& window : row.cell->drift->windows) {
        line.points.push_back(point(*row.cell, window, window.online));
        if (&row != &block.rows.front()) continue;
        panel.lines.front().points.push_back(point(*row.cell, window, window.best));
      }
      panel.lines.push_back(std::move(line));
    }
  }
  return draw(picture, format);
}

Result<std::string> draw_sweep(const Comparison& comparison, FigureFormat format) {
  const Arrangement arrangement(comparison);
  const SweepChart chart = make_sweep_chart(arrangement);
  if (chart.setting.empty()) return std::string();
  Picture picture{
      .title = title_of(comparison, "Settings"),
      .about = about_of(arrangement,
                        fmt::format("mean at the last impression against {}", chart.setting)),
      .x_title = chart.setting,
      .rules = {chart.is_logarithmic, false, 0.05},
      .ticks = chart.values,
      .series = chart.series};
  for (const Measure& measure : arrangement.measures) {
    for (const SweepPanel& from : chart.panels) {
      Panel& panel = picture.panels.emplace_back(
          Panel{fmt::format("{} · {}", measure.title(), from.title),
                measure.index * arrangement.datasets.size() + from.dataset, &measure});
      for (const SweepLine& line : from.lines) {
        Line& made = panel.lines.emplace_back(Line{line.series, !line.is_level});
        for (const SweepPoint& point : line.points) {
          const Moments moments = measure.final(*point.cell);
          made.points.push_back({point.x, moments.mean, error_of(*point.cell, moments)});
        }
      }
    }
  }
  return draw(picture, format);
}

}  // namespace plackett::report
