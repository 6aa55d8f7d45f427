// What evaluate writes of single queries: a table of their metrics, and the run and qrels files
// that trec_eval and its relatives read.
#pragma once

#include <memory>
#include <string>

#include "plackett/dataset.h"
#include "plackett/evaluate.h"
#include "plackett/result.h"

namespace plackett::command {

// Where to; empty: nowhere.
struct QueryFilePaths {
  std::string per_query;  // CSV
  std::string run;        // "query Q0 document rank score tag"
  std::string qrels;      // "query 0 document label"

  [[nodiscard]] bool any() const { return !per_query.empty() || !run.empty() || !qrels.empty(); }
};

// Files that appear when they are complete. A query or document without an id in the source is
// named after its fold and its place.
class QueryFiles {
 public:
  static Result<QueryFiles> create(const QueryFilePaths& paths);
  QueryFiles(QueryFiles&&) noexcept;
  ~QueryFiles();

  // Fails if a query was added before, or has two documents of the same id, which a run file can't
  // tell apart.
  Result<void> add(const Fold& fold, const Split& split, const QueryResult& result);
  Result<void> finish();

 private:
  struct Files;
  explicit QueryFiles(std::unique_ptr<Files> files);
  std::unique_ptr<Files> files_;
};

}  // namespace plackett::command
