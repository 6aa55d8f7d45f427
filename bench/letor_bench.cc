// How fast one thread reads LETOR text, in MB/s and relative to the limit of any reader of lines:
// one memchr pass for '\n' over the same bytes in the same run.
//
//   letor_bench [--quick]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/letor_parser.h"
#include "measure.h"
#include "plackett/rng.h"

namespace plackett::bench {
namespace {

constexpr std::uint32_t kFeatures = 46;
constexpr std::uint32_t kDocsPerQuery = 20;

struct Sample {
  std::string text;
  std::uint64_t docs = 0;
  double value_sum = 0;  // of the values as written, six decimals
  std::uint64_t label_sum = 0;
};

// Lines as in MQ2008: six decimals, a good third of the values 0, and the comment.
Sample make_sample(std::size_t bytes) {
  Sample sample;
  sample.text.reserve(bytes + 2000);
  Rng rng({.seed = 1});
  while (sample.text.size() < bytes) {
    const std::uint32_t label = rng.below(3);
    auto out = std::back_inserter(sample.text);
    fmt::format_to(out, "{} qid:{}", label, 10'000 + sample.docs / kDocsPerQuery);
    for (std::uint32_t id = 1; id <= kFeatures; ++id) {
      const std::uint32_t millionths = rng.below(3) == 0 ? 0 : rng.below(1'000'001);
      fmt::format_to(out, " {}:{}.{:06}", id, millionths / 1'000'000, millionths % 1'000'000);
      sample.value_sum += millionths / 1e6;
    }
    fmt::format_to(out, " #docid = GX{:03}-{:02}-{:07} inc = 0.{:016} prob = 0.{:06}\n",
                   rng.below(1000), rng.below(100), rng.below(10'000'000), rng.next_u32(),
                   rng.below(1'000'000));
    sample.label_sum += label;
    ++sample.docs;
  }
  return sample;
}

void require(bool condition, std::string_view what) {
  if (condition) return;
  fmt::print(stderr, "wrong answer: {}\n", what);
  std::exit(1);
}

// Sums everything that was parsed against what was written.
void check(const LetorText& parsed, const Sample& sample) {
  ColumnMap columns(kFeatures);
  for (std::uint32_t column = 0; column < kFeatures; ++column) columns[column] = column;
  double value_sum = 0;
  std::uint64_t label_sum = 0;
  const auto begin = parsed.query_begin();
  require(begin.back() == sample.docs, "documents");
  require(begin.size() - 1 == (sample.docs + kDocsPerQuery - 1) / kDocsPerQuery, "queries");
  std::vector<float> rows;
  std::vector<std::uint8_t> labels;
  for (std::uint32_t query = 0; query + 1 < begin.size(); ++query) {
    const std::uint64_t docs = begin[query + 1] - begin[query];
    rows.assign(docs * kFeatures, 0.0F);
    labels.resize(docs);
    parsed.fill(Query{query}, columns, {rows.data(), kFeatures, labels.data()});
    for (const float value : rows) value_sum += double{value};
    for (const std::uint8_t label : labels) label_sum += label;
  }
  require(label_sum == sample.label_sum, "labels");
  require(std::abs(value_sum / sample.value_sum - 1) < 1e-9, "values");
}

// Bytes a second of counting line ends.
double memchr_rate(const Sample& sample) {
  std::uint64_t lines = 0;
  const double seconds = seconds_of([&] {
    const char* p = sample.text.data();
    const char* const end = p + sample.text.size();
    while (p != end) {
      const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
      if (newline == nullptr) break;
      p = static_cast<const char*>(newline) + 1;
      ++lines;
    }
  });
  require(lines == sample.docs, "lines of the memchr pass");
  return static_cast<double>(sample.text.size()) / seconds;
}

double parse_rate(const Sample& sample) {
  LetorOptions options;
  options.path = "sample";
  std::unique_ptr<LetorText> parsed;
  const double seconds = seconds_of([&] { parsed = parse_letor(sample.text, options).value(); });
  check(*parsed, sample);
  return static_cast<double>(sample.text.size()) / seconds;
}

int run(bool quick) {
  const Sample sample = make_sample(quick ? 2'000'000 : 64'000'000);
  const auto rates = interleaved(
      quick ? 3 : 11, {[&] { return memchr_rate(sample); }, [&] { return parse_rate(sample); }});
  fmt::print("{} documents, {} features, {:.1f} MB, one thread\n", sample.docs, kFeatures,
             static_cast<double>(sample.text.size()) / 1e6);
  fmt::print("memchr for line ends  {:>8.0f} MB/s\n", rates[0] / 1e6);
  fmt::print(
      "parse                 {:>8.0f} MB/s   {:.1f} % of memchr, {:.0f} ns a document\n",
      rates[1] / 1e6, 100 * rates[1] / rates[0],
      1e9 * static_cast<double>(sample.text.size()) / rates[1] / static_cast<double>(sample.docs));
  return 0;
}

}  // namespace
}  // namespace plackett::bench

int main(int argc, char** argv) {
  return plackett::bench::run(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
}
