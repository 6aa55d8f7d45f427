// Ranks where memory fails. A test binary of its own: it replaces operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "served.h"
#include "serving/model.h"

namespace {

// Allocations of this thread until one fails; below 0: none does.
thread_local int allocations_left = -1;

void* allocated(std::size_t size, std::size_t alignment) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocated(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocated(size, static_cast<std::size_t>(alignment));
}
// Not inlined: next to a call of operator new, free() would look like a mistake to the compiler.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  operator delete(memory);
}

namespace plackett::serving {
namespace {

TEST(NoMemory, LeavesNoNumberOnItsWay) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates docs(20, 5);
  std::uint64_t taken = 0;
  int failures = 0;
  for (bool ranked = false; !ranked; ++failures) {
    ASSERT_LT(failures, 10'000);
    served.new_scratch();
    const std::uint64_t before = model->next_number;
    try {
      allocations_left = failures;
      ranked = served.rank(model, docs.view()).ok();
    } catch (const std::bad_alloc&) {
      if (model->next_number > before) ++taken;
    }
    allocations_left = -1;
    ASSERT_EQ(model->in_flight.end_of_stored(model->next_number), model->next_number)
        << "after " << failures << " allocations";
  }
  EXPECT_GT(taken, 10U);
}

}  // namespace
}  // namespace plackett::serving
