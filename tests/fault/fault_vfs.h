// A SQLite VFS over a simulated disk that can lose power, fill up and fail to sync.
//
// Files are in their usual place. For every file it also tracks what the disk surely holds (all
// that was written before the last sync) and what is pending (writes and truncations since). That
// gives the contents that a disk may have after a power loss.
//
// Not modelled: the folder (creating and deleting a file count as durable at once). The shared
// memory beside the store is gone after a power loss, as on a real machine.
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

// Registered with SQLite under name() during its lifetime. Any thread may call it.
// Requires: no connection uses it when it is destroyed.
class FaultVfs {
 public:
  FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;
  ~FaultVfs();

  [[nodiscard]] const std::string& name() const { return name_; }

  // Power is lost after this many more operations (writes, truncations or syncs). The files' state
  // at that point is kept for images; the files themselves keep working, so that their user can
  // shut down.
  void lose_power_after(std::uint64_t operations);
  void lose_power();
  [[nodiscard]] bool power_lost() const { return lost_; }

  enum class Holds : std::uint8_t {
    kSynced,   // only what was synced
    kSome,     // also some sectors of the rest, some torn, drawn from the seed
    kWritten,  // all that was written: the process died, the machine did not
  };
  // Writes what a disk may hold after the power loss into a folder.
  // Requires: power_lost().
  void write_image(const std::filesystem::path& folder, Holds holds, std::uint64_t seed = 0) const;

  // Files may grow by this many more bytes; then writes fail with a full disk, after the part that
  // fits. nullopt: no limit.
  void set_room(std::optional<std::uint64_t> bytes);
  // The next syncs fail, and their data never reaches the disk unless it is written again, as on
  // Linux. Power may be lost too, so many operations after the first failure.
  void fail_syncs(std::uint64_t count, std::optional<std::uint64_t> then_lose_power_after = {});
  // Syncs report success and do nothing.
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
