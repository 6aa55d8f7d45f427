#include "report/scorecard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/cikm2018.h"

namespace plackett::report {
namespace {

Score score(const CellSummary& cell, const Measure& measure, const Moments& paper) {
  Score made{shown(cell, measure), paper, std::nan(""), false};
  if (cell.runs < 2) return made;
  const double error =
      std::sqrt(made.here.std * made.here.std / cell.runs + paper.std * paper.std / kPublishedRuns);
  if (!(error > 0) || !std::isfinite(error)) return made;
  made.errors = (made.here.mean - paper.mean) / error;
  made.coarse = 0.5 * std::pow(10, -measure.digits) > error;
  return made;
}

void count(Scorecard& card, const Score& score) {
  card.coarse = card.coarse || score.coarse;
  if (!std::isfinite(score.errors)) return;
  const double distance = std::fabs(score.errors);
  ++card.numbers;
  if (distance <= 2) ++card.within_two;
  if (distance <= 3) ++card.within_three;
  card.largest = std::max(card.largest, distance);
}

}  // namespace

Scorecard make_scorecard(const Comparison& comparison) {
  Scorecard card;
  std::vector<std::string> protocols;
  for (const CellSummary& cell : comparison.cells) {
    const PublishedCell published = published_cell(cell);
    if (published.offline == nullptr || cell.runs == 0) continue;
    const ScoreLine line{&cell, score(cell, kOffline, *published.offline),
                         score(cell, kOnline, *published.online)};
    count(card, line.offline);
    count(card, line.online);
    card.lines.push_back(line);
    if (std::find(protocols.begin(), protocols.end(), cell.protocol) == protocols.end()) {
      protocols.push_back(cell.protocol);
    }
  }
  card.protocols = fmt::format("{}", fmt::join(protocols, ", "));
  return card;
}

std::string agreement(const Scorecard& card) {
  if (card.numbers == 0) return "A single run has no standard error to judge by.";
  return fmt::format(
      "{} of {} numbers within 2 standard errors of the paper's, {} within 3; the farthest is {} "
      "away.",
      card.within_two, card.numbers, card.within_three, fixed(card.largest, 1));
}

std::string protocol_remark(const Scorecard& card) {
  if (card.protocols == "published") {
    return "Run under the published protocol, which is how the paper's numbers were made.";
  }
  if (card.protocols == "described") {
    return "Run under the described protocol, the paper's text; its numbers were made under the "
           "published one, so differences are expected.";
  }
  return fmt::format(
      "Run under these protocols: {}. The paper's numbers were made under the published one.",
      card.protocols);
}

std::string signed_errors(double errors) {
  if (!std::isfinite(errors)) return kNoNumber;
  const std::string text = fixed(errors, 1);
  return text.front() == '-' || text == "0.0" ? text : "+" + text;
}

}  // namespace plackett::report
