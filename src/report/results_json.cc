#include <nlohmann/json.hpp>

#include "report/scorecard.h"
#include "report/table.h"
#include "report/write.h"

namespace plackett {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Moments, mean, std)
namespace report {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Facts, datasets, protocols, runs, impressions, seeds, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, lead, sentences)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Series, label, colour, dash)

void to_json(json& out, const Cell& cell) {
  out = {{"mean", cell.mean + cell.sign}, {"std", cell.std}, {"bold", cell.bold}};
  out["tests"] = json::array();
  for (const TTest& test : cell.tests) {
    out["tests"].push_back({{"mark", mark(test)},
                            {"difference", test.difference},
                            {"half_width", test.half_width},
                            {"t", test.t},
                            {"degrees", test.degrees},
                            {"p", test.p},
                            {"holm", test.holm}});
  }
}

void to_json(json& out, const TableRow& row) {
  out = {{"name", row.title}, {"cells", json::array()}};
  for (const Cell& cell : row.cells) {
    out["cells"].push_back(cell.mean.empty() ? json() : json(cell));
  }
}

void to_json(json& out, const TableSection& section) {
  out = {{"title", section.title}, {"rows", section.rows}};
}

void to_json(json& out, const Table& table) {
  out = {{"title", table.title}, {"columns", table.columns}, {"sections", table.sections}};
}

void to_json(json& out, const Measure& measure) {
  out = {{"name", measure.name},       {"title", measure.title},
         {"about", measure.about},     {"digits", measure.digits},
         {"largest", measure.largest}, {"from_zero", measure.from_zero}};
}

void to_json(json& out, const Row& row) {
  const CellSummary& cell = *row.cell;
  out = {{"series", row.series},      {"method", cell.method}, {"ranker", cell.ranker},
         {"baseline", cell.baseline}, {"runs", cell.runs},     {"impressions", cell.impressions},
         {"seed", cell.seed}};
  json& curve = out["curve"];
  for (const CurveSummary& point : cell.curve) curve["impression"].push_back(point.impression);
  for (const Measure& measure : kMeasures) {
    out[measure.name] = row.values[measure.index].moments;
    for (const CurveSummary& point : cell.curve) {
      const auto& [mean, std] = point.*measure.curve;
      curve[measure.name]["mean"].push_back(mean);
      curve[measure.name]["std"].push_back(cell.runs > 1 ? json(std) : json());
    }
  }
}

void to_json(json& out, const Block& block) {
  const CellSummary& cell = *block.rows.front().cell;
  out = {{"title", block.title},      {"short_title", block.short_title},
         {"dataset", cell.dataset},   {"click_model", cell.click_model},
         {"protocol", cell.protocol}, {"rows", block.rows}};
}

void to_json(json& out, const Scorecard& card) {
  if (card.scores.empty()) return;
  out = {
      {"agreement", card.agreement},  {"remark", card.remark},          {"note", card.note},
      {"paper_runs", kPublishedRuns}, {"table", scorecard_table(card)}, {"scores", json::array()}};
  for (const Score& score : card.scores) {
    out["scores"].push_back({{"measure", score.measure->name},
                             {"label", row_label(*score.cell)},
                             {"setting", setting_of(*score.cell)},
                             {"here", score.here},
                             {"paper", score.paper},
                             {"standard_errors", score.errors}});
  }
}

std::string results_json(const Comparison& comparison, const PageOptions& options) {
  const Arrangement arrangement(comparison);
  const Findings found = find(arrangement);
  const json out{{"kind", "plackett-results"},
                 {"version", 1},
                 {"plackett", comparison.version},
                 {"title", comparison.title},
                 {"command", options.command},
                 {"facts", arrangement.facts},
                 {"headline", found.headline},
                 {"findings", found.findings},
                 {"measures", kMeasures},
                 {"series", arrangement.series},
                 {"blocks", arrangement.blocks},
                 {"test", {{"name", arrangement.test_name}, {"baselines", arrangement.baselines}}},
                 {"best_of_what", arrangement.best_of_what},
                 {"tables", results_tables(arrangement)},
                 {"scorecard", make_scorecard(comparison)}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace report
}  // namespace plackett
