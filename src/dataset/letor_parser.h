// LETOR / SVMLight text -> documents by query. The format is specified in
// docs/formats/letor.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/build_fold.h"
#include "plackett/result.h"

namespace plackett {

struct LetorOptions {
  std::string path = {};  // comes first in errors
  std::uint32_t max_feature_id = 20'000;
  OutOfRange out_of_range = OutOfRange::kRefuse;
  Unlabelled unlabelled = Unlabelled::kRefuse;
  unsigned threads = 1;
  std::size_t chunk_bytes = std::size_t{4} << 20;  // text is cut into pieces of about this size
};

// A text's documents: queries in order of first appearance, each one's documents in order of
// appearance, even if its lines were apart. Costs 4 bytes per value (8 if ids have gaps), 40 per
// document, and the documents' ids; holds no reference to the text.
class LetorText final : public RawSplit {
 public:
  [[nodiscard]] std::span<const std::uint64_t> query_begin() const override { return query_begin_; }
  [[nodiscard]] std::uint32_t max_id() const override { return max_id_; }
  [[nodiscard]] std::vector<bool> varying(unsigned threads) const override;
  void fill(Query query, const ColumnMap& columns, const Target& target) const override;

  [[nodiscard]] std::span<const std::uint64_t> query_ids() const override { return query_ids_; }
  [[nodiscard]] bool has_doc_ids() const override { return has_doc_ids_; }
  [[nodiscard]] std::string_view doc_id(std::uint64_t doc) const override;

  // The values of one feature that a float can't hold.
  struct OutOfRangeCount {
    std::uint64_t count = 0;
    std::size_t first_line = 0;  // from 1
  };
  // By feature; features without such values may be missing at the end.
  [[nodiscard]] std::span<const OutOfRangeCount> out_of_range() const { return out_of_range_; }
  // Documents without a label that were left out, and queries that had no others.
  [[nodiscard]] std::uint64_t unlabelled_documents() const { return unlabelled_documents_; }
  [[nodiscard]] std::uint64_t unlabelled_queries() const { return unlabelled_queries_; }

  // One piece's lines, parsed.
  struct Row {
    std::size_t first_value = 0;
    std::size_t first_id = 0;    // kNoGaps: the ids are 1, 2, ..., count
    std::size_t doc_id_end = 0;  // of its id in Piece::doc_ids; the row before says where it begins
    std::uint32_t count = 0;
    std::uint8_t label = 0;
  };
  static constexpr std::size_t kNoGaps = ~std::size_t{0};
  // Rows of one query that follow each other, up to the next run.
  struct Run {
    std::uint64_t query_id = 0;
    std::uint32_t first_row = 0;
    std::uint32_t query = 0;  // its number, once queries are joined
  };
  struct Piece {
    std::vector<Row> rows;
    std::vector<Run> runs;
    std::vector<float> values;
    std::vector<std::uint32_t> ids;  // of rows with gaps only
    std::vector<char> doc_ids;       // those that comments give, one after another
    std::uint32_t max_id = 0;
    std::size_t line_count = 0;
    std::vector<OutOfRangeCount> out_of_range;
    std::uint64_t unlabelled_documents = 0;
    std::vector<std::uint64_t> unlabelled_query_ids;  // may repeat
    std::string error;  // "value; rule", on line `line_count` of this piece; empty if there is none
  };

 private:
  friend Result<std::unique_ptr<LetorText>> parse_letor(std::string_view text,
                                                        const LetorOptions& options);
  struct Place {
    std::uint32_t piece;
    std::uint32_t row;
  };
  void join_queries();
  void count_changes();
  // Calls visit(feature, value) for each value of a row; features count from 0.
  template <typename Visit>
  void each_value(const Place& place, Visit visit) const;

  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> query_begin_{0};
  std::vector<std::uint64_t> query_ids_;
  std::vector<Place> docs_;  // in query order
  std::uint32_t max_id_ = 0;
  bool has_doc_ids_ = false;
  std::vector<OutOfRangeCount> out_of_range_;
  std::uint64_t unlabelled_documents_ = 0;
  std::uint64_t unlabelled_queries_ = 0;
};

// Parses a whole text. The result and, on failure, the message (that of the first bad line) are
// the same for any number of threads and any chunk_bytes.
Result<std::unique_ptr<LetorText>> parse_letor(std::string_view text, const LetorOptions& options);

}  // namespace plackett
