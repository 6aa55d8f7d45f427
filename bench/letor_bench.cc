// The LETOR reader against the least a reader must do: one memchr pass over the same bytes.
// One core; the parsed values are checked against those the text was made from.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "dataset/letor_parser.h"
#include "measure.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 46;
constexpr std::uint32_t kDocs = 60'000;
constexpr std::uint32_t kDocsOfQuery = 19;
constexpr int kRounds = 7;

struct Text {
  std::string text;
  std::vector<float> values;
};

// Text that looks like MQ2008's: six decimals, a third of them zeros, a long comment.
Text make_text() {
  Text made;
  Rng rng({.seed = 1});
  fmt::memory_buffer out;
  for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
    fmt::format_to(std::back_inserter(out), "{} qid:{}", rng.below(3), 10032 + doc / kDocsOfQuery);
    for (std::uint32_t id = 1; id <= kFeatures; ++id) {
      const std::uint32_t millionths = rng.below(3) == 0 ? 0 : rng.below(1'000'001);
      made.values.push_back(static_cast<float>(millionths / 1e6));
      fmt::format_to(std::back_inserter(out), " {}:{}.{:06}", id, millionths / 1'000'000,
                     millionths % 1'000'000);
    }
    fmt::format_to(std::back_inserter(out),
                   " #docid = GX029-35-{} inc = 0.0119881192468859 prob = 0.139842\n",
                   5'000'000 + doc);
  }
  made.text = fmt::to_string(out);
  return made;
}

std::size_t count_lines(const std::string& text) {
  std::size_t lines = 0;
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p != end; ++lines) {
    const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    if (newline == nullptr) break;
    p = static_cast<const char*>(newline) + 1;
  }
  return lines;
}

bool right(const LetorText& parsed, const std::vector<float>& values) {
  ColumnMap columns(kFeatures);
  for (std::uint32_t feature = 0; feature < kFeatures; ++feature) columns[feature] = feature;
  std::vector<float> rows(values.size());
  std::vector<std::uint8_t> labels(kDocs);
  const auto begin = parsed.query_begin();
  if (begin.back() != kDocs || parsed.max_id() != kFeatures) return false;
  for (std::uint32_t query = 0; query + 1 < begin.size(); ++query) {
    parsed.fill(Query{query}, columns,
                {rows.data() + begin[query] * kFeatures, kFeatures, labels.data() + begin[query]});
  }
  return rows == values;
}

int run() {
  const Text made = make_text();
  const double megabytes = static_cast<double>(made.text.size()) / 1e6;
  bool all_right = true;
  const auto medians = bench::interleaved(
      kRounds, {[&] {
                  std::size_t lines = 0;
                  const double s = bench::seconds_of([&] { lines = count_lines(made.text); });
                  all_right = all_right && lines == kDocs;
                  return s;
                },
                [&] {
                  Result<std::unique_ptr<LetorText>> parsed = Error{};
                  const double s =
                      bench::seconds_of([&] { parsed = parse_letor(made.text, {.path = "text"}); });
                  all_right = all_right && parsed.ok() && right(**parsed, made.values);
                  return s;
                }});
  if (!all_right) {
    fmt::print(stderr, "letor_bench: wrong answer\n");
    return 1;
  }
  const double scan_s = medians[0];
  const double parse_s = medians[1];
  fmt::print("text             {:8.1f} MB, {} documents of {} features\n", megabytes, kDocs,
             kFeatures);
  fmt::print("memchr pass      {:8.0f} MB/s\n", megabytes / scan_s);
  fmt::print("LETOR reader     {:8.0f} MB/s a core, {:.1f} times the memchr pass\n",
             megabytes / parse_s, parse_s / scan_s);
  constexpr double kLeast = 150;
  if (megabytes / parse_s < kLeast) {
    fmt::print(stderr, "letor_bench: below {} MB/s\n", kLeast);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace plackett

int main() { return plackett::run(); }
