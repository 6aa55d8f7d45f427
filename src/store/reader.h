// Reads a store. Sees what was committed when a call begins, while others write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/result.h"
#include "store/impression.h"
#include "store/rows.h"
#include "store/sqlite.h"

namespace plackett::store {

struct KeptImpression {
  std::int64_t id = 0;
  std::int64_t shown_at = 0;
  std::uint64_t version = 0;
  std::string given;  // the caller's own id; empty: none
  Impression impression;
};

// One thread at a time.
class Reader {
 public:
  static Result<Reader> open(const std::filesystem::path& path, const std::string& vfs = "");
  // Over a connection that others use too, from the same thread: sees what they have not yet
  // committed.
  static Result<Reader> over(std::shared_ptr<Database> database);

  Result<std::vector<ModelRow>> models();
  // Calls `each` with id and features of every stored item; stops at the first error.
  Result<void> items(
      std::int64_t model,
      const std::function<Result<void>(std::string_view, std::span<const std::byte>)>& each);

  // None where it is not there (any more), or damaged.
  Result<std::optional<KeptImpression>> impression(std::int64_t id, Rows rows = Rows::kRead);
  Result<std::optional<std::int64_t>> given_id(std::int64_t model, std::string_view given);
  Result<std::optional<ResponseRow>> response(std::int64_t impression);
  // The newest first; `clicked_only`: those with a click, as
  // far back as a few thousand with feedback.
  Result<std::vector<std::int64_t>> recent(std::int64_t model, std::uint32_t limit,
                                           bool clicked_only);
  // How many impressions of numbers in [from, to) are closed.
  Result<std::uint64_t> closed_within(std::int64_t model, std::uint64_t from, std::uint64_t to);
  // The first kept impression from this number on, and when it was shown; none: there is none.
  Result<std::optional<std::pair<std::uint64_t, std::int64_t>>> shown_from(std::int64_t model,
                                                                           std::uint64_t number);
  // Impressions with feedback and not closed, of numbers below `end`, in order; at most `limit`.
  Result<std::vector<std::int64_t>> waiting(std::int64_t model, std::uint64_t end,
                                            std::uint32_t limit);
  Result<bool> event_seen(std::int64_t model, std::string_view event_id);
  // One more than the highest number kept; 0 where there is none.
  Result<std::uint64_t> numbers_end(std::int64_t model);

  // Entries after `seq`, in order; at most `limit`.
  Result<std::vector<LogEntry>> log(std::int64_t model, std::int64_t after, std::uint32_t limit);
  Result<std::int64_t> last_log();  // over all models, also those that snapshots remember

  // The last entry about an impression of a number in [from, to); 0: there is none.
  Result<std::int64_t> last_log_of(std::int64_t model, std::uint64_t from, std::uint64_t to);
  // Where the oldest snapshot stands that knows this entry, the imported ones apart.
  Result<std::optional<std::int64_t>> base_snapshot(std::int64_t model, std::int64_t seq);
  // Models whose rows are still there without the model.
  Result<std::vector<std::int64_t>> removed_models();

  // Newest first, without files.
  Result<std::vector<SnapshotRow>> snapshots(std::int64_t model);
  Result<std::optional<SnapshotRow>> snapshot(std::int64_t id);
  // Whether the kept log goes back to it.
  Result<bool> is_rolled_back_to(std::int64_t snapshot);

  // Oldest first, in steps of `step_ms`, from `from` on.
  Result<std::vector<SeriesRow>> series(std::int64_t model, std::int64_t from,
                                        std::int64_t step_ms);
  // Over spans that start in [from, before); `at` is the first one's.
  Result<SeriesRow> series_total(std::int64_t model, std::int64_t from, std::int64_t before);

 private:
  Reader() = default;

  std::shared_ptr<Database> database_;
  Statement impression_;
  Statement given_;
  Statement response_;
  Statement event_;
  Statement shown_from_;
};

}  // namespace plackett::store
