#include <nlohmann/json.hpp>

#include "report/drift.h"
#include "report/scorecard.h"
#include "report/sweep.h"
#include "report/table.h"
#include "report/write.h"

namespace plackett {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Moments, mean, std)
namespace report {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Facts, datasets, protocols, split, runs, impressions, seeds,
                                   line)
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
  out = {{"name", row.title}, {"settings", row.settings}, {"cells", json::array()}};
  for (const Cell& cell : row.cells) {
    out["cells"].push_back(cell.mean.empty() ? json() : json(cell));
  }
}

void to_json(json& out, const TableSection& section) {
  out = {{"title", section.title}, {"rows", section.rows}};
}

void to_json(json& out, const Table& table) {
  out = {{"title", table.title},
         {"settings", table.settings},
         {"columns", table.columns},
         {"sections", table.sections}};
}

void to_json(json& out, const Measure& measure) {
  out = {{"name", measure.name},       {"title", measure.title()},
         {"about", measure.about()},   {"digits", measure.digits},
         {"largest", measure.largest}, {"from_zero", measure.is_online}};
}

json object_of(const std::vector<SweptValue>& settings) {
  json out = json::object();
  for (const auto& [name, value] : settings) out[name] = value;
  return out;
}

json row_json(const Row& row, const std::vector<Measure>& measures) {
  const CellSummary& cell = *row.cell;
  json out = {{"series", row.series},  {"method", cell.method},
              {"ranker", cell.ranker}, {"baseline", cell.baseline},
              {"runs", cell.runs},     {"impressions", cell.impressions},
              {"seed", cell.seed},     {"settings", object_of(cell.swept)}};
  json& curve = out["curve"];
  for (const CurveSummary& point : cell.curve) curve["impression"].push_back(point.impression);
  for (const Measure& measure : measures) {
    const std::string name(measure.name);
    out[name] = row.values[measure.index].moments;
    for (std::size_t point = 0; point < cell.curve.size(); ++point) {
      const auto [mean, std] = measure.at(cell, point);
      curve[name]["mean"].push_back(mean);
      curve[name]["std"].push_back(cell.runs > 1 ? json(std) : json());
    }
  }
  if (!cell.drift) return out;
  json& windows = out["windows"];
  for (const WindowSummary& window : cell.drift->windows) {
    windows["impression"].push_back(window.end);
    for (const auto& [name, moments] :
         {std::pair{"online", window.online}, {"best", window.best}}) {
      windows[name]["mean"].push_back(moments.mean);
      windows[name]["std"].push_back(cell.runs > 1 ? json(moments.std) : json());
    }
  }
  return out;
}

json block_json(const Block& block, const std::vector<Measure>& measures) {
  const CellSummary& cell = *block.rows.front().cell;
  json out{{"title", block.title},      {"short_title", block.short_title},
           {"dataset", cell.dataset},   {"click_model", cell.click_model},
           {"protocol", cell.protocol}, {"settings", object_of(cell.surroundings)}};
  for (const Row& row : block.rows) out["rows"].push_back(row_json(row, measures));
  const Phases phases = phases_of(block);
  for (const auto& [at, name, text] : phases.marks) {
    out["drifts"].push_back({{"at", at}, {"name", name}, {"text", text}});
  }
  if (!phases.marks.empty()) out["bands"] = phases.bands;
  return out;
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

// A line of a sweep: for each measure the last means and deviations.
json line_json(const SweepLine& line, const std::vector<Measure>& measures) {
  json out{{"series", line.series}, {"level", line.is_level}};
  for (const auto& [x, cell] : line.points) {
    out["x"].push_back(x);
    out["runs"].push_back(cell->runs);
    for (const Measure& measure : measures) {
      const auto [mean, std] = measure.final(*cell);
      json& values = out[std::string(measure.name)];
      values["mean"].push_back(mean);
      values["std"].push_back(cell->runs > 1 ? json(std) : json());
    }
  }
  return out;
}

json sweep_json(const SweepChart& chart, const Arrangement& arrangement) {
  if (chart.setting.empty()) return {};
  json out{{"setting", chart.setting},
           {"values", chart.values},
           {"logarithmic", chart.is_logarithmic},
           {"series", chart.series},
           {"panels", json::array()}};
  for (const SweepPanel& panel : chart.panels) {
    json made{{"title", panel.title},
              {"short_title", panel.short_title},
              {"dataset", arrangement.datasets[panel.dataset]}};
    for (const SweepLine& line : panel.lines) {
      made["lines"].push_back(line_json(line, arrangement.measures));
    }
    out["panels"].push_back(std::move(made));
  }
  return out;
}

std::string results_json(const Comparison& comparison, const PageOptions& options) {
  const Arrangement arrangement(comparison);
  const Findings found = find(arrangement);
  json blocks = json::array();
  for (const Block& block : arrangement.blocks) {
    blocks.push_back(block_json(block, arrangement.measures));
  }
  json out{{"kind", "plackett-results"},
           {"version", 1},
           {"plackett", comparison.version},
           {"title", comparison.title},
           {"command", options.command},
           {"facts", arrangement.facts},
           {"headline", found.headline},
           {"findings", found.findings},
           {"selection", arrangement.selection},
           {"measures", arrangement.measures},
           {"series", arrangement.series},
           {"blocks", blocks},
           {"sweep", sweep_json(make_sweep_chart(arrangement), arrangement)},
           {"test", {{"name", arrangement.test_name}, {"baselines", arrangement.baselines}}},
           {"best_of_what", arrangement.best_of_what},
           {"tables", results_tables(arrangement)},
           {"scorecard", make_scorecard(comparison)}};
  if (has_drift(arrangement)) {
    out["drift"] = {{"tables", json::array()}, {"best", kBestLinear}};
    for (const Table& table : drift_tables(arrangement)) {
      json& made = out["drift"]["tables"].emplace_back(table);
      made["about"] = table.about;
    }
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace report
}  // namespace plackett
