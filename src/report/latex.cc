// Tables for a paper.
#include <fmt/format.h>

#include <iterator>

#include "report/table.h"
#include "report/text.h"

namespace plackett::report {
namespace {

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

std::string cell_text(const Cell& cell) {
  std::string out = latex_text(cell.mean);
  if (cell.bold) out = fmt::format("\\textbf{{{}}}", out);
  if (cell.std.empty()) return out;
  out += fmt::format(" \\plackettstd{{{}}}", latex_text(cell.std));
  return cell.tests.empty() ? out : out + ' ' + marks_text(cell.marks());
}

std::string caption(const Arrangement& arrangement, const std::string& title) {
  const std::string key = arrangement.key();
  return fmt::format("{}: {}. Mean (standard deviation) over runs; bold: best {}.{}",
                     title.empty() ? "Offline and online NDCG@10" : title,
                     latex_text(arrangement.facts.line), arrangement.best_of_what(),
                     key.empty() ? "" : " " + marks_text(key) + ".");
}

}  // namespace

std::string latex_table(const Comparison& comparison, SignificanceTest test) {
  const Arrangement arrangement(comparison, test);
  std::string out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put, kHead,
                 latex_text(comparison.title.empty() ? "Comparison" : comparison.title));
  if (arrangement.blocks.empty()) out += "No runs to show.\n";
  for (const Table& table : results_tables(arrangement)) {
    const std::size_t columns = table.columns.size();
    fmt::format_to(put,
                   "\n\\begin{{table*}}[t]\n\\centering\n\\caption{{{}}}\n\\smallskip\n"
                   "\\begin{{tabular}}{{l{}}}\n\\toprule\n",
                   caption(arrangement, table.title), std::string(columns, 'l'));
    for (const TableColumn& column : table.columns) {
      fmt::format_to(put, " & \\textbf{{{}}}", latex_text(column.title));
    }
    out += " \\\\\n";
    for (const TableSection& section : table.sections) {
      fmt::format_to(put,
                     "\\midrule\n & \\multicolumn{{{}}}{{c}}{{\\textit{{{}}}}} \\\\\n\\midrule\n",
                     columns, latex_text(section.title));
      for (const TableRow& row : section.rows) {
        out += latex_text(row.title);
        for (const auto& cell : row.cells) out += " & " + (cell ? cell_text(*cell) : "");
        out += " \\\\\n";
      }
    }
    out += "\\bottomrule\n\\end{tabular}\n\\end{table*}\n";
  }
  return out + "\\placketttail\n";
}

}  // namespace plackett::report
