#include "report/pdf.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "report/text.h"
#include "samples.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// Empty where the file's own table says where its objects are, otherwise what is wrong.
std::string xref_fault(const std::string& pdf) {
  const std::size_t start = pdf.rfind("startxref\n");
  if (start == std::string::npos) return "no startxref";
  const auto table = static_cast<std::size_t>(std::atol(pdf.c_str() + start + 10));
  if (pdf.compare(table, 7, "xref\n0 ") != 0) return "startxref is off";
  const auto count = static_cast<std::size_t>(std::atol(pdf.c_str() + table + 7));
  const std::size_t first = pdf.find('\n', table + 7) + 1;
  for (std::size_t object = 1; object < count; ++object) {
    const std::size_t entry = first + 20 * object;
    const auto offset = static_cast<std::size_t>(std::atol(pdf.c_str() + entry));
    const std::string head = std::to_string(object) + " 0 obj\n";
    if (pdf.compare(offset, head.size(), head) != 0) return "object " + std::to_string(object);
    if (pdf.compare(entry + 10, 10, " 00000 n \n") != 0) return "entry " + std::to_string(object);
  }
  const std::size_t stream = pdf.find("stream\n") + 7;
  const auto length = static_cast<std::size_t>(std::atol(pdf.c_str() + pdf.find("/Length ") + 8));
  return pdf.compare(stream + length, 9, "endstream") == 0 ? "" : "stream length";
}

TEST(Pdf, TableOfObjectsIsRightForAnyComparison) {
  for (const Comparison& comparison :
       {Comparison{}, testing::small_comparison(), testing::weird_comparison(),
        testing::paper_comparison({"MQ2007", "Yahoo"}, 1)}) {
    for (const auto metric : {report::Metric::kOffline, report::Metric::kOnline}) {
      const std::string pdf = curves_pdf(comparison, {.metric = metric});
      EXPECT_EQ(xref_fault(pdf), "");
      EXPECT_THAT(pdf, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf "))));
    }
  }
  std::string broken = curves_pdf(testing::small_comparison());
  broken.insert(20, "x");
  EXPECT_NE(xref_fault(broken), "");
}

TEST(Pdf, DrawsABandAndALineForEveryCell) {
  const std::string pdf = curves_pdf(testing::paper_comparison({"MQ2007"}, 0));
  EXPECT_EQ(occurrences(pdf, "/Band gs"), 18U);
  EXPECT_EQ(occurrences(pdf, " 2.25 w"), 18U + 6U);  // and the legend
  EXPECT_THAT(pdf, AllOf(HasSubstr("(Navigational) Tj"), HasSubstr("(PDGD \\(neural\\)) Tj"),
                         HasSubstr("[7 5] 0 d")));
}

TEST(Pdf, HasNoDateAndTheSameBytesEachTime) {
  const std::string pdf = curves_pdf(testing::paper_comparison({"MQ2007"}, 0));
  EXPECT_EQ(pdf, curves_pdf(testing::paper_comparison({"MQ2007"}, 0)));
  EXPECT_THAT(pdf, AllOf(Not(HasSubstr("CreationDate")), Not(HasSubstr("/ID"))));
}

TEST(Pdf, StringsAreEscaped) {
  EXPECT_EQ(report::pdf_string("a(b)\\é 検"), "(a\\(b\\)\\\\\\351 ?)");
  EXPECT_EQ(report::pdf_string("x\ny"), "(x y)");
}

TEST(Pdf, Renders) {
  if (std::system("command -v pdftoppm >/dev/null 2>&1") != 0) GTEST_SKIP() << "no pdftoppm";
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(
      write_file(folder.path() / "a.pdf", curves_pdf(testing::paper_comparison({"MQ2007"}, 0)))
          .ok());
  const std::string line = "cd '" + folder.path().string() + "' && pdftoppm -r 40 a.pdf a 2>said";
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(testing::slurp(folder.path() / "said"), "");
  const std::string image = testing::slurp(folder.path() / "a-1.ppm");
  ASSERT_GT(image.size(), 1000U);
  EXPECT_GT(std::count_if(image.begin(), image.end(), [](char c) { return c != '\xFF'; }), 5000);
}

}  // namespace
}  // namespace plackett
