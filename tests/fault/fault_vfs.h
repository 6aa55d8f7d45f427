// SQLite's file layer with a disk behind it that can lose power, fill up and fail to sync.
//
// Files lie where they always do; beside them it remembers, of every file, what the disk surely
// holds (all that was written before the last sync) and what is on its way (writes and
// truncations since). That gives the contents that a disk may have after the power went.
//
// Left out: creating and deleting a file count as durable at once (the folder is not modelled),
// and the shared memory beside the store is gone after a loss of power, as it is in truth.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace plackett::testing {

// Registered with SQLite under name() while it lives. All calls from any thread.
// Requires: no connection uses it when it goes.
class FaultVfs {
 public:
  FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;
  ~FaultVfs();

  [[nodiscard]] const std::string& name() const { return name_; }

  // The power goes before the operation (write, truncation or sync) that comes after this many
  // more. What the files held then is remembered for images; the files themselves go on, so that
  // the one that uses them can end in peace.
  void lose_power_after(std::uint64_t operations);
  void lose_power();
  [[nodiscard]] bool power_lost() const { return lost_; }

  enum class Holds : std::uint8_t {
    kSynced,   // what was synced and nothing else
    kSome,     // and some sectors of the rest, torn ones among them, drawn from the seed
    kWritten,  // all that was written: the process died, the machine did not
  };
  // Writes what a disk may hold after the loss into a folder.
  // Requires: power_lost().
  void write_image(const std::filesystem::path& folder, Holds holds, std::uint64_t seed = 0) const;

  // Files may grow by this many bytes more, then writes fail for want of room, after the part that
  // fits; nothing: without end.
  void set_room(std::optional<std::uint64_t> bytes);
  // The next syncs fail, and what they were for never gets to the disk unless it is written again:
  // so Linux does it. The power may go too, so many operations after the first failure.
  void fail_syncs(std::uint64_t count, std::optional<std::uint64_t> then_lose_power_after = {});
  // Syncs say that they went well and do nothing.
  void lie_about_syncs(bool on) { lies_ = on; }

  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  [[nodiscard]] std::uint64_t refused_writes() const { return refused_writes_; }
  [[nodiscard]] std::uint64_t failed_syncs() const { return failed_syncs_; }

 private:
  struct Change {
    std::uint64_t at = 0;          // a truncation's size, a write's offset
    std::vector<std::byte> bytes;  // empty: a truncation
    bool given_up = false;         // a sync of it failed
  };
  struct Disk {
    std::vector<std::byte> synced;
    std::vector<Change> changes;  // since
  };
  struct File;
  struct Methods;
  static void apply(const Change& change, std::vector<std::byte>& content);
  static std::vector<std::byte> content_after(const Disk& disk, Holds holds, std::uint64_t seed);

  // With the lock held.
  void count_operation();
  void remember();
  int write(File& file, const void* bytes, int size, std::int64_t at);
  int truncate(File& file, std::int64_t size);
  int sync(File& file);

  std::string name_;
  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Disk>> disks_;  // by path
  std::vector<std::shared_ptr<Disk>> deleted_;          // someone may still hold them open
  std::map<std::string, Disk> remembered_;              // by file name
  std::optional<std::uint64_t> operations_left_;
  std::optional<std::uint64_t> room_;
  std::uint64_t syncs_to_fail_ = 0;
  std::optional<std::uint64_t> operations_after_failure_;
  std::atomic<bool> lost_{false};
  std::atomic<bool> lies_{false};
  std::atomic<std::uint64_t> operations_{0};
  std::atomic<std::uint64_t> refused_writes_{0};
  std::atomic<std::uint64_t> failed_syncs_{0};
};

}  // namespace plackett::testing
