// A whole experiment: methods x click models, with a progress line, a table, and a report to open
// in a browser. Stop it with Ctrl-C and start it again: it continues, and ends with the same bytes.
//
//   comparison [FOLDER]
#include <plackett/plackett.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace {

std::atomic<bool> interrupted = false;

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "comparison_results";

  plackett::ComparisonSpec spec;
  spec.title = "Four ways to learn from three kinds of users";
  spec.datasets = {{.name = "synthetic", .path = "synthetic"}};
  for (const char* entry : {"dbgd", "mgd:candidates=9", "pairwise", "pdgd"}) {
    spec.methods.push_back({.entry = plackett::parse_method_entry(entry).value()});
  }
  spec.click_models = {"perfect", "navigational", "informational"};
  spec.common.runs = 5;
  spec.common.impressions = 2'000;
  // Errors are found before anything runs, and the message says what is allowed.
  if (const auto sound = plackett::check(spec); !sound) {
    std::fprintf(stderr, "%s\n", sound.error().message.c_str());
    return 1;
  }

  // Called from any of the threads that do the work.
  std::signal(SIGINT, [](int) { interrupted = true; });
  const std::size_t all = spec.methods.size() * spec.click_models.size() * spec.common.runs;
  std::atomic<std::size_t> done = 0;
  plackett::RunOptions options;
  options.watch.run_done = [&] { std::fprintf(stderr, "\rrun %zu of %zu", ++done, all); };
  options.watch.stop = [] { return interrupted.load(); };

  const auto compared = plackett::compare(spec, folder, options);
  std::fprintf(stderr, "\r%*s\r", 40, "");
  if (!compared) {
    std::fprintf(stderr, "%s\n", compared.error().message.c_str());
    return 1;
  }

  std::printf("%-28s %14s %10s\n", "", "NDCG@10", "online");
  std::string users;
  std::map<std::string, std::pair<double, std::string>> best;
  for (const plackett::CellSummary& cell : compared->comparison.cells) {
    if (cell.click_model != users) std::printf("%s\n", cell.click_model.c_str());
    users = cell.click_model;
    std::printf("  %-26s %6.3f (%.3f) %10.1f\n", cell.label.c_str(), cell.offline.mean,
                cell.offline.std, cell.online.mean);
    auto& leader = best[users];
    if (cell.online.mean > leader.first) leader = {cell.online.mean, cell.method};
  }
  const std::filesystem::path report = folder / "report.html";
  std::printf("open %s\n", report.string().c_str());

  // Again: every run is finished, so nothing is run and the numbers are the same.
  done = 0;
  const auto again = plackett::compare(spec, folder, options);
  bool good = std::filesystem::exists(report) && again.ok() && done == 0;
  for (std::size_t cell = 0; good && cell < compared->comparison.cells.size(); ++cell) {
    good =
        again->comparison.cells[cell].offline.mean == compared->comparison.cells[cell].offline.mean;
  }
  for (const auto& [click_model, leader] : best) good &= leader.second == "pdgd";
  if (!good) std::fprintf(stderr, "PDGD should have served every kind of user best\n");
  return good ? 0 : 1;
}
