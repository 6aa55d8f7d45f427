#include "samples.h"

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "experiment/contrasts.h"
#include "report/scorecard.h"

namespace plackett::testing {
namespace {

struct Final {
  std::string_view click_model;
  std::string_view method;
  std::string_view ranker;
  Moments offline;
  Moments online;
  double impressions_per_second;
  double half_way;  // impressions to half of the gain
};

// "PDGD (linear)", "Pairwise (linear)".
std::string label_of(std::string method, std::string_view ranker) {
  const std::size_t capitals = method == "pairwise" ? 1 : method.size();
  for (std::size_t at = 0; at < capitals; ++at) {
    method[at] = static_cast<char>(method[at] - 'a' + 'A');
  }
  return method + " (" + std::string(ranker) + ")";
}

// Nearly normal: the sum of twelve uniform numbers.
double draw(std::uint64_t& state) {
  double sum = -6;
  for (int at = 0; at < 12; ++at) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    sum += static_cast<double>(state >> 33U) / 2147483648.0;
  }
  return sum;
}

// One value per run with exactly these moments. Most of a run's deviation is the same in every
// cell: that of its fold and queries.
std::vector<double> values_of(const Moments& moments, std::size_t runs, std::uint64_t seed) {
  std::uint64_t shared = 2;
  std::vector<double> values;
  double mean = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    values.push_back(3 * draw(shared) + draw(seed));
    mean += values.back() / static_cast<double>(runs);
  }
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double std = std::sqrt(squares / static_cast<double>(runs - 1));
  for (double& value : values) value = moments.mean + moments.std * (value - mean) / std;
  return values;
}

CellSummary make_cell(const Final& final, double start, std::string_view dataset,
                      std::uint64_t impressions) {
  CellSummary cell;
  cell.baseline = final.method != "pdgd";
  cell.label = label_of(std::string(final.method), final.ranker);
  cell.method = final.method;
  cell.ranker = final.ranker;
  cell.click_model = final.click_model;
  cell.dataset = dataset;
  cell.published_data = dataset;
  cell.protocol = "described";
  cell.runs = 125;
  cell.impressions = impressions;
  cell.seed = 42;
  cell.offline = final.offline;
  cell.online = final.online;
  set_finals(cell);
  cell.as_in_paper = true;
  cell.impressions_per_second = final.impressions_per_second;
  cell.seconds = static_cast<double>(impressions) * cell.runs / final.impressions_per_second;
  cell.evaluation_share = 0.12;

  // Performance rises with the logarithm of impressions along a logistic curve.
  const auto last = static_cast<double>(impressions);
  const auto progress = [&](double t) {
    const auto raw = [&](double at) { return 1 / (1 + std::pow(final.half_way / at, 0.9)); };
    return raw(t) / raw(last);
  };
  const auto discounted = [](double t) { return (1 - std::pow(0.9995, t)) / 0.0005; };
  for (int step = 0;; ++step) {
    const double exact = std::min(last, std::pow(10, step / 8.0));
    const auto impression = static_cast<std::uint64_t>(std::llround(exact));
    if (!cell.curve.empty() && cell.curve.back().impression == impression) continue;
    const auto t = static_cast<double>(impression);
    const double ripple = 0.003 * std::sin(2.3 * step + final.half_way) * (1 - progress(t));
    const double mean = start + (final.offline.mean - start) * progress(t) + ripple;
    const double share = discounted(t) / discounted(last);
    cell.curve.push_back({impression,
                          {mean, final.offline.std * (1 + 1.2 * (1 - progress(t)))},
                          {final.online.mean * share * (0.8 + 0.2 * progress(t)),
                           final.online.std * std::sqrt(share)}});
    if (impression == impressions) break;
  }
  cell.curve.back().offline = final.offline;
  cell.curve.back().online = final.online;
  return cell;
}

}  // namespace

void set_finals(CellSummary& cell) {
  const std::uint64_t seed = checksum(cell.label + cell.click_model + cell.dataset);
  const std::vector<double> offline = values_of(cell.offline, cell.runs, seed);
  const std::vector<double> online = values_of(cell.online, cell.runs, seed + 1);
  cell.finals.clear();
  for (std::uint32_t run = 0; run < cell.runs; ++run) {
    cell.finals.push_back({run, offline[run], online[run], run % 5});
  }
  for (std::size_t at = 0; at < cell.metrics.size(); ++at) {
    const auto values = values_of(cell.metrics[at].final, cell.runs, seed + 2 + at);
    for (RunFinal& final : cell.finals) final.metrics.push_back(values[final.run]);
  }
}

Comparison sweep_comparison() {
  Comparison comparison;
  comparison.title = "Learning rates on MQ2007";
  comparison.version = "0.1.0";
  const auto add_map = [](CellSummary& cell) {
    MetricSummary map{.name = "MAP"};
    for (const CurveSummary& point : cell.curve) {
      map.curve.push_back({0.9 * point.offline.mean, point.offline.std});
    }
    map.final = map.curve.back();
    cell.metrics.push_back(std::move(map));
    set_finals(cell);
  };
  double lost = 0;  // by the click model
  for (const std::string_view click_model : {"perfect", "navigational", "informational"}) {
    for (const std::string_view ranker : {"linear", "neural"}) {
      const double best = ranker == "linear" ? 0.1 : 0.03;
      for (const auto& [rate, text] : {std::pair{0.003, "0.003"},
                                       {0.01, "0.01"},
                                       {0.03, "0.03"},
                                       {0.1, "0.1"},
                                       {0.3, "0.3"}}) {
        const double off = std::log10(rate / best);
        CellSummary& cell =
            comparison.cells.emplace_back(make_cell({click_model,
                                                     "pdgd",
                                                     ranker,
                                                     {0.5 - 0.03 * off * off - lost, 0.02},
                                                     {800 - 60 * off * off - 1000 * lost, 20},
                                                     10'000,
                                                     60 / rate},
                                                    0.335, "MQ2007", 10'000));
        cell.family = "PDGD";
        cell.label = "PDGD (" + std::string(ranker) + ", learning-rate " + text + ")";
        cell.swept = {{"ranker", std::string(ranker)}, {"learning-rate", text}};
        cell.as_in_paper = rate == 0.1;
        add_map(cell);
      }
    }
    CellSummary& mgd = comparison.cells.emplace_back(
        make_cell({click_model, "mgd", "linear", {0.47 - lost, 0.02}, {690, 15}, 812, 60}, 0.335,
                  "MQ2007", 10'000));
    mgd.family = mgd.label;
    add_map(mgd);
    lost += 0.01;
  }
  add_contrasts(comparison);
  return comparison;
}

Comparison selected_comparison() {
  Comparison comparison = sweep_comparison();
  std::vector<CellSummary> kept;
  for (std::size_t at = 0; at < comparison.cells.size(); ++at) {
    CellSummary& cell = comparison.cells[at];
    const std::string wanted = cell.click_model == "perfect" ? "0.1" : "0.03";
    if (!cell.swept.empty() && (cell.ranker == "neural" || cell.swept[1].value != wanted)) continue;
    cell.label = cell.family;
    kept.push_back(cell);
  }
  comparison.cells = kept;
  for (CellSummary& cell : comparison.cells) cell.selected = !cell.swept.empty();
  add_contrasts(comparison);
  return comparison;
}

Comparison small_comparison() {
  static constexpr std::array<Final, 6> kFinals{{
      {"perfect", "pdgd", "linear", {0.511, 0.017}, {797.3, 17.3}, 182'431, 60},
      {"perfect", "pdgd", "neural", {0.509, 0.020}, {743.7, 18.8}, 41'280, 220},
      {"navigational", "pdgd", "linear", {0.503, 0.018}, {726.9, 20.4}, 190'112, 120},
      {"navigational", "pdgd", "neural", {0.504, 0.019}, {653.1, 23.9}, 42'033, 500},
      {"informational", "pdgd", "linear", {0.496, 0.021}, {715.8, 25.6}, 175'020, 200},
      {"informational", "pdgd", "neural", {0.493, 0.022}, {634.5, 30.1}, 40'775, 900},
  }};
  Comparison comparison;
  comparison.title = "PDGD on MQ2007";
  comparison.threads = 2;
  comparison.version = "0.1.0";
  for (const Final& final : kFinals) {
    comparison.cells.push_back(make_cell(final, 0.335, "MQ2007", 10'000));
  }
  add_contrasts(comparison);
  return comparison;
}

Comparison large_comparison() {
  static constexpr std::array<Final, 18> kFinals{{
      {"perfect", "dbgd", "linear", {0.331, 0.010}, {533.6, 15.6}, 9'120, 900},
      {"perfect", "dbgd", "neural", {0.319, 0.014}, {481.2, 53.0}, 4'410, 1500},
      {"perfect", "mgd", "linear", {0.333, 0.003}, {558.7, 6.4}, 812, 60},
      {"perfect", "pairwise", "linear", {0.315, 0.003}, {345.3, 4.6}, 61'500, 150},
      {"perfect", "pdgd", "linear", {0.427, 0.005}, {691.4, 12.3}, 48'200, 1200},
      {"perfect", "pdgd", "neural", {0.430, 0.006}, {619.2, 13.6}, 11'900, 9000},
      {"navigational", "dbgd", "linear", {0.319, 0.011}, {504.3, 17.1}, 9'420, 2000},
      {"navigational", "dbgd", "neural", {0.304, 0.019}, {440.5, 60.0}, 4'480, 4000},
      {"navigational", "mgd", "linear", {0.321, 0.003}, {541.1, 6.6}, 833, 70},
      {"navigational", "pairwise", "linear", {0.312, 0.003}, {344.9, 4.7}, 60'800, 400},
      {"navigational", "pdgd", "linear", {0.408, 0.007}, {637.6, 16.0}, 49'000, 3000},
      {"navigational", "pdgd", "neural", {0.414, 0.008}, {567.8, 17.7}, 12'050, 15000},
      {"informational", "dbgd", "linear", {0.316, 0.017}, {500.1, 21.2}, 9'300, 2500},
      {"informational", "dbgd", "neural", {0.298, 0.024}, {435.3, 63.2}, 4'400, 6000},
      {"informational", "mgd", "linear", {0.323, 0.004}, {544.9, 7.2}, 820, 100},
      {"informational", "pairwise", "linear", {0.312, 0.003}, {345.0, 4.8}, 60'300, 300},
      {"informational", "pdgd", "linear", {0.407, 0.008}, {635.9, 17.6}, 47'700, 5000},
      {"informational", "pdgd", "neural", {0.411, 0.009}, {564.3, 19.3}, 11'800, 20000},
  }};
  Comparison comparison;
  comparison.title = "Six methods on MSLR-WEB10K";
  comparison.threads = 16;
  comparison.version = "0.1.0";
  for (const Final& final : kFinals) {
    comparison.cells.push_back(make_cell(final, 0.245, "MSLR-WEB10K", 1'000'000));
  }
  add_contrasts(comparison);
  return comparison;
}

Comparison paper_comparison(const std::vector<std::string>& datasets, double noise) {
  Comparison comparison;
  comparison.title = datasets.size() == 1 ? "The paper's methods on " + datasets[0]
                                          : "The paper's methods on its datasets";
  comparison.threads = 16;
  comparison.version = "0.1.0";
  comparison.test = SignificanceTest::kWelch;
  // The paper's means, moved by as much as a repetition of its runs would move them.
  std::uint64_t state = 1;
  const auto moved = [&](Moments moments) {
    moments.mean += noise * draw(state) * std::sqrt(2.0 / 125) * moments.std;
    return moments;
  };
  for (const std::string& name : datasets) {
    const std::string published = name == "Yahoo" ? "Yahoo set1" : name;
    const std::size_t dataset = report::published_dataset(published);
    for (const report::PublishedRow& row : report::published_rows()) {
      const double half_way = row.method == "pdgd" && row.ranker == "linear" ? 200
                              : row.method == "pdgd"                         ? 900
                              : row.method == "pairwise"                     ? 40
                              : row.method == "mgd"                          ? 70
                                                                             : 400;
      const auto& [offline, online] = row.values;
      const double start = 0.72 * offline[dataset].mean;
      comparison.cells.push_back(
          make_cell({row.click_model, row.method, row.ranker, moved(offline[dataset]),
                     moved(online[dataset]), 10'000, half_way},
                    start, name, report::kPublishedImpressions));
      comparison.cells.back().as_in_paper = true;
      comparison.cells.back().published_data = published;
      comparison.cells.back().protocol = "published";
    }
  }
  add_contrasts(comparison);
  return comparison;
}

Comparison final_curves(Comparison comparison) {
  for (CellSummary& cell : comparison.cells) {
    cell.curve.erase(cell.curve.begin(), cell.curve.end() - 1);
    for (MetricSummary& metric : cell.metrics) metric.curve = {metric.final};
  }
  return comparison;
}

Comparison single_runs(Comparison comparison) {
  for (CellSummary& cell : comparison.cells) {
    cell.runs = 1;
    cell.offline.std = 0;
    cell.online.std = 0;
    cell.finals.resize(1);
  }
  add_contrasts(comparison);
  return comparison;
}

Comparison weird_comparison() {
  Comparison comparison = paper_comparison({"MQ2007"}, 1);
  comparison.title = "Wörter & <Zeichen>: 50% of_a $ {brace} ~ # ^ \\ | \"quote\" 検索 \x01 \xFF";
  const std::array<std::string, 6> names{
      "a_method_with_a_very_long_name_nobody_can_remember (linear, learning_rate 0.005, ε 0.8)",
      "検索検索検索検索 (neural)",
      "<script>alert(1)</script>",
      "50% & more_of {it} #1 $x^2$ ~ \\input",
      "naïve “quoted” – “PDGD”",
      ""};
  for (std::size_t at = 0; at < comparison.cells.size(); ++at) {
    comparison.cells[at].label = names[at % names.size()];
    comparison.cells[at].dataset = "MQ2007 | Größe_1 (50%)";
  }
  comparison.cells[1].offline = {std::nan(""), std::nan("")};
  comparison.cells[8].online.std = 1234.5;
  for (const std::size_t at : {1U, 8U}) set_finals(comparison.cells[at]);
  comparison.cells[9].curve.resize(1);
  add_contrasts(comparison);
  return comparison;
}

}  // namespace plackett::testing
