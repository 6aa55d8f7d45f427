// Impressions in a store: any bytes are read or refused, and what was read is packed to bytes that
// are read as the same. The first byte is the mode and whether candidates are kept, the second the
// length of the text of shown items.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "serving/impression.h"

namespace {

using namespace plackett;           // NOLINT(google-build-using-namespace)
using namespace plackett::serving;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  ImpressionRow row;
  row.mode = static_cast<Mode>(bytes[0] % 4);
  row.kept = (bytes[0] & 0x80) != 0;
  const std::size_t text = std::min<std::size_t>(bytes[1], size - 2);
  row.shown.assign(reinterpret_cast<const char*>(bytes) + 2, text);
  const auto* data = reinterpret_cast<const std::byte*>(bytes) + 2 + text;
  row.data.assign(data, reinterpret_cast<const std::byte*>(bytes) + size);
  const auto skipped = unpack(row, Rows::kSkip);
  const auto read = unpack(row);
  if (!read) return 0;
  require(skipped.ok() && skipped->learnable == read->learnable);
  require(read->propensities().size() == read->shown.size());
  const ImpressionRow packed = pack(*read);
  const auto again = unpack(packed);
  require(again.ok());
  require(pack(*again).data == packed.data && pack(*again).shown == packed.shown);
  return 0;
}
