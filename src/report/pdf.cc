#include "report/pdf.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "report/arrangement.h"
#include "report/figure.h"
#include "report/plot.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Arrangement;
using report::Axes;
using report::Metric;
using report::Point;
using report::Polyline;
using report::Tick;

constexpr double kPointsPerPixel = 0.75;
constexpr const char* kInk = "#1c222b";
constexpr const char* kMuted = "#5b6472";
constexpr const char* kGrid = "#e3e6ea";

// Widths of what tick labels are made of, in thousandths of Helvetica's size (Adobe's metrics).
double letter_width(char letter) {
  switch (letter) {
    case '.':
    case ',':
      return 0.278;
    case 'k':
      return 0.5;
    case '-':
      return 0.333;
    case 'M':
      return 0.833;
    case 'B':
      return 0.667;
    case 'T':
      return 0.611;
    default:
      return 0.556;  // digits, and close for the rest
  }
}

enum class Align { kLeft, kCentre, kRight };
enum class Font { kPlain, kBold };

struct TextStyle {
  Font font = Font::kPlain;
  double size = 13;
  const char* colour = kInk;
  Align align = Align::kLeft;
};

// The page's content: operators in the figure's pixels, y downwards.
class Canvas {
 public:
  Canvas(double height) {
    fmt::format_to(put(), "{0} 0 0 -{0} 0 {1:.2f} cm\n", kPointsPerPixel, height * kPointsPerPixel);
  }

  void stroke_style(const char* colour, double width, const char* dash) {
    fmt::format_to(put(), "{} RG {} w [{}] 0 d 1 J 1 j\n", components(colour), width, dash);
  }
  void stroke(const Polyline& shape) {
    path(shape);
    // A line of no length is a dot, by its round ends.
    if (shape.size() == 1) fmt::format_to(put(), "{:.2f} {:.2f} l ", shape[0].x, shape[0].y);
    out_ += "S\n";
  }
  // Translucent, so that what lies below stays visible.
  void fill_band(const char* colour, const std::vector<Polyline>& shapes) {
    fmt::format_to(put(), "q /Band gs {} rg\n", components(colour));
    for (const Polyline& shape : shapes) {
      path(shape);
      out_ += "h f\n";
    }
    out_ += "Q\n";
  }
  void text(Point at, std::string_view text, const TextStyle& style) {
    double width = 0;
    for (const char letter : text) width += letter_width(letter) * style.size;
    if (style.align == Align::kCentre) at.x -= width / 2;
    if (style.align == Align::kRight) at.x -= width;
    fmt::format_to(put(), "BT /{} {} Tf {} rg 1 0 0 -1 {:.2f} {:.2f} Tm {} Tj ET\n",
                   style.font == Font::kBold ? "Bold" : "Plain", style.size,
                   components(style.colour), at.x, at.y, report::pdf_string(text));
  }
  [[nodiscard]] const std::string& operators() const { return out_; }

 private:
  std::back_insert_iterator<std::string> put() { return std::back_inserter(out_); }
  void path(const Polyline& shape) {
    char command = 'm';
    for (const Point& point : shape) {
      fmt::format_to(put(), "{:.2f} {:.2f} {} ", point.x, point.y, command);
      command = 'l';
    }
  }
  // "#0068b5" -> "0 0.408 0.71".
  static std::string components(const char* colour) {
    const long all = std::strtol(colour + 1, nullptr, 16);
    return fmt::format("{:.3g} {:.3g} {:.3g}", static_cast<double>(all >> 16 & 0xFF) / 255,
                       static_cast<double>(all >> 8 & 0xFF) / 255,
                       static_cast<double>(all & 0xFF) / 255);
  }

  std::string out_;
};

void draw_grid(Canvas& canvas, const report::FigurePanel& panel) {
  const Axes& axes = panel.axes;
  const report::Frame& frame = axes.frame();
  const double right = frame.left + frame.width;
  const double bottom = frame.top + frame.height;
  const TextStyle tick{.size = 12, .colour = kMuted, .align = Align::kRight};
  TextStyle below = tick;
  below.align = Align::kCentre;
  canvas.stroke_style(kGrid, 1, "");
  for (const Tick& at : axes.y_ticks()) {
    canvas.stroke({{frame.left, axes.y(at.value)}, {right, axes.y(at.value)}});
  }
  canvas.stroke_style(kMuted, 1, "");
  canvas.stroke({{frame.left, bottom}, {right, bottom}});
  for (const Tick& at : axes.x_ticks()) {
    canvas.stroke({{axes.x(at.value), bottom}, {axes.x(at.value), bottom + 4}});
    canvas.text({axes.x(at.value), bottom + report::kTickDrop}, at.label, below);
  }
  if (!panel.y_labels) return;
  for (const Tick& at : axes.y_ticks()) {
    canvas.text({frame.left - 8, axes.y(at.value) + 4}, at.label, tick);
  }
}

void line_style(Canvas& canvas, const report::Series& series) {
  canvas.stroke_style(report::kOnLight[report::colour_of(series)], 2.25,
                      report::kDashPatterns[report::dash_of(series)]);
}

std::string page_content(const report::Figure& figure, const Arrangement& arrangement,
                         Metric metric) {
  Canvas canvas(figure.height);
  if (figure.panels.empty()) {
    canvas.text({12, figure.height / 2}, "No runs to show", {});
    return canvas.operators();
  }
  for (const report::FigureLegend& entry : figure.legend) {
    line_style(canvas, arrangement.series[entry.series]);
    canvas.stroke({entry.sample, {entry.sample.x + report::kSampleWidth, entry.sample.y}});
    canvas.text(entry.name.at, entry.name.text, {});
  }
  canvas.text(figure.note.at, figure.note.text, {.size = 12, .colour = kMuted});
  for (const report::FigurePanel& panel : figure.panels) {
    canvas.text(panel.title.at, panel.title.text, {.font = Font::kBold, .size = 15});
    draw_grid(canvas, panel);
    for (const report::Row& row : panel.block->rows) {
      canvas.fill_band(report::kOnLight[report::colour_of(arrangement.series[row.series])],
                       report::band_shapes(*row.cell, panel.axes, metric));
    }
    for (const report::Row& row : panel.block->rows) {
      line_style(canvas, arrangement.series[row.series]);
      for (const Polyline& shape : report::line_shapes(*row.cell, panel.axes, metric)) {
        canvas.stroke(shape);
      }
    }
  }
  // Its right end stands at the margin; an average letter is half as wide as high.
  const double foot_width = 0.475 * 12 * static_cast<double>(figure.foot.text.size());
  canvas.text({figure.foot.at.x - foot_width, figure.foot.at.y}, figure.foot.text,
              {.size = 12, .colour = kMuted});
  return canvas.operators();
}

// Numbers objects from 1 in the order given, and writes where each begins.
std::string pdf_file(const std::vector<std::string>& objects) {
  std::string out = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  const auto put = std::back_inserter(out);
  std::vector<std::size_t> offsets;
  for (const std::string& object : objects) {
    offsets.push_back(out.size());
    fmt::format_to(put, "{} 0 obj\n{}\nendobj\n", offsets.size(), object);
  }
  const std::size_t table = out.size();
  fmt::format_to(put, "xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (const std::size_t offset : offsets) fmt::format_to(put, "{:010} 00000 n \n", offset);
  fmt::format_to(put, "trailer\n<< /Size {} /Root 1 0 R /Info {} 0 R >>\nstartxref\n{}\n%%EOF\n",
                 objects.size() + 1, objects.size(), table);
  return out;
}

}  // namespace

std::string curves_pdf(const Comparison& comparison, const PdfStyle& style) {
  const Arrangement arrangement = report::arrange(comparison);
  const report::Figure figure = report::lay_out(arrangement, style.metric, style.width);
  const std::string content = page_content(figure, arrangement, style.metric);
  const auto font = [](const char* name) {
    return fmt::format("<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>",
                       name);
  };
  return pdf_file({
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.2f} {:.2f}] /Contents 4 0 R "
                  "/Resources << /Font << /Plain 5 0 R /Bold 6 0 R >> "
                  "/ExtGState << /Band 7 0 R >> >> >>",
                  figure.width * kPointsPerPixel, figure.height * kPointsPerPixel),
      fmt::format("<< /Length {} >>\nstream\n{}endstream", content.size(), content),
      font("Helvetica"),
      font("Helvetica-Bold"),
      "<< /Type /ExtGState /ca 0.13 /BM /Normal >>",
      fmt::format("<< /Title {} /Creator (plackett) >>", report::pdf_string(comparison.title)),
  });
}

}  // namespace plackett
