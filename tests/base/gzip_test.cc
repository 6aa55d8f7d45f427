#include "base/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>

#include "support/gzip.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::pack_gzip;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Gzip, UnpacksOneMember) {
  const std::string packed = pack_gzip("hello\n");
  EXPECT_EQ(unpack_gzip(bytes_of(packed), "x.gz").value(), "hello\n");
}

TEST(Gzip, UnpacksSeveralMembersAndIgnoresZeroPadding) {
  const std::string packed =
      pack_gzip("one\n") + pack_gzip("") + pack_gzip("two\n") + std::string(100, '\0');
  EXPECT_EQ(unpack_gzip(bytes_of(packed), "x.gz").value(), "one\ntwo\n");
}

TEST(Gzip, UnpacksTextThatPacksAThousandTimesSmaller) {
  const std::string text(20'000'000, 'a');
  const std::string packed = pack_gzip(text);
  EXPECT_LT(packed.size(), text.size() / 900);
  EXPECT_EQ(unpack_gzip(bytes_of(packed), "x.gz").value(), text);
}

TEST(Gzip, RefusesDataCutAtAnyByte) {
  const std::string packed = pack_gzip("0 qid:1 1:1 2:0.5\n1 qid:1 1:2 2:0.25\n");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const std::string cut = packed.substr(0, size);
    const auto text = unpack_gzip(bytes_of(cut), "x.gz");
    ASSERT_FALSE(text.ok()) << size;
    EXPECT_THAT(text.error().message, HasSubstr("x.gz: truncated or corrupt gzip data")) << size;
  }
}

TEST(Gzip, RefusesDataWithAnyFlippedBitThatChangesTheText) {
  const std::string text = "0 qid:1 1:1 2:0.5\n1 qid:1 1:2 2:0.25\n";
  const std::string packed = pack_gzip(text);
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    std::string bad = packed;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const auto unpacked = unpack_gzip(bytes_of(bad), "x.gz");
    if (unpacked) {
      EXPECT_EQ(*unpacked, text) << bit;
    }
    refused += unpacked ? 0 : 1;
  }
  // Nothing checks the header's 10 bytes, nor the bits between the data and its checksum.
  EXPECT_GE(refused, 8 * (packed.size() - 10) - 7);
}

TEST(Gzip, NamesTheMemberThatFails) {
  const std::string first = pack_gzip("one\n");
  EXPECT_THAT(unpack_gzip(bytes_of(first + "junk"), "x.gz").error().message,
              HasSubstr("the member at byte " + std::to_string(first.size()) + " of " +
                        std::to_string(first.size() + 4) + " does not unpack"));
}

}  // namespace
}  // namespace plackett
