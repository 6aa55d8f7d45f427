// Spec files: what is accepted has one canonical text, which reads back to itself.
#include <cstdlib>
#include <string_view>

#include "plackett/comparison_spec.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = plackett::parse_spec(text, "input");
  if (!spec) {
    require(!spec.error().message.empty());
    return 0;
  }
  const std::string canonical = plackett::to_toml(*spec);
  const auto again = plackett::parse_spec(canonical, "again");
  require(again.ok());
  require(plackett::to_toml(*again) == canonical);
  require(plackett::identity(*again) == plackett::identity(*spec));
  return 0;
}
