#include "fault_vfs.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include "plackett/rng.h"

namespace plackett::testing {
namespace {

constexpr std::size_t kSector = 512;

}  // namespace

// As SQLite allocates it: this, followed by the real file.
struct FaultVfs::File {
  sqlite3_file base;
  FaultVfs* vfs;
  Disk* disk;  // null: not part of the store

  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

// What SQLite calls.
struct FaultVfs::Methods {
  static FaultVfs& self(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* out, int flags, int* given);
  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder);

  static int close(sqlite3_file* file) {
    return File::of(file).real()->pMethods->xClose(File::of(file).real());
  }
  static int read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 at) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xRead(real, bytes, size, at);
  }
  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
    File& mine = File::of(file);
    if (mine.disk == nullptr) return mine.real()->pMethods->xWrite(mine.real(), bytes, size, at);
    return mine.vfs->write(mine, bytes, size, at);
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    File& mine = File::of(file);
    if (mine.disk == nullptr) return mine.real()->pMethods->xTruncate(mine.real(), size);
    return mine.vfs->truncate(mine, size);
  }
  static int sync(sqlite3_file* file, int /*flags*/) {
    File& mine = File::of(file);
    return mine.disk == nullptr ? SQLITE_OK : mine.vfs->sync(mine);
  }
  static int size(sqlite3_file* file, sqlite3_int64* size) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xFileSize(real, size);
  }
  static int lock(sqlite3_file* file, int level) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xLock(real, level);
  }
  static int unlock(sqlite3_file* file, int level) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xUnlock(real, level);
  }
  static int check_lock(sqlite3_file* file, int* held) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xCheckReservedLock(real, held);
  }
  static int control(sqlite3_file* file, int code, void* argument) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xFileControl(real, code, argument);
  }
  static int sector_size(sqlite3_file* file) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xSectorSize(real);
  }
  static int characteristics(sqlite3_file* file) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xDeviceCharacteristics(real);
  }
  static int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xShmMap(real, region, size, extend, out);
  }
  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xShmLock(real, offset, count, flags);
  }
  static void shm_barrier(sqlite3_file* file) {
    sqlite3_file* real = File::of(file).real();
    real->pMethods->xShmBarrier(real);
  }
  static int shm_unmap(sqlite3_file* file, int drop) {
    sqlite3_file* real = File::of(file).real();
    return real->pMethods->xShmUnmap(real, drop);
  }

  static const sqlite3_io_methods* of_files() {
    static const sqlite3_io_methods methods = [] {
      sqlite3_io_methods made{};
      made.iVersion = 2;  // with shared memory
      made.xClose = close;
      made.xRead = read;
      made.xWrite = write;
      made.xTruncate = truncate;
      made.xSync = sync;
      made.xFileSize = size;
      made.xLock = lock;
      made.xUnlock = unlock;
      made.xCheckReservedLock = check_lock;
      made.xFileControl = control;
      made.xSectorSize = sector_size;
      made.xDeviceCharacteristics = characteristics;
      made.xShmMap = shm_map;
      made.xShmLock = shm_lock;
      made.xShmBarrier = shm_barrier;
      made.xShmUnmap = shm_unmap;
      return made;
    }();
    return &methods;
  }
};

int FaultVfs::Methods::open(sqlite3_vfs* vfs, const char* path, sqlite3_file* out, int flags,
                            int* given) {
  FaultVfs& all = self(vfs);
  File& file = *new (out) File{{nullptr}, &all, nullptr};
  const int code = all.real_->xOpen(all.real_, path, file.real(), flags, given);
  if (code != SQLITE_OK) return code;
  file.base.pMethods = of_files();
  constexpr int kOfTheStore = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  if (path == nullptr || (flags & kOfTheStore) == 0) return SQLITE_OK;
  const std::lock_guard lock(all.mutex_);
  std::shared_ptr<Disk>& disk = all.disks_[path];
  if (disk == nullptr) {
    // An existing file counts as synced.
    disk = std::make_shared<Disk>();
    sqlite3_int64 size = 0;
    file.real()->pMethods->xFileSize(file.real(), &size);
    disk->synced.resize(static_cast<std::size_t>(size));
    file.real()->pMethods->xRead(file.real(), disk->synced.data(), static_cast<int>(size), 0);
  }
  file.disk = disk.get();
  return SQLITE_OK;
}

int FaultVfs::Methods::remove(sqlite3_vfs* vfs, const char* path, int /*sync_folder*/) {
  FaultVfs& all = self(vfs);
  const std::lock_guard lock(all.mutex_);
  const int code = all.real_->xDelete(all.real_, path, 0);
  const auto found = all.disks_.find(path);
  if (code == SQLITE_OK && found != all.disks_.end()) {
    all.deleted_.push_back(std::move(found->second));
    all.disks_.erase(found);
  }
  return code;
}

FaultVfs::FaultVfs() : real_(sqlite3_vfs_find(nullptr)) {
  static std::atomic<int> made{0};
  name_ = "plackett-fault-" + std::to_string(++made);
  vfs_.iVersion = 2;
  vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
  vfs_.mxPathname = real_->mxPathname;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = Methods::open;
  vfs_.xDelete = Methods::remove;
  vfs_.xAccess = [](sqlite3_vfs* vfs, const char* path, int flags, int* out) {
    sqlite3_vfs* real = Methods::self(vfs).real_;
    return real->xAccess(real, path, flags, out);
  };
  vfs_.xFullPathname = [](sqlite3_vfs* vfs, const char* path, int size, char* out) {
    sqlite3_vfs* real = Methods::self(vfs).real_;
    return real->xFullPathname(real, path, size, out);
  };
  vfs_.xRandomness = [](sqlite3_vfs* vfs, int size, char* out) {
    sqlite3_vfs* real = Methods::self(vfs).real_;
    return real->xRandomness(real, size, out);
  };
  vfs_.xSleep = [](sqlite3_vfs* vfs, int microseconds) {
    sqlite3_vfs* real = Methods::self(vfs).real_;
    return real->xSleep(real, microseconds);
  };
  vfs_.xCurrentTime = [](sqlite3_vfs* vfs, double* out) {
    sqlite3_vfs* real = Methods::self(vfs).real_;
    return real->xCurrentTime(real, out);
  };
  vfs_.xGetLastError = [](sqlite3_vfs* vfs, int size, char* out) {
    sqlite3_vfs* real = Methods::self(vfs).real_;
    return real->xGetLastError(real, size, out);
  };
  vfs_.xCurrentTimeInt64 = [](sqlite3_vfs* vfs, sqlite3_int64* out) {
    sqlite3_vfs* real = Methods::self(vfs).real_;
    return real->xCurrentTimeInt64(real, out);
  };
  sqlite3_vfs_register(&vfs_, 0);
}

FaultVfs::~FaultVfs() { sqlite3_vfs_unregister(&vfs_); }

void FaultVfs::lose_power_after(std::uint64_t operations) {
  const std::lock_guard lock(mutex_);
  operations_left_ = operations;
}

void FaultVfs::lose_power() {
  const std::lock_guard lock(mutex_);
  remember();
}

void FaultVfs::set_room(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  room_ = bytes;
}

void FaultVfs::fail_syncs(std::uint64_t count, std::optional<std::uint64_t> then_lose_power_after) {
  const std::lock_guard lock(mutex_);
  syncs_to_fail_ = count;
  operations_after_failure_ = then_lose_power_after;
}

void FaultVfs::count_operation() {
  ++operations_;
  if (operations_left_ && (*operations_left_)-- == 0) {
    operations_left_.reset();
    remember();
  }
}

void FaultVfs::remember() {
  if (lost_) return;
  for (const auto& [path, disk] : disks_) {
    remembered_.emplace(std::filesystem::path(path).filename().string(), *disk);
  }
  lost_ = true;
}

int FaultVfs::write(File& file, const void* bytes, int size, std::int64_t at) {
  const std::lock_guard lock(mutex_);
  count_operation();
  sqlite3_file* real = file.real();
  int fits = size;
  if (room_) {
    sqlite3_int64 end = 0;
    real->pMethods->xFileSize(real, &end);
    const std::int64_t grows = std::max<std::int64_t>(0, at + size - end);
    const std::int64_t lacks = std::max<std::int64_t>(0, grows - static_cast<std::int64_t>(*room_));
    *room_ -= static_cast<std::uint64_t>(grows - lacks);
    fits = static_cast<int>(std::max<std::int64_t>(0, size - lacks));
  }
  if (fits > 0) {
    if (const int code = real->pMethods->xWrite(real, bytes, fits, at); code != SQLITE_OK) {
      return code;
    }
    const auto* from = static_cast<const std::byte*>(bytes);
    file.disk->changes.push_back({static_cast<std::uint64_t>(at), {from, from + fits}});
  }
  if (fits == size) return SQLITE_OK;
  ++refused_writes_;
  return SQLITE_FULL;
}

int FaultVfs::truncate(File& file, std::int64_t size) {
  const std::lock_guard lock(mutex_);
  count_operation();
  const int code = file.real()->pMethods->xTruncate(file.real(), size);
  if (code == SQLITE_OK) file.disk->changes.push_back({static_cast<std::uint64_t>(size), {}});
  return code;
}

int FaultVfs::sync(File& file) {
  const std::lock_guard lock(mutex_);
  count_operation();
  if (lies_) return SQLITE_OK;
  if (syncs_to_fail_ > 0) {
    --syncs_to_fail_;
    ++failed_syncs_;
    if (operations_after_failure_) {
      operations_left_ = std::exchange(operations_after_failure_, std::nullopt);
    }
    for (Change& change : file.disk->changes) change.given_up = true;
    return SQLITE_IOERR_FSYNC;
  }
  for (const Change& change : file.disk->changes) {
    if (!change.given_up) apply(change, file.disk->synced);
  }
  file.disk->changes.clear();
  return SQLITE_OK;
}

void FaultVfs::apply(const Change& change, std::vector<std::byte>& content) {
  if (change.bytes.empty()) {
    content.resize(change.at);
    return;
  }
  const std::size_t end = change.at + change.bytes.size();
  if (content.size() < end) content.resize(end);
  std::copy(change.bytes.begin(), change.bytes.end(),
            content.begin() + static_cast<std::ptrdiff_t>(change.at));
}

std::vector<std::byte> FaultVfs::content_after(const Disk& disk, Holds holds, std::uint64_t seed) {
  std::vector<std::byte> content = disk.synced;
  if (holds == Holds::kSynced) return content;
  if (holds == Holds::kWritten) {
    for (const Change& change : disk.changes) apply(change, content);
    return content;
  }
  Rng rng({seed, 0, 0, Purpose::kTest});
  const auto keep_part = [&content](const Change& change, std::size_t from, std::size_t to) {
    if (from >= to) return;
    apply({change.at + from,
           {change.bytes.begin() + static_cast<std::ptrdiff_t>(from),
            change.bytes.begin() + static_cast<std::ptrdiff_t>(to)}},
          content);
  };
  // Half of the images hold the first changes and nothing after them; the others, scattered
  // sectors.
  const bool in_order = rng.below(2) == 0;
  const std::size_t last =
      in_order ? rng.below(static_cast<std::uint32_t>(disk.changes.size()) + 1) : 0;
  const double share = 0.1 + 0.4 * rng.below(3);
  for (std::size_t at = 0; at < disk.changes.size(); ++at) {
    const Change& change = disk.changes[at];
    if (in_order) {
      if (at < last) apply(change, content);
      if (at == last && !change.bytes.empty()) {
        keep_part(change, 0, rng.below(static_cast<std::uint32_t>(change.bytes.size()) + 1));
      }
      continue;
    }
    if (change.bytes.empty()) {
      if (rng.uniform() < share) apply(change, content);
      continue;
    }
    std::size_t from = 0;
    while (from < change.bytes.size()) {
      const std::size_t whole = kSector - (change.at + from) % kSector;
      const std::size_t to = std::min(change.bytes.size(), from + whole);
      if (rng.uniform() < share) {
        const bool torn = rng.below(20) == 0;
        keep_part(change, from,
                  torn ? from + rng.below(static_cast<std::uint32_t>(to - from)) : to);
      }
      from = to;
    }
  }
  return content;
}

void FaultVfs::write_image(const std::filesystem::path& folder, Holds holds,
                           std::uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t number = 0;
  for (const auto& [name, disk] : remembered_) {
    const std::vector<std::byte> content = content_after(disk, holds, seed * 8 + ++number);
    std::ofstream(folder / name, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  }
}

}  // namespace plackett::testing
