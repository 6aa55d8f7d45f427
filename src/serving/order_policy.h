// Orders of one's own, as a policy to evaluate on a log.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "plackett/off_policy.h"
#include "plackett/result.h"

namespace plackett::serving {

// From lines {"impression": "i-41", "items": ["a", "b"]}, one per list; blank lines are skipped,
// and items that are no candidates of the list, too. Fails with `name` and the number of the line.
// The policy fails on a list that has no order, or one with fewer of its candidates than ranks;
// StoredLists::leave_out_forgotten() spares it those that can't have one.
Result<std::unique_ptr<TargetPolicy>> parse_order_policy(std::string_view text,
                                                         const std::string& name);
// The same, from a file.
Result<std::unique_ptr<TargetPolicy>> read_order_policy(const std::string& path);

}  // namespace plackett::serving
