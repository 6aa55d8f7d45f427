// Writes a store: transactions of many changes, of which all or none are there after a failure.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plackett/result.h"
#include "store/log_marks.h"
#include "store/reader.h"
#include "store/rows.h"
#include "store/sqlite.h"

namespace plackett::store {

// The only writer of its file: others may read it, and move its log as log_marks() lets them. One
// thread at a time, but for sync().
//
// A commit survives the death of the process; one that sync() came after survives the loss of
// power. Changes may be made only between begin() and commit() or roll_back(). After a failed
// change, roll_back().
class Writer {
 public:
  // Makes the file where there is none. Fails where it is none of ours.
  static Result<std::unique_ptr<Writer>> open(const std::filesystem::path& path,
                                              const std::string& vfs = "");
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  Result<void> begin();
  Result<void> commit();
  void roll_back();

  // Brings all commits that ended before the call to the disk. From any thread. Once it has failed
  // it fails until the next begin() has made good what was left in doubt.
  Result<void> sync();

  // Moves the log of writes into the file, as far as readers let it; `empty` also cuts it to
  // nothing. Syncs both.
  Result<void> checkpoint(bool empty = false);
  // A sync has failed and what it was about has not been written again: nothing may be moved.
  [[nodiscard]] bool in_doubt() const { return sync_failed_; }
  // Of the log; for whoever else moves it.
  [[nodiscard]] LogMarks& log_marks() { return log_marks_; }

  // Sees the changes of the present transaction.
  [[nodiscard]] Reader& read() { return *reader_; }

  // From now on nothing of the log is moved: the next start does that. For where the file that it
  // is moved into could not be synced.
  void keep_log() { keep_log_ = true; }
  // Writes something that changes nothing: fails where nothing can be written.
  Result<void> probe();

  Result<std::int64_t> insert_model(const ModelRow& model);
  // The row alone; what belongs to it goes with drop_rows().
  Result<void> delete_model(std::int64_t id);
  Result<void> set_model_marks(const ModelRow& model);  // next_number, expired, dropped_log

  Result<void> put_item(std::int64_t model, std::string_view id,
                        std::span<const std::byte> features);
  Result<bool> delete_item(std::int64_t model, std::string_view id);

  struct NewImpression {
    ImpressionKey key;
    std::int64_t shown_at = 0;
    std::uint64_t version = 0;
    std::string_view given;  // empty: none
    std::span<const std::byte> data;
  };
  Result<void> keep(const NewImpression& impression);
  Result<void> set_response(std::int64_t impression, const ResponseRow& response);
  struct NewEvent {
    std::int64_t impression = 0;
    std::optional<std::uint32_t> rank;
    EventKind kind = EventKind::kClick;
    std::int64_t at = 0;
    std::string_view event_id;  // empty: none
  };
  Result<void> add_event(const NewEvent& event);

  // The entry with its place in the log.
  Result<LogEntry> append_log(LogEntry entry, std::int64_t at);

  Result<std::int64_t> insert_snapshot(const SnapshotRow& snapshot);
  Result<void> delete_snapshot(std::int64_t id);

  Result<void> add_to_series(std::int64_t model, const SeriesRow& sums);
  // Sums of spans that start before `before` into spans of `step_ms`.
  Result<void> coarsen_series(std::int64_t model, std::int64_t before, std::int64_t step_ms);

  // Drops the impressions of numbers below `end`, and all that was said of them.
  Result<void> drop_impressions(std::int64_t model, std::uint64_t end);
  // At most `limit` entries; true where none is left to drop.
  Result<bool> drop_log(std::int64_t model, std::int64_t up_to, std::uint32_t limit);
  // Everything of a model but its row, a part a call; true where nothing is left.
  Result<bool> drop_rows(std::int64_t model, std::uint32_t limit);
  // Where a fifth of the file is unused, gives pages back to the file system, at most this many.
  Result<void> shrink(std::uint32_t pages);

  // Bytes of the file, without the pages that are free.
  Result<std::uint64_t> used_bytes();

 private:
  Writer() = default;
  // Writes the log of writes over itself, and syncs it.
  // Requires: no other can cut the log meanwhile, as within a transaction.
  Result<void> write_log_again();
  Result<bool> drop(const std::string& sql, std::int64_t model, std::int64_t bound,
                    std::uint32_t limit);

  std::shared_ptr<Database> database_;
  std::optional<Reader> reader_;
  sqlite3_file* wal_ = nullptr;
  std::mutex sync_mutex_;  // held while the log is synced
  std::atomic<bool> sync_failed_{false};
  bool keep_log_ = false;
  LogMarks log_marks_;
  std::int64_t next_log_ = 1;
  std::int64_t next_log_at_begin_ = 1;

  Statement begin_;
  Statement commit_;
  Statement keep_;
  Statement give_id_;
  Statement response_;
  Statement event_;
  Statement log_;
  Statement series_;
  Statement item_;
};

}  // namespace plackett::store
