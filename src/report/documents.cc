// Tables and the scorecard as documents: GitHub's Markdown, LaTeX for a paper, CSV for programs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "report/drift.h"
#include "report/numbers.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett::report {
namespace {

// `open` and `close` stand around what is bold.
std::string cell_text(const Cell& cell, const char* open = "**", const char* close = "**") {
  std::string out =
      fmt::format("{}{}{}{}", cell.bold ? open : "", cell.mean, cell.bold ? close : "", cell.sign);
  for (const std::string& part : {cell.deviation(), cell.marks()}) {
    if (!part.empty()) out += " " + part;
  }
  return out;
}

// `align` is the rule below each column's title.
void append_markdown(std::string& out, const Table& table, const char* align) {
  const auto put = std::back_inserter(out);
  if (!table.title.empty()) fmt::format_to(put, "\n## {}\n", table.title);
  if (!table.about.empty()) fmt::format_to(put, "\n{}\n", table.about);
  for (const TableSection& section : table.sections) {
    std::string rule = "|:--|";
    fmt::format_to(put, "\n{} {}\n\n| method |", table.title.empty() ? "##" : "###",
                   markdown_cell(section.title));
    for (const std::string& setting : table.settings) {
      fmt::format_to(put, " {} |", markdown_cell(setting));
      rule += "--:|";
    }
    for (const std::string& column : table.columns) {
      fmt::format_to(put, " {} |", markdown_cell(column));
      rule += align;
    }
    fmt::format_to(put, "\n{}\n", rule);
    for (const TableRow& row : section.rows) {
      fmt::format_to(put, "| {} |", markdown_cell(row.title));
      for (const std::string& value : row.settings) {
        fmt::format_to(put, " {} |", markdown_cell(value));
      }
      for (const Cell& cell : row.cells) fmt::format_to(put, " {} |", cell_text(cell));
      out += '\n';
    }
  }
}

// \@nodocument is an error until a document has begun, and nothing afterwards: that is how the
// file knows whether it was \input or stands alone. Without booktabs its rules are \hline.
constexpr const char* kHead = R"(%% {}
%% In a paper: \usepackage{{amssymb}}, best also booktabs, and \input this file.
%% Alone: pdflatex tables.tex
\expandafter\ifx\csname @nodocument\endcsname\relax
  \def\placketttail{{}}
\else
  \documentclass{{article}}
  \usepackage{{amssymb}}
  \setlength\textwidth{{250mm}}\setlength\textheight{{170mm}}
  \setlength\oddsidemargin{{-5mm}}\setlength\topmargin{{-20mm}}
  \ifdefined\pdfpagewidth\pdfpagewidth=297mm\pdfpageheight=210mm\fi
  \pagestyle{{empty}}
  \def\placketttail{{\end{{document}}}}
  \begin{{document}}
\fi
\providecommand{{\toprule}}{{\hline}}
\providecommand{{\midrule}}{{\hline}}
\providecommand{{\bottomrule}}{{\hline}}
\providecommand{{\plackettstd}}[1]{{{{\tiny (#1)}}}}
\providecommand{{\plackettbetter}}{{{{\tiny $^{{\vartriangle}}$}}}}
\providecommand{{\plackettmuchbetter}}{{{{\tiny $^{{\blacktriangle}}$}}}}
\providecommand{{\plackettworse}}{{{{\tiny $^{{\triangledown}}$}}}}
\providecommand{{\plackettmuchworse}}{{{{\tiny $^{{\blacktriangledown}}$}}}}
\providecommand{{\plackettneither}}{{{{\tiny $^{{\cdot}}$}}}}
)";

// As latex_text, with "·" as a mark.
std::string marks_text(const std::string& text) {
  return replaced(latex_text(text), "$\\cdot$", "\\plackettneither{}");
}

std::string latex_cell(const Cell& cell) {
  std::string out = latex_text(cell.mean);
  if (cell.bold) out = fmt::format("\\textbf{{{}}}", out);
  if (cell.std.empty()) return out;
  out += fmt::format(" \\plackettstd{{{}}}", latex_text(cell.std));
  return cell.tests.empty() ? out : out + ' ' + marks_text(cell.marks());
}

void append_latex(std::string& out, const Table& table, const std::string& caption) {
  const auto put = std::back_inserter(out);
  const std::size_t columns = table.columns.size();
  fmt::format_to(put,
                 "\n\\begin{{table*}}[t]\n\\centering\n\\caption{{{}}}\n\\smallskip\n"
                 "\\begin{{tabular}}{{l{}}}\n\\toprule\n",
                 caption, std::string(table.settings.size(), 'r') + std::string(columns, 'l'));
  for (const std::string& setting : table.settings) {
    fmt::format_to(put, " & {}", latex_text(setting));
  }
  for (const std::string& column : table.columns) {
    fmt::format_to(put, " & \\textbf{{{}}}", latex_text(column));
  }
  out += " \\\\\n";
  for (const TableSection& section : table.sections) {
    fmt::format_to(put,
                   "\\midrule\n & \\multicolumn{{{}}}{{c}}{{\\textit{{{}}}}} \\\\\n\\midrule\n",
                   table.settings.size() + columns, latex_text(section.title));
    for (const TableRow& row : section.rows) {
      out += latex_text(row.title);
      for (const std::string& value : row.settings) out += " & " + latex_text(value);
      for (const Cell& cell : row.cells) out += " & " + latex_cell(cell);
      out += " \\\\\n";
    }
  }
  out += "\\bottomrule\n\\end{tabular}\n\\end{table*}\n";
}

std::string field(const std::string& text) { return csv_field(text); }
std::string field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string field(std::uint64_t count) { return fmt::format("{}", count); }
std::string field(const TTest& test) {
  const std::vector<std::string> fields{field(test.difference), field(test.half_width),
                                        field(test.t),          field(test.degrees),
                                        field(test.p),          field(test.holm)};
  return fmt::format("{}", fmt::join(fields, ","));
}
std::string field(const Moments& moments) {
  return fmt::format("{},{}", field(moments.mean), field(moments.std));
}

using Fields = std::vector<std::string>;

std::string joined(const Fields& fields) { return fmt::format("{}\n", fmt::join(fields, ",")); }

template <typename... Values>
void add(Fields& to, const Values&... values) {
  (to.push_back(field(values)), ...);
}

// What a line starts with: "MQ2007,described,perfect,PDGD (linear)".
Fields place_of(const CellSummary& cell) {
  return {field(cell.dataset), field(cell.protocol), field(cell.click_model),
          field(row_label(cell))};
}

// The columns of what was swept, of methods and surroundings, without those that are there anyway.
class SettingFields {
 public:
  SettingFields(const Comparison& comparison, const Fields& there) {
    const auto is_new = [&](const std::string& name) {
      return std::find(there.begin(), there.end(), name) == there.end() &&
             std::find(names_.begin(), names_.end(), name) == names_.end();
    };
    for (const auto kind : {&CellSummary::swept, &CellSummary::surroundings}) {
      for (const CellSummary& cell : comparison.cells) {
        for (const SweptValue& one : cell.*kind) {
          if (is_new(one.name)) names_.push_back(one.name);
        }
      }
    }
  }

  void add_names(Fields& to) const { to.insert(to.end(), names_.begin(), names_.end()); }
  void add_values(const CellSummary& cell, Fields& to) const {
    for (const std::string& name : names_) {
      const std::string value = setting_value(cell.swept, name);
      to.push_back(field(value.empty() ? setting_value(cell.surroundings, name) : value));
    }
  }

 private:
  Fields names_;
};
}  // namespace

std::string markdown_table(const Comparison& comparison) {
  const Arrangement arrangement(comparison);
  if (arrangement.blocks.empty()) return "No runs to show.\n";
  std::string out;
  const auto put = std::back_inserter(out);
  if (!comparison.title.empty()) fmt::format_to(put, "# {}\n\n", markdown_cell(comparison.title));
  fmt::format_to(put, "{}. Mean (standard deviation) over runs; bold: best {}.\n",
                 markdown_cell(arrangement.facts.line), arrangement.best_of_what);
  if (!arrangement.selection.empty()) fmt::format_to(put, "\n{}\n", arrangement.selection);
  const std::string key = markdown_cell(replaced(arrangement.key(), "\u00A0", " "));
  if (!key.empty()) fmt::format_to(put, "\n{}.\n", replaced(key, "(p &lt;", "(p <"));
  for (const auto& tables :
       {results_tables(arrangement), drift_tables(arrangement), difference_tables(arrangement)}) {
    for (const Table& table : tables) append_markdown(out, table, ":--|");
  }
  return out;
}

std::string embedded_table(const Comparison& comparison) {
  const Arrangement arrangement(comparison);
  if (arrangement.blocks.empty()) return "<p>No runs to show.</p>\n";
  std::string out;
  const auto put = std::back_inserter(out);
  if (!comparison.title.empty()) {
    fmt::format_to(put, "<p><b>{}</b></p>\n", markup(comparison.title));
  }
  fmt::format_to(put, "<p>{}. Mean (standard deviation) over runs; bold: best {}.</p>\n",
                 markup(arrangement.facts.line), arrangement.best_of_what);
  const auto add = [put](const char* tag, const std::string& content, std::size_t columns = 1) {
    fmt::format_to(put, "<{0} colspan=\"{1}\" style=\"text-align:left\">{2}</{0}>", tag, columns,
                   content);
  };
  for (const Table& table : results_tables(arrangement)) {
    out += "<table>\n<thead><tr>";
    add("th", markup(table.title));
    for (const auto* titles : {&table.settings, &table.columns}) {
      for (const std::string& title : *titles) add("th", markup(title));
    }
    out += "</tr></thead>\n<tbody>\n";
    for (const TableSection& section : table.sections) {
      out += "<tr>";
      add("th", markup(section.title), 1 + table.settings.size() + table.columns.size());
      out += "</tr>\n";
      for (const TableRow& row : section.rows) {
        out += "<tr>";
        add("td", markup(row.title));
        for (const std::string& value : row.settings) add("td", markup(value));
        for (const Cell& cell : row.cells) add("td", cell_text(cell, "<b>", "</b>"));
        out += "</tr>\n";
      }
    }
    out += "</tbody>\n</table>\n";
  }
  const std::string key = markup(arrangement.key());
  if (!key.empty()) fmt::format_to(put, "<p><small>{}</small></p>\n", key);
  return out;
}

std::string markdown_scorecard(const Comparison& comparison) {
  const Scorecard card = make_scorecard(comparison);
  if (card.scores.empty()) return "";
  std::string out = fmt::format(
      "# Beside the paper\n\n"
      "Each cell, mean (standard deviation), beside the number in Oosterhuis and de Rijke, "
      "\"Differentiable Unbiased Online Learning to Rank\", CIKM 2018, after {} impressions. "
      "Errors: the difference of the two means in standard errors of it, "
      "√(s₁²/n₁ + s₂²/{}).\n\n**{}** {}\n",
      grouped(kPublishedImpressions), kPublishedRuns, card.agreement, markdown_cell(card.remark));
  append_markdown(out, scorecard_table(card), "--:|");
  if (!card.note.empty()) fmt::format_to(std::back_inserter(out), "\n{}.\n", card.note);
  return out;
}

std::string latex_table(const Comparison& comparison) {
  const Arrangement arrangement(comparison);
  std::string out;
  const std::string key = marks_text(arrangement.key());
  std::string all_measures = "Offline and online NDCG@10";
  for (std::size_t at = kPaperMeasures.size(); at < arrangement.measures.size(); ++at) {
    all_measures += fmt::format(", {}", arrangement.measures[at].column());
  }
  fmt::format_to(std::back_inserter(out), kHead,
                 latex_text(comparison.title.empty() ? "Comparison" : comparison.title));
  if (arrangement.blocks.empty()) out += "No runs to show.\n";
  for (const Table& table : results_tables(arrangement)) {
    append_latex(out, table,
                 fmt::format("{}: {}. Mean (standard deviation) over runs; bold: best {}.{}{}",
                             latex_text(table.title.empty() ? all_measures : table.title),
                             latex_text(arrangement.facts.line), arrangement.best_of_what,
                             arrangement.selection.empty() ? "" : " " + arrangement.selection,
                             key.empty() ? "" : " " + key + "."));
  }
  for (const Table& table : drift_tables(arrangement)) {
    append_latex(out, table, latex_text(fmt::format("{}. {}", table.title, table.about)));
  }
  return out + "\\placketttail\n";
}

std::string csv_table(const Comparison& comparison) {
  const Arrangement arrangement(comparison);
  Fields names{"dataset",  "protocol", "click_model", "label",       "method", "ranker",
               "baseline", "selected", "runs",        "impressions", "seed"};
  const SettingFields settings(comparison, names);
  settings.add_names(names);
  for (const Measure& measure : arrangement.measures) {
    for (const char* moment : {"mean", "std"}) {
      names.push_back(fmt::format("{}_{}", measure.name, moment));
    }
  }
  std::string out = joined(names);
  for (const CellSummary& cell : comparison.cells) {
    Fields fields = place_of(cell);
    add(fields, cell.method, cell.ranker, std::uint64_t{cell.baseline},
        std::uint64_t{cell.selected}, std::uint64_t{cell.runs}, cell.impressions, cell.seed);
    settings.add_values(cell, fields);
    for (const Measure& measure : arrangement.measures) add(fields, measure.final(cell));
    out += joined(fields);
  }
  return out;
}

std::string csv_tests(const Comparison& comparison) {
  const Arrangement arrangement(comparison);
  Fields names{"dataset", "protocol", "click_model", "label"};
  const SettingFields settings(comparison, names);
  settings.add_names(names);
  names.insert(names.end(), {"baseline", "leaders", "measure"});
  for (const char* test : {"paired", "welch", "student"}) {
    for (const char* value : {"difference", "half_width", "t", "df", "p", "holm"}) {
      names.push_back(fmt::format("{}_{}", test, value));
    }
  }
  std::string out = joined(names);
  for (const auto* contrasts : {&comparison.contrasts, &comparison.leaders}) {
    for (const Contrast& contrast : *contrasts) {
      const CellSummary& cell = comparison.cells[contrast.cell];
      const CellSummary& baseline = comparison.cells[contrast.baseline];
      const auto add_line = [&](std::string_view measure, const MeasureTests& tests) {
        Fields fields = place_of(cell);
        settings.add_values(cell, fields);
        add(fields, row_label(baseline), std::uint64_t{contrasts == &comparison.leaders},
            std::string(measure), tests.paired, tests.welch, tests.student);
        out += joined(fields);
      };
      for (const Measure& measure : arrangement.measures) {
        add_line(measure.name, measure.tests(contrast));
      }
      for (const MetricTests& drift : contrast.drift) add_line(drift.name, drift.tests);
    }
  }
  return out;
}

namespace {

// What the lines of runs start with.
class RunFields {
 public:
  explicit RunFields(const Comparison& comparison) : settings_(comparison, joined_names({})) {}

  [[nodiscard]] Fields names() const {
    Fields settings;
    settings_.add_names(settings);
    return joined_names(settings);
  }
  [[nodiscard]] Fields of(const CellSummary& cell, std::uint32_t run, std::uint32_t fold) const {
    Fields fields = place_of(cell);
    add(fields, cell.method, cell.ranker);
    settings_.add_values(cell, fields);
    add(fields, cell.impressions, cell.seed, std::uint64_t{run}, std::uint64_t{fold});
    return fields;
  }

 private:
  static Fields joined_names(const Fields& settings) {
    Fields names{"dataset", "protocol", "click_model", "label", "method", "ranker"};
    names.insert(names.end(), settings.begin(), settings.end());
    names.insert(names.end(), {"impressions", "seed", "run", "fold"});
    return names;
  }
  SettingFields settings_;
};

// The values of the further metrics. value(name) gives one, NaN if there is none.
template <typename Value>
void add_metrics(const Arrangement& arrangement, Fields& to, const Value& value) {
  for (std::size_t at = kPaperMeasures.size(); at < arrangement.measures.size(); ++at) {
    add(to, value(arrangement.measures[at].name));
  }
}

}  // namespace

std::string csv_runs(const Comparison& comparison) {
  const Arrangement arrangement(comparison);
  const RunFields start(comparison);
  Fields names = start.names();
  for (const Measure& measure : arrangement.measures) names.emplace_back(measure.name);
  names.emplace_back("validation");
  std::string out = joined(names);
  for (const CellSummary& cell : comparison.cells) {
    for (const RunFinal& final : cell.finals) {
      Fields fields = start.of(cell, final.run, final.fold);
      add(fields, final.offline, final.online);
      add_metrics(arrangement, fields, [&](std::string_view name) {
        for (std::size_t at = 0; at < cell.metrics.size(); ++at) {
          if (cell.metrics[at].name == name) return final.metrics[at];
        }
        return std::nan("");
      });
      add(fields, final.validation);
      out += joined(fields);
    }
  }
  return out;
}

std::string csv_drift(const Comparison& comparison) {
  if (!has_drift(Arrangement(comparison))) return "";
  const RunFields start(comparison);
  Fields names = start.names();
  names.insert(names.end(), {"regret", "regret_since_drift", "worst_window", "drift", "at",
                             "regained", "regained_after", "restarts"});
  std::string out = joined(names);
  for (const CellSummary& cell : comparison.cells) {
    for (const RunFinal& final : cell.finals) {
      if (!final.drift) continue;
      for (std::size_t at = 0; at < cell.drift->drifts.size(); ++at) {
        Fields fields = start.of(cell, final.run, final.fold);
        const auto& [after, was_regained] = final.drift->regained[at];
        add(fields, final.drift->regret, final.drift->regret_after, final.drift->worst_window,
            cell.drift->drifts[at].text, cell.drift->drifts[at].at);
        fields.push_back(std::isfinite(after) ? field(std::uint64_t{was_regained}) : "");
        add(fields, after);
        fields.push_back(final.drift->restarts ? field(*final.drift->restarts) : "");
        out += joined(fields);
      }
    }
  }
  return out;
}

std::string csv_curves(const Comparison& comparison,
                       const std::vector<std::vector<RunRecord>>& runs) {
  const Arrangement arrangement(comparison);
  const RunFields start(comparison);
  Fields names = start.names();
  names.emplace_back("impression");
  for (const Measure& measure : arrangement.measures) names.emplace_back(measure.name);
  std::string out = joined(names);
  for (std::size_t cell = 0; cell < runs.size(); ++cell) {
    for (const RunRecord& record : runs[cell]) {
      const Fields of_run = start.of(comparison.cells[cell], record.run, record.fold);
      for (std::size_t point = 0; point < record.curve.size(); ++point) {
        const auto& [impression, offline, online] = record.curve[point];
        Fields fields = of_run;
        add(fields, impression, offline, online);
        add_metrics(arrangement, fields, [&](std::string_view name) {
          for (const MetricCurve& metric : record.metrics) {
            if (metric.name == name) return metric.values[point];
          }
          return std::nan("");
        });
        out += joined(fields);
      }
    }
  }
  return out;
}

std::string csv_scorecard(const Comparison& comparison) {
  const Scorecard card = make_scorecard(comparison);
  if (card.scores.empty()) return "";
  std::string out =
      "dataset,protocol,click_model,label,measure,runs,mean,std,paper_mean,paper_std,"
      "standard_errors\n";
  for (const Score& score : card.scores) {
    Fields fields = place_of(*score.cell);
    add(fields, std::string(score.measure->name), std::uint64_t{score.cell->runs},
        score.measure->final(*score.cell), score.paper, score.errors);
    out += joined(fields);
  }
  return out;
}

}  // namespace plackett::report
