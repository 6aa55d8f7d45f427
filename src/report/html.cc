#include "report/html.h"

#include <fmt/format.h>

#include <iterator>

#include "report/arrangement.h"
#include "report/axes.h"
#include "report/findings.h"
#include "report/html_parts.h"
#include "report/html_script.h"
#include "report/html_style.h"
#include "report/numbers.h"
#include "report/plot.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Arrangement;
using report::markup;

std::string colours(const char* page, const std::array<const char*, report::kColours>& series) {
  std::string out = page;
  for (std::size_t colour = 0; colour < series.size(); ++colour) {
    fmt::format_to(std::back_inserter(out), "--c{}:{};", colour, series[colour]);
  }
  return out;
}

// Light unless the system or the switch says dark; always light on paper.
std::string style_sheet() {
  const std::string light = colours(report::kLightColours, report::kOnLight);
  const std::string dark = colours(report::kDarkColours, report::kOnDark);
  std::string out = fmt::format(
      ":root{{{0}}}\n"
      "@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{1}}}}}\n"
      "@media screen{{:root[data-theme=dark]{{{1}}}}}\n",
      light, dark);
  for (std::size_t colour = 0; colour < report::kColours; ++colour) {
    fmt::format_to(std::back_inserter(out), ".c{0}{{color:var(--c{0})}}", colour);
  }
  return out + report::kStyle;
}

std::string facts_line(const report::Facts& facts) {
  return fmt::format("{} · {} protocol · {} of {} impressions each", facts.datasets,
                     facts.protocols, report::runs_text(facts), facts.impressions);
}

// A name stays on one line with its ranker: "PDGD (linear)".
std::string unbroken_names(std::string text) {
  for (std::size_t at; (at = text.find(" (")) != std::string::npos;) text.replace(at, 1, "\u00A0");
  return text;
}

// Four bars in descending order: a ranking.
constexpr const char* kMark =
    "<svg width=\"22\" height=\"22\" viewBox=\"0 0 22 22\" aria-hidden=\"true\">"
    "<path d=\"M2 4h18M2 9h13M2 14h9M2 19h5\" fill=\"none\" stroke=\"currentColor\" "
    "stroke-width=\"2.6\" stroke-linecap=\"round\"/></svg>";

void append_header(std::string& out, const Comparison& comparison,
                   const report::Findings& findings) {
  const auto put = std::back_inserter(out);
  fmt::format_to(put,
                 "<header>\n<div class=\"bar\"><div class=\"brand\">{}<div>plackett <span>{}</span>"
                 "</div></div><button type=\"button\" id=\"theme\" class=\"js-only\" "
                 "aria-label=\"Switch between light and dark\">Dark</button></div>\n"
                 "<h1>{}</h1>\n",
                 kMark, markup(comparison.title), markup(unbroken_names(findings.headline)));
  if (!comparison.cells.empty()) {
    fmt::format_to(put, "<p class=\"facts\">{}</p>\n",
                   markup(facts_line(report::facts(comparison))));
  }
  if (!findings.cards.empty()) {
    out += "<ul class=\"cards\">\n";
    for (const report::Card& card : findings.cards) {
      fmt::format_to(put, "<li><span>{}</span><b>{}</b><small>{}</small></li>\n",
                     markup(card.label), markup(card.value), markup(card.note));
    }
    out += "</ul>\n";
  }
  out += "</header>\n";
}

void append_findings(std::string& out, const report::Findings& findings, bool tested) {
  if (findings.findings.empty()) return;
  const auto put = std::back_inserter(out);
  out +=
      "<section aria-labelledby=\"findings\"><h2 id=\"findings\">Findings</h2>\n"
      "<p>Computed from the results below. ";
  out += tested ? "A difference from a baseline is called one where its test has p &lt; 0.05; "
                  "between two others, where the means are two standard errors apart."
                : "Two means less than two standard errors apart are called too close to call.";
  out += "</p>\n<dl class=\"findings\">\n";
  for (const report::Finding& finding : findings.findings) {
    fmt::format_to(put, "<div><dt>{}</dt>", markup(finding.lead));
    for (const std::string& sentence : finding.sentences) {
      fmt::format_to(put, "<dd>{}</dd>", markup(sentence));
    }
    out += "</div>\n";
  }
  out += "</dl></section>\n";
}

void append_curves(std::string& out, const Arrangement& arrangement) {
  const std::string legend = report::html_legend(arrangement);
  out +=
      "<section aria-labelledby=\"curves\"><h2 id=\"curves\">Learning curves</h2>\n"
      "<p>NDCG@10 on the test queries against the impressions learned from, on a logarithmic "
      "axis. Lines are means over the runs, shades one standard deviation.</p>\n";
  out += legend;
  out += report::html_panels(arrangement, report::Metric::kOffline);
  out +=
      "</section>\n<section aria-labelledby=\"online\"><h2 id=\"online\">Online performance</h2>\n"
      "<p>What users got while it learned: NDCG@10 of the rankings they were shown, summed so "
      "far, later impressions counting a little less.</p>\n";
  out += legend;
  out += report::html_panels(arrangement, report::Metric::kOnline);
  out += "</section>\n";
}

std::string protocol_note(const std::string& protocol) {
  if (protocol == "described") return "described: as the paper's text has it";
  if (protocol == "published") return "published: as the paper's numbers were made";
  return protocol;
}

void append_results(std::string& out, const Arrangement& arrangement,
                    const report::Significance& significance) {
  out += "<section aria-labelledby=\"results\"><h2 id=\"results\">Results</h2>\n";
  if (!significance.baselines().empty()) {
    out +=
        "<p>Marks say how a method did against each baseline; point at them for the tests.</p>\n";
  }
  out += report::html_tables(arrangement, significance);
  out += "</section>\n";
}

void append_scorecard(std::string& out, const Arrangement& arrangement,
                      const report::Scorecard& card) {
  if (card.lines.empty()) return;
  fmt::format_to(std::back_inserter(out),
                 "<section aria-labelledby=\"paper\"><h2 id=\"paper\">Beside the paper</h2>\n"
                 "<p>{} {}</p>\n{}</section>\n",
                 markup(report::agreement(card)), markup(report::protocol_remark(card)),
                 report::html_scorecard(arrangement, card));
}

void append_making(std::string& out, const Comparison& comparison, const HtmlOptions& options) {
  const report::Facts facts = report::facts(comparison);
  const auto put = std::back_inserter(out);
  out +=
      "<section aria-labelledby=\"made\"><h2 id=\"made\">How it was made</h2>\n"
      "<p>Everything needed to make the same numbers again: a run is a function of its "
      "settings and its seed.</p>\n<div class=\"made\"><dl>\n";
  const auto fact = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    fmt::format_to(put, "<div><dt>{}</dt><dd>{}</dd></div>\n", name, markup(value));
  };
  fact("Dataset", facts.datasets);
  fact("Protocol", protocol_note(facts.protocols));
  fact("Runs of each method", facts.runs);
  fact("Impressions a run", facts.impressions);
  fact("Seed", facts.seeds);
  fact("Version", comparison.version.empty() ? "" : "plackett " + comparison.version);
  out += "</dl>\n";
  if (!options.command.empty()) {
    fmt::format_to(put,
                   "<div class=\"command\"><pre id=\"command\">{}</pre><button type=\"button\" "
                   "id=\"copy\" class=\"js-only\">Copy</button></div>\n",
                   markup(options.command));
  }
  out += "</div></section>\n";
}

}  // namespace

std::string html_report(const Comparison& comparison, const HtmlOptions& options) {
  const Arrangement arrangement = report::arrange(comparison);
  const report::Significance significance(comparison, options.test);
  const report::Findings findings = report::find(comparison, arrangement, significance);
  const std::string title = comparison.title.empty() ? "Comparison" : comparison.title;

  std::string out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put,
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                 "<title>{} · plackett</title>\n<style>\n{}</style>\n<script>{}</script>\n"
                 "</head>\n<body>\n",
                 markup(title), style_sheet(), report::kEarlyScript);
  append_header(out, comparison, findings);
  out += "<main>\n";
  if (!arrangement.blocks.empty()) {
    append_findings(out, findings, !comparison.contrasts.empty());
    append_curves(out, arrangement);
    append_results(out, arrangement, significance);
    append_scorecard(out, arrangement, report::make_scorecard(comparison));
    append_making(out, comparison, options);
    fmt::format_to(put, "<script type=\"application/json\" id=\"data\">{}</script>\n",
                   report::html_data(arrangement));
  }
  fmt::format_to(put,
                 "</main>\n<footer>Made with plackett{}, which learns to rank from clicks. Method: "
                 "Pairwise Differentiable Gradient Descent, Oosterhuis and de Rijke, CIKM 2018."
                 "</footer>\n<script>{}</script>\n</body>\n</html>\n",
                 comparison.version.empty() ? "" : " " + markup(comparison.version),
                 report::kScript);
  return out;
}

}  // namespace plackett
