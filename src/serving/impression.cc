#include "serving/impression.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plackett/feature_view.h"

namespace plackett::serving {
namespace {

constexpr std::uint8_t kFormat = 1;

class Packer {
 public:
  explicit Packer(std::size_t size) { bytes_.reserve(size); }

  template <typename T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&value, sizeof value);
  }
  void put_bytes(const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : left_(bytes) {}

  template <typename T>
  T get() {
    T value{};
    get_bytes(&value, sizeof value);
    return value;
  }
  void get_bytes(void* out, std::size_t size) {
    if (size > left_.size()) {
      sound_ = false;
      left_ = {};
      return;
    }
    if (size > 0) std::memcpy(out, left_.data(), size);
    left_ = left_.subspan(size);
  }
  std::string text(std::size_t size) {
    std::string result(std::min(size, left_.size()), '\0');
    get_bytes(result.data(), size);
    return result;
  }
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  [[nodiscard]] bool sound() const { return sound_; }

 private:
  std::span<const std::byte> left_;
  bool sound_ = true;
};

}  // namespace

std::uint32_t Impression::sampled_count() const {
  return static_cast<std::uint32_t>(std::count_if(
      shown.begin(), shown.end(), [](const ShownItem& item) { return !item.pinned; }));
}

std::vector<std::byte> pack(const Impression& impression) {
  const std::size_t width = impression.feature_count;
  const std::size_t stride = padded_width(impression.feature_count);
  const std::size_t rows = impression.rows.empty() ? 0 : impression.sampled_count();
  Packer packer(64 + impression.shown.size() * 48 + rows * width * sizeof(float) +
                impression.context.size());
  packer.put(kFormat);
  packer.put(static_cast<std::uint8_t>(impression.exploit));
  packer.put(static_cast<std::uint16_t>(impression.shown.size()));
  packer.put(impression.feature_count);
  packer.put(impression.rest.shift);
  packer.put(impression.rest.sum);
  packer.put(impression.log_probability);
  packer.put(impression.entropy);
  for (const ShownItem& item : impression.shown) {
    packer.put(static_cast<std::uint16_t>(item.id.size()));
    packer.put(static_cast<std::uint8_t>(item.pinned));
    packer.put(item.score);
    packer.put(item.sampled_score);
    packer.put_bytes(item.id.data(), item.id.size());
  }
  packer.put(static_cast<std::uint32_t>(impression.context.size()));
  packer.put_bytes(impression.context.data(), impression.context.size());
  packer.put(static_cast<std::uint32_t>(rows));
  for (std::size_t row = 0; row < rows; ++row) {
    packer.put_bytes(impression.rows.data() + row * stride, width * sizeof(float));
  }
  return packer.take();
}

Result<Impression> unpack(std::span<const std::byte> bytes, Rows read) {
  const Error damaged{"an impression in the store is damaged"};
  Unpacker unpacker(bytes);
  Impression impression;
  if (unpacker.get<std::uint8_t>() != kFormat) return damaged;
  impression.exploit = unpacker.get<std::uint8_t>() != 0;
  impression.shown.resize(unpacker.get<std::uint16_t>());
  impression.feature_count = unpacker.get<std::uint32_t>();
  impression.rest.shift = unpacker.get<double>();
  impression.rest.sum = unpacker.get<double>();
  impression.log_probability = unpacker.get<double>();
  impression.entropy = unpacker.get<double>();
  for (ShownItem& item : impression.shown) {
    const auto size = unpacker.get<std::uint16_t>();
    item.pinned = unpacker.get<std::uint8_t>() != 0;
    item.score = unpacker.get<float>();
    item.sampled_score = unpacker.get<double>();
    if (!std::isfinite(item.sampled_score)) return damaged;
    item.id = unpacker.text(size);
    if (!unpacker.sound()) return damaged;
  }
  impression.context = unpacker.text(unpacker.get<std::uint32_t>());
  const std::size_t rows = unpacker.get<std::uint32_t>();
  const std::size_t width = impression.feature_count;
  if (!unpacker.sound() || (rows != 0 && rows != impression.sampled_count()) ||
      unpacker.left() != rows * width * sizeof(float)) {
    return damaged;
  }
  impression.learnable = rows > 0;
  if (read == Rows::kSkip) return impression;
  const std::size_t stride = padded_width(impression.feature_count);
  impression.rows.assign(rows * stride, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    unpacker.get_bytes(impression.rows.data() + row * stride, width * sizeof(float));
  }
  return impression;
}

Result<std::optional<StoredImpression>> read_impression(StoreReader& store, std::int64_t id,
                                                        Rows rows) {
  auto row = store.impression(id);
  if (!row) return row.error();
  if (!*row) return std::optional<StoredImpression>();
  auto unpacked = unpack((*row)->data, rows);
  if (!unpacked) return std::optional<StoredImpression>();
  return std::optional(StoredImpression{(*row)->id, (*row)->shown_at, (*row)->version,
                                        std::move((*row)->given), *std::move(unpacked)});
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
