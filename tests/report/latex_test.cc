#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "base/file.h"
#include "report/table.h"
#include "report/text.h"
#include "samples.h"
#include "support/run_command.h"

namespace plackett::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::paper_comparison;

bool has(const char* command) {
  return std::system(("command -v " + std::string(command) + " >/dev/null 2>&1").c_str()) == 0;
}

// Empty where pdflatex made a PDF of it, otherwise its messages.
std::string latex_fault(const std::string& document) {
  const testing::TemporaryFolder folder;
  if (!write_file(folder.path() / "tables.tex", document)) return "can't write";
  const std::string line = "cd '" + folder.path().string() +
                           "' && pdflatex -halt-on-error -interaction=nonstopmode tables.tex"
                           " >messages 2>&1";
  if (std::system(line.c_str()) == 0) return "";
  return testing::slurp(folder.path() / "messages");
}

TEST(LatexTable, HasThePapersLayout) {
  const std::string table = latex_table(paper_comparison({"MQ2007", "MQ2008"}, 0));
  EXPECT_THAT(
      table,
      AllOf(HasSubstr(" & \\textbf{MQ2007} & \\textbf{MQ2008} \\\\\n"),
            HasSubstr(" & \\multicolumn{2}{c}{\\textit{Perfect}} \\\\\n"),
            HasSubstr("DBGD (linear) & 0.483 \\plackettstd{0.023} & 0.683 \\plackettstd{0.024} "
                      "\\\\\n"),
            HasSubstr("PDGD (neural) & 560.9 \\plackettstd{14.6} \\plackettmuchworse{}"
                      "\\plackettworse{}\\plackettmuchworse{}\\plackettmuchbetter{} & ")));
}

TEST(LatexTable, EscapesNames) {
  EXPECT_EQ(latex_text("50% & a_b {c} #1 $x^2$ ~ \\d"),
            "50\\% \\& a\\_b \\{c\\} \\#1 $\\$$x\\^{}2$\\$$ \\~{} $\\backslash$d");
  EXPECT_EQ(latex_text("naïve 検索"), "naïve ??");
  EXPECT_THAT(latex_table(testing::weird_comparison()), Not(HasSubstr("\\input}")));
}

TEST(LatexTable, CompilesAlone) {
  if (!has("pdflatex")) GTEST_SKIP() << "no pdflatex";
  for (const Comparison& comparison :
       {Comparison{}, testing::small_comparison(), testing::weird_comparison(),
        testing::selected_comparison(),
        paper_comparison({"MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo", "Istella"}, 0)}) {
    EXPECT_EQ(latex_fault(latex_table(comparison)), "");
  }
}

TEST(LatexTable, CompilesWithinAPaper) {
  if (!has("pdflatex")) GTEST_SKIP() << "no pdflatex";
  const std::string table = latex_table(paper_comparison({"MQ2007"}, 0));
  EXPECT_EQ(latex_fault("\\documentclass[twocolumn]{article}\n\\usepackage{amssymb}\n"
                        "\\IfFileExists{booktabs.sty}{\\usepackage{booktabs}}{}\n"
                        "\\begin{document}\nBefore.\n" +
                        table + "After.\n\\end{document}\n"),
            "");
  // The check can fail.
  EXPECT_NE(latex_fault("\\documentclass{article}\\begin{document}\\nonsense\\end{document}"), "");
}

}  // namespace
}  // namespace plackett::report
