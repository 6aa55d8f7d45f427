// report_gallery FOLDER: writes the reports of the sample comparisons, for a person to look at.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "experiment/contrasts.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/write.h"
#include "samples.h"

namespace {

using plackett::Comparison;

bool write(const Comparison& comparison, const std::filesystem::path& folder) {
  const plackett::report::PageOptions options{
      .command =
          "plackett compare --data MQ2007 --methods pdgd,pdgd:neural "
          "--runs 125 --impressions 10000 --seed 42 --out results/mq2007"};
  if (auto done = plackett::report::write_report(comparison, folder, options); !done) {
    fmt::print(stderr, "report_gallery: {}\n", done.error().message);
    return false;
  }
  fmt::print("{}\n{}\n", plackett::report::terminal_table(comparison, {.ansi = true}),
             plackett::report::terminal_table(comparison, {.width = 72, .ascii = true}));
  fmt::print("{}\n{}\n",
             plackett::report::terminal_scorecard(comparison, {.ansi = true, .width = 100}),
             plackett::report::terminal_scorecard(comparison));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: report_gallery FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  Comparison single = plackett::testing::small_comparison();
  single.cells.resize(1);
  single.title = "one cell";
  plackett::add_contrasts(single);
  Comparison two = plackett::testing::large_comparison();
  two.cells.resize(12);
  two.title = "two click models";
  plackett::add_contrasts(two);
  using plackett::testing::paper_comparison;
  const bool done =
      write(paper_comparison({"MQ2007"}, 1), folder / "paper") &&
      write(paper_comparison({"MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo", "Istella"}, 1),
            folder / "five") &&
      write(plackett::testing::weird_comparison(), folder / "weird") &&
      write(plackett::testing::small_comparison(), folder / "small") &&
      write(plackett::testing::large_comparison(), folder / "large") &&
      write(plackett::testing::sweep_comparison(), folder / "sweep") &&
      write(plackett::testing::selected_comparison(), folder / "selected") &&
      write(plackett::testing::final_curves(paper_comparison({"MQ2007"}, 1)), folder / "final") &&
      write(single, folder / "single") && write(two, folder / "two") &&
      write(Comparison{}, folder / "empty");
  return done ? 0 : 1;
}
