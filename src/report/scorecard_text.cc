// The scorecard for terminals, Markdown and programs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "report/arrangement.h"
#include "report/cikm2018.h"
#include "report/scorecard.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Score;
using report::Scorecard;
using report::ScoreLine;

constexpr const char* kCoarse =
    "† the rounding of the paper's mean alone may be worth more than one standard error";

std::string block_title(const ScoreLine& line) {
  return fmt::format("{} · {} · {}", line.cell->dataset,
                     report::click_model_label(line.cell->click_model), line.cell->protocol);
}

bool starts_block(const Scorecard& card, const ScoreLine& line) {
  return &line == card.lines.data() || block_title(line) != block_title(*(&line - 1));
}

std::string pad(const std::string& text, std::size_t columns) {
  const std::size_t width = report::display_width(text);
  return std::string(columns > width ? columns - width : 0, ' ') + text;
}

constexpr std::size_t kMoments = 14;
constexpr std::size_t kErrors = 8;
// The columns of one measure: here, paper, errors and their mark.
constexpr std::size_t kMeasured = kMoments + 1 + kMoments + kErrors + 1;

// "  0.511 (0.017)   0.511 (0.017)   +0.1 ".
std::string measured(const Score& score, const report::Measure& measure, bool ansi) {
  const auto moments = [&](const Moments& value) {
    return pad(report::mean_and_std(value, measure.digits), kMoments);
  };
  std::string errors = pad(report::signed_errors(score.errors), kErrors);
  if (ansi && std::fabs(score.errors) > 3) errors = fmt::format("\x1b[31m{}\x1b[0m", errors);
  if (ansi && std::fabs(score.errors) <= 2) errors = fmt::format("\x1b[32m{}\x1b[0m", errors);
  return fmt::format("{} {}{}{}", moments(score.here), moments(score.paper), errors,
                     score.coarse ? "†" : " ");
}

}  // namespace

std::string terminal_scorecard(const Comparison& comparison, const ScorecardStyle& style) {
  const Scorecard card = report::make_scorecard(comparison);
  if (card.lines.empty()) return "";
  // Both measures beside each other where there is room, below each other where not; in a narrow
  // terminal names give way to numbers.
  const bool wide = style.width >= 100;
  const std::size_t room = style.width > kMeasured ? style.width - kMeasured : 0;
  const std::size_t names = wide ? 20 : std::clamp<std::size_t>(room, 16, 24);
  const auto dim = [&](const std::string& text) {
    return style.ansi ? fmt::format("\x1b[2m{}\x1b[0m", text) : text;
  };
  const auto bold = [&](const std::string& text) {
    return style.ansi ? fmt::format("\x1b[1m{}\x1b[0m", text) : text;
  };
  std::string out;
  const auto line = [&out](const std::string& text) { out += text + '\n'; };
  const std::string heads = fmt::format("{} {}{} ", pad("here", kMoments), pad("paper", kMoments),
                                        pad("errors", kErrors));
  const auto rows = [&](const std::vector<const report::Measure*>& measures) {
    std::string head(names, ' ');
    for (const report::Measure* measure : measures) {
      head += wide ? " " : "";
      head += heads;
      if (!wide) head.replace(0, report::display_width(measure->title), measure->title);
    }
    line(dim(head));
    for (const ScoreLine& entry : card.lines) {
      if (starts_block(card, entry)) line(bold(report::shorten(block_title(entry), style.width)));
      const std::string name = "  " + report::shorten(report::row_label(*entry.cell), names - 2);
      std::string text = name + std::string(names - report::display_width(name), ' ');
      for (const report::Measure* measure : measures) {
        text += wide ? " " : "";
        text += measured(entry.score(*measure), *measure, style.ansi);
      }
      line(text);
    }
  };
  line(bold("Beside the paper (CIKM 2018)"));
  if (wide) {
    line(dim(std::string(names + 1, ' ') + "offline NDCG@10" + std::string(24, ' ') +
             "online NDCG@10"));
    rows({&report::kOffline, &report::kOnline});
  } else {
    rows({&report::kOffline});
    line("");
    rows({&report::kOnline});
  }
  const auto note = [&](const std::string& text, bool quiet) {
    for (const std::string& part : report::wrapped(text, style.width)) {
      line(quiet ? dim(part) : part);
    }
  };
  if (card.coarse) note(kCoarse, true);
  note(agreement(card), false);
  note(protocol_remark(card), true);
  return style.ascii ? report::in_ascii(std::move(out)) : out;
}

std::string markdown_scorecard(const Comparison& comparison) {
  const Scorecard card = report::make_scorecard(comparison);
  if (card.lines.empty()) return "";
  std::string out = fmt::format(
      "# Beside the paper\n\n"
      "Each cell, mean (standard deviation), beside the number in Oosterhuis and de Rijke, "
      "\"Differentiable Unbiased Online Learning to Rank\", CIKM 2018, after {} impressions. "
      "Errors: the difference of the two means in standard errors of it, "
      "√(s₁²/n₁ + s₂²/{}).\n\n**{}** {}\n",
      report::grouped(report::kPublishedImpressions), report::kPublishedRuns, agreement(card),
      report::markdown_cell(protocol_remark(card)));
  for (const ScoreLine& line : card.lines) {
    if (starts_block(card, line)) {
      fmt::format_to(std::back_inserter(out),
                     "\n## {}\n\n| method | runs | offline | paper | errors | online | paper | "
                     "errors |\n|:--|--:|--:|--:|--:|--:|--:|--:|\n",
                     report::markdown_cell(block_title(line)));
    }
    fmt::format_to(std::back_inserter(out), "| {} | {} |",
                   report::markdown_cell(report::row_label(*line.cell)), line.cell->runs);
    for (const report::Measure* measure : report::kMeasures) {
      const Score& score = line.score(*measure);
      const bool far = std::fabs(score.errors) > 2;
      fmt::format_to(std::back_inserter(out), " {} | {} | {}{}{}{} |",
                     report::mean_and_std(score.here, measure->digits),
                     report::mean_and_std(score.paper, measure->digits), far ? "**" : "",
                     report::signed_errors(score.errors), far ? "**" : "", score.coarse ? "†" : "");
    }
    out += '\n';
  }
  if (card.coarse) fmt::format_to(std::back_inserter(out), "\n{}.\n", kCoarse);
  return out;
}

std::string csv_scorecard(const Comparison& comparison) {
  const Scorecard card = report::make_scorecard(comparison);
  if (card.lines.empty()) return "";
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  std::string out =
      "dataset,protocol,click_model,label,measure,runs,mean,std,paper_mean,paper_std,"
      "standard_errors\n";
  for (const ScoreLine& line : card.lines) {
    for (const report::Measure* measure : report::kMeasures) {
      const Score& score = line.score(*measure);
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{}\n",
                     report::csv_field(line.cell->dataset), report::csv_field(line.cell->protocol),
                     report::csv_field(line.cell->click_model),
                     report::csv_field(report::row_label(*line.cell)), measure->name,
                     line.cell->runs, number(score.here.mean),
                     number((line.cell->*measure->final).std), number(score.paper.mean),
                     number(score.paper.std), number(score.errors));
    }
  }
  return out;
}

}  // namespace plackett
