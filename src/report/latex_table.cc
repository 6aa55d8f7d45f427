// Tables for a paper.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "report/numbers.h"
#include "report/table.h"
#include "report/table_notes.h"
#include "report/table_plan.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Arrangement;
using report::latex_text;
using report::Row;
using report::Significance;
using report::Verdict;

// \@nodocument is an error until a document has begun, and nothing afterwards: that is how the
// file knows whether it was \input or stands alone. booktabs' rules are \hline where it is absent.
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

const char* command(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoDifference:
      return "\\plackettneither{}";
    case Verdict::kBetter:
      return "\\plackettbetter{}";
    case Verdict::kMuchBetter:
      return "\\plackettmuchbetter{}";
    case Verdict::kWorse:
      return "\\plackettworse{}";
    case Verdict::kMuchWorse:
      return "\\plackettmuchworse{}";
    default:
      return "";
  }
}

std::string cell(const Row* row, const report::Measure& measure, const Significance& significance) {
  if (row == nullptr) return "";
  const Moments value = report::shown(*row->cell, measure);
  if (!std::isfinite(value.mean)) return "--";
  std::string out = report::fixed(value.mean, measure.digits);
  if (row->best(measure)) out = fmt::format("\\textbf{{{}}}", out);
  fmt::format_to(std::back_inserter(out), " \\plackettstd{{{}}}",
                 std::isfinite(value.std) ? report::fixed(value.std, measure.digits) : "--");
  const auto against = significance.of(*row->cell, measure);
  if (!against.empty()) out += ' ';
  for (const report::Against& one : against) out += command(one.verdict);
  return out;
}

std::string caption(const Comparison& comparison, const Arrangement& arrangement,
                    const report::TablePlan& plan, const Significance& significance) {
  std::string out =
      fmt::format("{}: {}. Mean (standard deviation) over runs; bold: best {}.",
                  plan.title.empty() ? "Offline and online NDCG@10" : plan.title.c_str(),
                  latex_text(report::facts_line(comparison)), report::best_of_what(arrangement));
  if (significance.baselines().empty()) return out;
  fmt::format_to(std::back_inserter(out),
                 " \\plackettmuchbetter\\ better and \\plackettmuchworse\\ worse ($p < 0.01$), "
                 "\\plackettbetter\\ and \\plackettworse\\ ($p < 0.05$), \\plackettneither\\ "
                 "neither: {}, two-tailed, against {}.",
                 latex_text(significance.test_name()),
                 latex_text(report::baseline_list(significance)));
  return out;
}

}  // namespace

std::string latex_table(const Comparison& comparison, SignificanceTest test) {
  const Arrangement arrangement = report::arrange(comparison);
  const Significance significance(comparison, test);
  std::string out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put, kHead,
                 latex_text(comparison.title.empty() ? "Comparison" : comparison.title));
  if (arrangement.blocks.empty()) out += "No runs to show.\n";
  for (const report::TablePlan& plan : report::plan_tables(arrangement)) {
    const std::size_t columns = plan.columns.size();
    fmt::format_to(put,
                   "\n\\begin{{table*}}[t]\n\\centering\n\\caption{{{}}}\n\\smallskip\n"
                   "\\begin{{tabular}}{{l{}}}\n\\toprule\n",
                   caption(comparison, arrangement, plan, significance), std::string(columns, 'l'));
    for (const auto& column : plan.columns) {
      fmt::format_to(put, " & \\textbf{{{}}}", latex_text(column.title));
    }
    out += " \\\\\n";
    for (const report::TableSection& section : plan.sections) {
      fmt::format_to(put,
                     "\\midrule\n & \\multicolumn{{{}}}{{c}}{{\\textit{{{}}}}} \\\\\n\\midrule\n",
                     columns, latex_text(section.title));
      for (const report::TableLine& line : section.lines) {
        out += latex_text(arrangement.series[line.series].label);
        for (std::size_t at = 0; at < columns; ++at) {
          fmt::format_to(put, " & {}",
                         cell(line.cells[at], *plan.columns[at].measure, significance));
        }
        out += " \\\\\n";
      }
    }
    out += "\\bottomrule\n\\end{tabular}\n\\end{table*}\n";
  }
  return out + "\\placketttail\n";
}

}  // namespace plackett
