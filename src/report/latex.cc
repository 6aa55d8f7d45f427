// Tables for a paper.
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "report/numbers.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::latex_text;

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

// One per Verdict.
constexpr std::array<const char*, 6> kCommands{"",
                                               "\\plackettneither{}",
                                               "\\plackettbetter{}",
                                               "\\plackettmuchbetter{}",
                                               "\\plackettworse{}",
                                               "\\plackettmuchworse{}"};

// A dash of our own is not a letter of LaTeX.
std::string number(const std::string& text) { return text == report::kNoNumber ? "--" : text; }

std::string cell_text(const report::Cell& cell) {
  std::string out = number(cell.mean);
  if (cell.bold) out = fmt::format("\\textbf{{{}}}", out);
  if (!cell.std.empty()) out += fmt::format(" \\plackettstd{{{}}}", number(cell.std));
  if (!cell.against.empty() && !cell.std.empty()) out += ' ';
  for (const report::Against& one : cell.against) {
    out += kCommands[static_cast<std::size_t>(one.verdict)];
  }
  return out;
}

std::string caption(const report::Arrangement& arrangement, const std::string& title) {
  std::string out = fmt::format("{}: {}. Mean (standard deviation) over runs; bold: best {}.",
                                title.empty() ? "Offline and online NDCG@10" : title,
                                latex_text(arrangement.facts.line), arrangement.best_of_what());
  if (arrangement.baselines.empty()) return out;
  fmt::format_to(std::back_inserter(out),
                 " \\plackettmuchbetter\\ better and \\plackettmuchworse\\ worse ($p < 0.01$), "
                 "\\plackettbetter\\ and \\plackettworse\\ ($p < 0.05$), \\plackettneither\\ "
                 "neither: {}, two-tailed, against {}.",
                 latex_text(arrangement.test_name), latex_text(arrangement.baseline_list()));
  return out;
}

}  // namespace

std::string latex_table(const Comparison& comparison, SignificanceTest test) {
  const report::Arrangement arrangement(comparison, test);
  std::string out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put, kHead,
                 latex_text(comparison.title.empty() ? "Comparison" : comparison.title));
  if (arrangement.blocks.empty()) out += "No runs to show.\n";
  for (const report::Table& table : results_tables(arrangement)) {
    const std::size_t columns = table.columns.size();
    fmt::format_to(put,
                   "\n\\begin{{table*}}[t]\n\\centering\n\\caption{{{}}}\n\\smallskip\n"
                   "\\begin{{tabular}}{{l{}}}\n\\toprule\n",
                   caption(arrangement, table.title), std::string(columns, 'l'));
    for (const report::TableColumn& column : table.columns) {
      fmt::format_to(put, " & \\textbf{{{}}}", latex_text(column.title));
    }
    out += " \\\\\n";
    for (const report::TableSection& section : table.sections) {
      fmt::format_to(put,
                     "\\midrule\n & \\multicolumn{{{}}}{{c}}{{\\textit{{{}}}}} \\\\\n\\midrule\n",
                     columns, latex_text(section.title));
      for (const report::TableRow& row : section.rows) {
        out += latex_text(row.name);
        for (const auto& cell : row.cells)
          fmt::format_to(put, " & {}", cell ? cell_text(*cell) : "");
        out += " \\\\\n";
      }
    }
    out += "\\bottomrule\n\\end{tabular}\n\\end{table*}\n";
  }
  return out + "\\placketttail\n";
}

}  // namespace plackett
