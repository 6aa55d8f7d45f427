// A method as people write it in a command or a spec file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/export.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"
#include "plackett/setting.h"
#include "plackett/simulation.h"

namespace plackett {

// Plain data; parse_method_entry makes a valid one.
struct MethodEntry {
  std::string method = {};                  // by its name
  RankerKind ranker = RankerKind::kLinear;  // what it learns
  std::vector<GivenSetting> settings = {};  // those not left to the method
};

// "mgd", "pdgd:neural", "mgd:linear:candidates=9": the method, then in any order at most one
// ranker and settings, with colons between. Without a ranker it is the method's default. Fails on
// unknown methods, rankers and settings and on bad values; the errors name what is allowed.
PLACKETT_EXPORT Result<MethodEntry> parse_method_entry(std::string_view text);

// Methods that one name stands for.
struct MethodGroup {
  std::string_view name = {};                      // "field"
  std::string_view help = {};                      // one line of help
  std::span<const std::string_view> entries = {};  // as parse_method_entry reads them
};

// All of them.
PLACKETT_EXPORT std::span<const MethodGroup> method_groups();

// The canonical entries of the group of that name, or the one entry that parse_method_entry reads.
// Fails as that does.
PLACKETT_EXPORT Result<std::vector<MethodEntry>> parse_methods(std::string_view text);

// The entry with its settings in the order of their declaration, numbers in shortest form, and
// defaults left out, so that two ways to write one method are equal. Requires: a valid entry.
PLACKETT_EXPORT MethodEntry canonical(const MethodEntry& entry);

// The shortest text that reads back to the same entry.
PLACKETT_EXPORT std::string to_text(const MethodEntry& entry);

// Sets the spec's method, ranker kind and settings.
PLACKETT_EXPORT void apply(const MethodEntry& entry, SimulationSpec& spec);

}  // namespace plackett
