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
  std::string path;  // comes first in errors
  std::uint32_t max_feature_id = 20'000;
  unsigned threads = 1;
  std::size_t chunk_bytes = std::size_t{4} << 20;  // text is cut into pieces of about this size
};

// A text's documents: queries in order of first appearance, each one's documents in order of
// appearance, even if its lines were apart. Costs 4 bytes per value (8 if ids have gaps) and about
// 48 per document; holds no reference to the text.
class LetorText final : public RawSplit {
 public:
  [[nodiscard]] std::span<const std::uint64_t> query_begin() const override { return query_begin_; }
  [[nodiscard]] std::uint32_t max_id() const override { return max_id_; }
  [[nodiscard]] std::vector<bool> varying(unsigned threads) const override;
  void fill(Query query, const ColumnMap& columns, const Target& target) const override;

  // The source's id of each query, in order.
  [[nodiscard]] std::span<const std::uint64_t> query_ids() const { return query_ids_; }

  // One piece's lines, parsed.
  struct Row {
    std::uint64_t query_id = 0;
    std::size_t first_value = 0;
    std::size_t first_id = 0;  // kNoGaps: the ids are 1, 2, ..., count
    std::uint32_t count = 0;
    std::uint8_t label = 0;
  };
  static constexpr std::size_t kNoGaps = ~std::size_t{0};
  struct Piece {
    std::vector<Row> rows;
    std::vector<float> values;
    std::vector<std::uint32_t> ids;  // of rows with gaps only
    std::uint32_t max_id = 0;
    std::size_t line_count = 0;
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
  // Calls visit(feature, value) for each value of a row; features count from 0.
  template <typename Visit>
  void each_value(const Place& place, Visit visit) const;

  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> query_begin_{0};
  std::vector<std::uint64_t> query_ids_;
  std::vector<Place> docs_;  // in query order
  std::uint32_t max_id_ = 0;
};

// Parses a whole text. The result and, on failure, the message (that of the first bad line) are
// the same for any number of threads and any chunk_bytes.
Result<std::unique_ptr<LetorText>> parse_letor(std::string_view text, const LetorOptions& options);

}  // namespace plackett
