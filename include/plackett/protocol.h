// Where the paper's text and its experiments differ (docs/protocols.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plackett/cascade_user.h"
#include "plackett/export.h"
#include "plackett/method.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"

namespace plackett {

// Which deviations of the published experiments from the paper's text are followed.
struct Protocol {
  static const Protocol kDescribed;  // as the text says: none of them
  static const Protocol kPublished;  // as the published numbers were made: all of them

  bool stop = false;      // the user may stop after any document, not only after a click
  bool reversed = false;  // the pairwise baseline exploits its lowest scores first
  bool decay = false;     // the learning rate shrinks a little with each update
  bool start = false;     // networks start from normal weights of their own scale, not Xavier's,
                          // and COLTR's linear ranker not at 0
  bool ties = false;      // even duels are decided at random, not lost by the candidate
  bool miscount = false;  // projection examines one document fewer than its paper says

  bool operator==(const Protocol&) const = default;
};

inline constexpr Protocol Protocol::kDescribed{};
inline constexpr Protocol Protocol::kPublished{true, true, true, true, true, true};

// Everything that a protocol decides.
struct ProtocolRules {
  StopRule stop_rule = StopRule::kAfterClick;               // cascade users'
  Initialisation initialisation = Initialisation::kXavier;  // of neural rankers
  MethodRules methods = {};  // `shown` and `initial` are the experiment's to set
};

// What a protocol's deviations mean.
PLACKETT_EXPORT ProtocolRules rules_of(const Protocol& protocol);

// "described", "published", or "described" with some of the deviations: "described+stop+ties".
PLACKETT_EXPORT Result<Protocol> parse_protocol(std::string_view text);
// The shortest text that reads back to the same protocol.
PLACKETT_EXPORT std::string name_of(const Protocol& protocol);

// All that parse_protocol takes, for help: "described, published, or described+WAY... with ...".
PLACKETT_EXPORT std::string protocol_help();

}  // namespace plackett
