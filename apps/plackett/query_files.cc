#include "query_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/file.h"
#include "report/text.h"

namespace plackett::command {
namespace {

constexpr std::string_view kTag = "plackett";  // the run's name in a run file

// A query's id, or "Fold1-17": the 17th of Fold1. Without blanks.
std::string query_name(const Fold& fold, const Split& split, Query query) {
  if (const auto id = split.query_id(query)) return fmt::format("{}", *id);
  std::string name = fmt::format("{}-{}", fold.name, index(query) + 1);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char byte) { return byte <= ' '; }, '_');
  return name;
}

// A document's id, or "10032-3": the third of query 10032.
std::string doc_name(const Split& split, Query query, Doc doc, const std::string& query_name) {
  const std::string_view id = split.doc_id(query, doc);
  return id.empty() ? fmt::format("{}-{}", query_name, index(doc) + 1) : std::string(id);
}

// Scores for a ranking that fall strictly, as floats: readers order documents by them alone. Those
// that fall already stay as they are.
std::vector<float> falling_scores(const QueryResult& result) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> falling;
  float last = kInfinity;
  for (const Doc doc : result.ranking) {
    last = std::min(result.scores[index(doc)], std::nextafter(last, -kInfinity));
    falling.push_back(last);
  }
  if (std::isfinite(last)) return falling;
  for (std::size_t rank = 0; rank < falling.size(); ++rank) {
    falling[rank] = -static_cast<float>(rank);  // too many ties at the lowest float
  }
  return falling;
}

}  // namespace

struct QueryFiles::Files {
  std::optional<AtomicFile> per_query, run, qrels;
  std::unordered_map<std::string, std::string> fold_of;  // of each query, by its name
};

QueryFiles::QueryFiles(std::unique_ptr<Files> files) : files_(std::move(files)) {}
QueryFiles::QueryFiles(QueryFiles&&) noexcept = default;
QueryFiles::~QueryFiles() = default;

Result<QueryFiles> QueryFiles::create(const QueryFilePaths& paths) {
  auto files = std::make_unique<Files>();
  for (const auto& [path, file] :
       {std::pair{&paths.per_query, &files->per_query}, std::pair{&paths.run, &files->run},
        std::pair{&paths.qrels, &files->qrels}}) {
    if (path->empty()) continue;
    auto created = AtomicFile::create(*path);
    if (!created) return created.error();
    file->emplace(std::move(*created));
  }
  if (files->per_query) {
    auto header = files->per_query->append(
        fmt::format("fold,query,documents,relevant,{}\n", fmt::join(metric_names(), ",")));
    if (!header) return header.error();
  }
  return QueryFiles(std::move(files));
}

Result<void> QueryFiles::add(const Fold& fold, const Split& split, const QueryResult& result) {
  const std::string query = query_name(fold, split, result.query);
  if (files_->per_query) {
    std::string line =
        fmt::format("{},{},{},{}", report::csv_field(fold.name), report::csv_field(query),
                    result.ranking.size(), result.relevant);
    for (std::size_t at = 0; at < kMetricCount; ++at) {
      line += result.metrics ? fmt::format(",{}", result.metrics->values()[at]) : ",";
    }
    if (auto done = files_->per_query->append(line + "\n"); !done) return done;
  }
  if (!files_->run && !files_->qrels) return {};

  const auto [known, first] = files_->fold_of.try_emplace(query, fold.name);
  if (!first) {
    return Error{
        fmt::format("query {} is in {} and in {}; run and qrels files hold a query once; --fold "
                    "chooses a fold",
                    query, known->second, fold.name)};
  }
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (std::uint32_t doc = 0; doc < result.ranking.size(); ++doc) {
    names.push_back(doc_name(split, result.query, Doc{doc}, query));
  }
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    return Error{
        fmt::format("{}: query {} has two documents with the id {}; run and qrels files "
                    "tell documents apart by their id",
                    fold.name, query, name)};
  }
  std::string run;
  const std::vector<float> scores = falling_scores(result);
  for (std::size_t rank = 0; rank < scores.size(); ++rank) {
    run += fmt::format("{} Q0 {} {} {} {}\n", query, names[index(result.ranking[rank])], rank + 1,
                       scores[rank], kTag);
  }
  std::string qrels;
  for (std::uint32_t doc = 0; doc < names.size(); ++doc) {
    qrels += fmt::format("{} 0 {} {}\n", query, names[doc],
                         split.judgments(result.query).label(Doc{doc}));
  }
  for (const auto& [file, text] :
       {std::pair{&files_->run, &run}, std::pair{&files_->qrels, &qrels}}) {
    if (!*file) continue;
    if (auto done = (*file)->append(*text); !done) return done;
  }
  return {};
}

Result<void> QueryFiles::finish() {
  for (std::optional<AtomicFile>* file : {&files_->per_query, &files_->run, &files_->qrels}) {
    if (!*file) continue;
    if (auto done = (*file)->finish(); !done) return done;
  }
  return {};
}

}  // namespace plackett::command
