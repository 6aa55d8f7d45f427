// Preloaded into a server: its system clock is off by what the file $PLACKETT_TEST_CLOCK holds, a
// 64-bit number of seconds that the test changes while the server runs.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

const volatile std::int64_t* offset() {
  static const volatile std::int64_t* const mapped = []() -> const volatile std::int64_t* {
    const char* path = std::getenv("PLACKETT_TEST_CLOCK");
    const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* address = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return address == MAP_FAILED ? nullptr : static_cast<const std::int64_t*>(address);
  }
  ();
  return mapped;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME && result == 0 && offset() != nullptr) time->tv_sec += *offset();
  return result;
}
