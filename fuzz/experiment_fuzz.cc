// Experiments in a store: any text is read or refused, and what was read is written to a text that
// is read as the same. The first byte picks what is read, the spec or the state.
#include <cstdlib>
#include <string_view>

#include "serving/experiment_spec.h"
#include "serving/experiment_state.h"

namespace {

using namespace plackett;           // NOLINT(google-build-using-namespace)
using namespace plackett::serving;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void read_spec(std::string_view text) {
  const auto spec = parse_experiment_spec(text);
  if (!spec) return require(!spec.error().message.empty());
  // What the service counts on.
  require(spec->arms.size() >= 2 && spec->arms.size() <= kMaxArms);
  require(spec->baseline < spec->arms.size());
  for (const ArmSpec& arm : spec->arms) {
    require(arm.mode <= Mode::kGiven && parse_arm_policy(arm.policy).ok());
    require(arm.share >= 0 && arm.share < 1);
  }
  if (spec->promote) require(margin_of(*spec->promote) >= 0 && after_ms(*spec->promote) >= 0);
  if (spec->guard) require(drop_of(*spec->guard) >= 0);
  const auto again = parse_experiment_spec(to_json(*spec));
  require(again.ok() && *again == *spec);
}

void read_state(std::string_view text) {
  const auto state = parse_experiment_state(text);
  if (!state) return require(!state.error().message.empty());
  const std::string written = to_json(*state);
  const auto again = parse_experiment_state(written);
  require(again.ok() && to_json(*again) == written);
  require(again->before.has_value() == state->before.has_value());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    read_spec(text);
  } else {
    read_state(text);
  }
  return 0;
}
