#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "plackett/method.h"
#include "plackett/method_entry.h"

namespace plackett {
namespace {

constexpr std::array kPaper = std::to_array<std::string_view>(
    {"dbgd", "dbgd:neural", "mgd", "pairwise", "pdgd", "pdgd:neural"});

// PairRank is fitted after every 100 pairs: as good after 1,000 impressions as after every pair
// (docs/methods.md), and several times faster.
constexpr std::array kField = std::to_array<std::string_view>(
    {"dbgd", "dbgd:neural", "dbgd:projection=documents", "mgd", "mgd:projection=documents",
     "pairwise", "pdgd", "pdgd:neural", "pairrank:refit=100", "coltr", "pl-gradient", "steady"});

constexpr std::array kGroups{MethodGroup{"paper", "the paper's six", kPaper},
                             MethodGroup{"field", "those and what came after them", kField}};

}  // namespace

std::span<const MethodGroup> method_groups() { return kGroups; }

Result<std::vector<MethodEntry>> parse_methods(std::string_view text) {
  const auto group = std::find_if(kGroups.begin(), kGroups.end(),
                                  [&](const MethodGroup& one) { return one.name == text; });
  // A method that was added under a group's name hides the group.
  if (group == kGroups.end() || find_method(text)) {
    auto entry = parse_method_entry(text);
    if (!entry) return entry.error();
    return std::vector{canonical(*entry)};
  }
  std::vector<MethodEntry> entries;
  for (const std::string_view one : group->entries) {
    entries.push_back(canonical(parse_method_entry(one).value()));
  }
  return entries;
}

}  // namespace plackett
