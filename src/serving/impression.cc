#include "serving/impression.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/attempt.h"
#include "plackett/feature_view.h"

namespace plackett::serving {
namespace {

constexpr std::uint8_t kFormat = 1;

// `As`, in both classes: the type that the format has.
class Packer {
 public:
  template <typename T, typename As = T>
  void number(const T& value, As stored = {}) {
    stored = static_cast<As>(value);
    bytes(&stored, sizeof stored);
  }
  template <typename List, typename As>
  void size(const List& list, As stored) {
    number(list.size(), stored);
  }
  void bytes(const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    packed.insert(packed.end(), from, from + size);
  }

  std::vector<std::byte> packed;
};

// Reads what Packer wrote by the same calls. After the end of the bytes it is not sound, and reads
// zeros.
class Unpacker {
 public:
  template <typename T, typename As = T>
  void number(T& value, As stored = {}) {
    bytes(&stored, sizeof stored);
    value = static_cast<T>(stored);
  }
  // Resizes the list. Nothing is allocated for bytes that are missing.
  template <typename List, typename As>
  void size(List& list, As stored) {
    number(stored);
    sound = sound && stored <= left.size();
    list.resize(sound ? stored : 0);
  }
  void bytes(void* out, std::size_t size) {
    sound = sound && size <= left.size();
    if (!sound || size == 0) return;
    std::memcpy(out, left.data(), size);
    left = left.subspan(size);
  }

  std::span<const std::byte> left;
  bool sound = true;
};

// All but the rows, in the format's order.
template <typename Io, typename ItsImpression>
void pass_fields(Io& io, ItsImpression& impression) {
  io.number(impression.exploit, std::uint8_t{});
  io.size(impression.shown, std::uint16_t{});
  io.number(impression.feature_count);
  io.number(impression.rest.shift);
  io.number(impression.rest.sum);
  io.number(impression.log_probability);
  io.number(impression.entropy);
  for (auto& item : impression.shown) {
    io.size(item.id, std::uint16_t{});
    io.number(item.pinned, std::uint8_t{});
    io.number(item.score);
    io.number(item.sampled_score);
    io.bytes(item.id.data(), item.id.size());
  }
  io.size(impression.context, std::uint32_t{});
  io.bytes(impression.context.data(), impression.context.size());
}

}  // namespace

std::uint32_t Impression::sampled_count() const {
  return static_cast<std::uint32_t>(std::count_if(
      shown.begin(), shown.end(), [](const ShownItem& item) { return !item.pinned; }));
}

std::vector<std::byte> pack(const Impression& impression) {
  const std::size_t width = impression.feature_count;
  const std::size_t stride = padded_width(impression.feature_count);
  const std::size_t rows = impression.rows.empty() ? 0 : impression.sampled_count();
  Packer packer;
  packer.packed.reserve(64 + impression.shown.size() * 48 + rows * width * sizeof(float) +
                        impression.context.size());
  packer.number(kFormat);
  pass_fields(packer, impression);
  packer.number(rows, std::uint32_t{});
  for (std::size_t row = 0; row < rows; ++row) {
    packer.bytes(impression.rows.data() + row * stride, width * sizeof(float));
  }
  return std::move(packer.packed);
}

Result<Impression> unpack(std::span<const std::byte> bytes, Rows read) {
  const Error damaged{"an impression in the store is damaged"};
  Unpacker unpacker{bytes};
  Impression impression;
  std::uint8_t format = 0;
  unpacker.number(format);
  if (format != kFormat) return damaged;
  pass_fields(unpacker, impression);
  std::uint32_t rows = 0;
  unpacker.number(rows);
  const std::size_t width = impression.feature_count;
  const auto is_finite = [](const ShownItem& item) { return std::isfinite(item.sampled_score); };
  if (!unpacker.sound || (rows != 0 && rows != impression.sampled_count()) ||
      unpacker.left.size() != rows * width * sizeof(float) ||
      !std::all_of(impression.shown.begin(), impression.shown.end(), is_finite)) {
    return damaged;
  }
  impression.learnable = rows > 0;
  if (read == Rows::kSkip) return impression;
  const std::size_t stride = padded_width(impression.feature_count);
  impression.rows.assign(rows * stride, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    unpacker.bytes(impression.rows.data() + row * stride, width * sizeof(float));
  }
  return impression;
}

Result<std::optional<StoredImpression>> read_impression(StoreReader& store, std::int64_t id,
                                                        Rows rows) {
  return attempt([&]() -> std::optional<StoredImpression> {
    auto row = take(store.impression(id));
    if (!row) return std::nullopt;
    auto unpacked = unpack(row->data, rows);
    if (!unpacked) return std::nullopt;
    return StoredImpression{row->id, row->shown_at, row->version, std::move(row->given),
                            *std::move(unpacked)};
  });
}

void SampledPart::set(const Impression& impression, std::span<const std::byte> clicked) {
  ranking.shown.clear();
  ranking.scores.clear();
  clicks.clear();
  ranks.clear();
  for (std::uint32_t rank = 0; rank < impression.shown.size(); ++rank) {
    const ShownItem& item = impression.shown[rank];
    if (item.pinned) continue;
    ranking.shown.push_back(Doc{static_cast<std::uint32_t>(ranking.shown.size())});
    ranking.scores.push_back(item.sampled_score);
    clicks.push_back(static_cast<std::uint8_t>(clicked[rank]));
    ranks.push_back(rank);
  }
  ranking.rest = impression.rest;
}

}  // namespace plackett::serving
