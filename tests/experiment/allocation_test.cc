// Counts every allocation of a run. A test binary of its own: it replaces operator new.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/method.h"
#include "plackett/method_entry.h"
#include "plackett/simulation.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
// Not inlined: next to a call of operator new, free() would look like a mistake to the compiler.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  operator delete(memory);
}

namespace plackett {
namespace {

constexpr std::string_view kKeepsPairs = "pairrank";

std::uint64_t allocations_of_a_run(const Dataset& dataset, std::string_view method,
                                   std::uint64_t impressions) {
  SimulationSpec spec;
  apply(parse_method_entry(method).value(), spec);
  spec.click_model = "informational";
  spec.impressions = impressions;
  const Simulation simulation = Simulation::prepare(dataset, spec).value();
  const std::uint64_t before = allocations;
  EXPECT_TRUE(simulation.run(0, {}).ok());
  return allocations - before;
}

bool works_with_a_network(const Method& method) {
  Rng rng({});
  auto network = make_ranker({.kind = RankerKind::kNeural, .feature_count = 1}, rng).value();
  return make_learner(method.name, std::move(network), {}, {}).ok();
}

TEST(Allocation, ALongerRunAllocatesNoMoreThanItsCurve) {
  const Dataset dataset = load_dataset("synthetic", {}).value();
  std::vector<std::string> entries{"pdgd:linear+neural", "pdgd:linear+neural:steps=adagrad",
                                   "pdgd:linear+neural:steps=forgetting:weight-decay=1e-05",
                                   "pdgd:restart=5", "dbgd:projection=documents"};
  entries.push_back(fmt::format("{}:refit=1000", kKeepsPairs));
  for (const Method* method : methods()) {
    if (method->name == kKeepsPairs) continue;  // a fit takes time in proportion to the pairs
    // Many candidates a list are slow here; a few show the same.
    const bool candidates = find_setting(method->settings, "candidates") != nullptr;
    const std::string few = candidates ? ":candidates=3" : "";
    entries.push_back(fmt::format("{}{}", method->name, few));
    if (works_with_a_network(*method)) {
      entries.push_back(fmt::format("{}:neural{}", method->name, few));
    }
  }
  for (const std::string& entry : entries) {
    // By 5,000 impressions every query has been met; the 20,000 after it may grow the curve.
    const std::uint64_t shorter = allocations_of_a_run(dataset, entry, 5'000);
    const std::uint64_t longer = allocations_of_a_run(dataset, entry, 25'000);
    EXPECT_GT(shorter, 10U);  // the count does count
    // Five times the impressions are at most five times the pairs: their memory doubles thrice.
    const std::uint64_t growth = entry.starts_with(kKeepsPairs) ? 3 : 0;
    EXPECT_LE(longer, shorter + 4 + growth) << entry;
  }
}

TEST(Allocation, CounterSeesAVector) {
  const std::uint64_t before = allocations;
  const std::vector<double> values(100);
  EXPECT_EQ(allocations - before, 1U);
  EXPECT_EQ(values.size(), 100U);
}

}  // namespace
}  // namespace plackett
