#include "report/figure.h"

#include <algorithm>

#include "report/text.h"

namespace plackett::report {
namespace {

constexpr double kMargin = 12;
constexpr double kYLabels = 40;  // left of the first panel of a line
constexpr double kGap = 28;      // between panels
constexpr double kLegendLine = 22;
constexpr double kPanelTitle = 34;
constexpr double kPanelFoot = 26;  // the numbers below a panel
constexpr double kPlotHeight = 230;
constexpr double kAxisTitle = 22;
constexpr double kLeastPanel = 280;

// Widths are estimated: neither SVG nor PDF measures text.
constexpr double kLetter = 6.9;
constexpr double kTitleLetter = 8.2;

std::string fit(const std::string& text, double width, double letter) {
  return shorten(text, static_cast<std::size_t>(std::max(width / letter, 4.0)));
}

// Entries from left to right, onto the next line where one would pass the right border.
std::vector<FigureLegend> lay_out_legend(const Arrangement& arrangement, double width) {
  std::vector<FigureLegend> entries;
  Point next{kMargin, 22};
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    const std::string name = fit(arrangement.series[series].label, width - 58 - kMargin, kLetter);
    const double taken = 58 + kLetter * static_cast<double>(display_width(name));
    if (next.x > kMargin && next.x + taken > width) next = {kMargin, next.y + kLegendLine};
    entries.push_back({series, {next.x, next.y - 4.5}, {{next.x + 30, next.y}, name}});
    next.x += taken;
  }
  return entries;
}

// How many panels the dataset with most of them has.
std::size_t most_panels(const Arrangement& arrangement) {
  std::vector<std::size_t> counts(std::max<std::size_t>(arrangement.datasets.size(), 1), 0);
  for (const Block& block : arrangement.blocks) ++counts[block.dataset];
  return std::max<std::size_t>(*std::max_element(counts.begin(), counts.end()), 1);
}

}  // namespace

Figure lay_out(const Arrangement& arrangement, Metric metric, double width) {
  Figure figure;
  figure.width = std::max(width, kLeastPanel);
  figure.legend = lay_out_legend(arrangement, figure.width);
  const double top = (figure.legend.empty() ? 0 : figure.legend.back().name.at.y + 14) + kAxisTitle;
  figure.note = {{kMargin, top - 4},
                 metric == Metric::kOffline
                     ? "NDCG@10 on the test queries; shaded: standard deviation over runs"
                     : "Online NDCG@10, discounted sum; shaded: standard deviation over runs"};

  const auto fitting = static_cast<std::size_t>(figure.width / kLeastPanel);
  const std::size_t columns =
      std::clamp<std::size_t>(fitting, 1, std::min<std::size_t>(most_panels(arrangement), 4));
  const double plot_width =
      (figure.width - 2 * kMargin - kYLabels - kGap * static_cast<double>(columns - 1)) /
      static_cast<double>(columns);
  const double line_height = kPanelTitle + kPlotHeight + kPanelFoot;
  std::size_t line = 0;
  std::size_t column = 0;
  for (std::size_t at = 0; at < arrangement.blocks.size(); ++at) {
    const Block& block = arrangement.blocks[at];
    const bool next_dataset = at > 0 && arrangement.blocks[at - 1].dataset != block.dataset;
    if (column == columns || next_dataset) {
      ++line;
      column = 0;
    }
    const Frame frame{
        .left = kMargin + kYLabels + static_cast<double>(column) * (plot_width + kGap),
        .top = top + static_cast<double>(line) * line_height + kPanelTitle,
        .width = plot_width,
        .height = kPlotHeight};
    figure.panels.push_back(
        {&block,
         {{frame.left, frame.top - 12}, fit(block.title, plot_width, kTitleLetter)},
         Axes(cells_of(arrangement, block.dataset), metric, frame),
         column == 0});
    ++column;
  }
  figure.height = top + line_height * static_cast<double>(line + 1) + kAxisTitle;
  figure.foot = {{figure.width - kMargin, figure.height - 6}, "impressions learned from"};
  return figure;
}

}  // namespace plackett::report
