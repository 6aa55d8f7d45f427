// The bytes of an impression: docs/formats/store.md.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "plackett/feature_view.h"
#include "serving/impression.h"
#include "serving/model_spec.h"
#include "serving/shown_items.h"

namespace plackett::serving {
namespace {

constexpr std::uint8_t kFormat = 2;

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

// What both formats have of a list as a whole.
template <typename Io, typename ItsImpression>
void pass_list(Io& io, ItsImpression& impression) {
  io.size(impression.shown, std::uint16_t{});
  io.number(impression.feature_count);
  io.number(impression.rest.shift);
  io.number(impression.rest.sum);
  io.number(impression.log_probability);
  io.number(impression.entropy);
}

// Format 2, all but rows and others. Ids, mode and context are columns of the row.
template <typename Io, typename ItsImpression>
void pass_fields(Io& io, ItsImpression& impression) {
  pass_list(io, impression);
  for (auto& item : impression.shown) {
    io.number(item.pinned, std::uint8_t{});
    io.number(item.score);
    io.number(item.sampled_score);
  }
}

template <typename Io, typename ItsImpression>
void pass_others(Io& io, ItsImpression& impression) {
  io.size(impression.others, std::uint32_t{});
  io.size(impression.bounds, std::uint32_t{});
  for (auto& value : impression.bounds) io.number(value);
  for (auto& item : impression.others) {
    io.number(item.version);
    io.number(item.score);
    io.size(item.id, std::uint16_t{});
    io.bytes(item.id.data(), item.id.size());
  }
}

// Format 1, all but the rows: ids and context are in the blob.
void read_fields_1(Unpacker& in, Impression& impression) {
  std::uint8_t exploit = 0;
  in.number(exploit);
  impression.mode = exploit != 0 ? Mode::kExploit : Mode::kExplore;
  pass_list(in, impression);
  for (ShownItem& item : impression.shown) {
    in.size(item.id, std::uint16_t{});
    in.number(item.pinned, std::uint8_t{});
    in.number(item.score);
    in.number(item.sampled_score);
    in.bytes(item.id.data(), item.id.size());
  }
  in.size(impression.context, std::uint32_t{});
  in.bytes(impression.context.data(), impression.context.size());
}

void pack_rows(Packer& packer, const AlignedVector<float>& rows, std::size_t row,
               std::uint32_t features) {
  packer.bytes(rows.data() + row * padded_width(features), features * sizeof(float));
}

void unpack_rows(Unpacker& in, AlignedVector<float>& rows, std::size_t row,
                 std::uint32_t features) {
  in.bytes(rows.data() + row * padded_width(features), features * sizeof(float));
}

// Whether all numbers that others compute with are finite.
bool all_finite(const Impression& impression) {
  const Mass& rest = impression.rest;
  const bool is_mass =
      rest.sum == 0 || (rest.sum > 0 && std::isfinite(rest.sum) && std::isfinite(rest.shift));
  return is_mass && std::isfinite(impression.log_probability) &&
         std::isfinite(impression.entropy) &&
         std::all_of(impression.shown.begin(), impression.shown.end(), [](const ShownItem& item) {
           return std::isfinite(item.sampled_score) && std::isfinite(item.score);
         });
}

// The shown items' rows, of which there are none, one per sampled item, or one per item.
void read_rows(Unpacker& in, Impression& impression) {
  std::uint32_t rows = 0;
  in.number(rows);
  const std::size_t bytes = std::size_t{rows} * impression.feature_count * sizeof(float);
  in.sound = in.sound && bytes <= in.left.size() &&
             (rows == 0 || rows == impression.sampled_count() || rows == impression.shown.size());
  if (!in.sound) return;
  impression.rows.assign(rows * padded_width(impression.feature_count), 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    unpack_rows(in, impression.rows, row, impression.feature_count);
  }
}

void read_others(Unpacker& in, Impression& impression) {
  pass_others(in, impression);
  const std::uint32_t features = impression.feature_count;
  const auto here = std::count_if(impression.others.begin(), impression.others.end(),
                                  [](const OtherItem& item) { return item.version == 0; });
  in.sound = in.sound &&
             in.left.size() == static_cast<std::size_t>(here) * features * sizeof(float) &&
             (impression.bounds.empty() || impression.bounds.size() == std::size_t{2} * features);
  if (!in.sound) return;
  impression.other_rows.assign(impression.others.size() * padded_width(features), 0.0F);
  for (std::size_t item = 0; item < impression.others.size(); ++item) {
    if (impression.others[item].version == 0) {
      unpack_rows(in, impression.other_rows, item, features);
    }
  }
}

const Error kDamaged{"an impression in the store is damaged"};

}  // namespace

ImpressionRow pack(const Impression& impression) {
  const std::uint32_t features = impression.feature_count;
  const std::size_t rows = impression.rows.size() / std::max(1U, padded_width(features));
  Packer packer;
  packer.packed.reserve(64 + impression.shown.size() * 16 + impression.rows.size() * sizeof(float) +
                        impression.others.size() * 32 +
                        impression.other_rows.size() * sizeof(float));
  packer.number(kFormat);
  pass_fields(packer, impression);
  packer.number(rows, std::uint32_t{});
  for (std::size_t row = 0; row < rows; ++row) pack_rows(packer, impression.rows, row, features);
  if (impression.kept) {
    pass_others(packer, impression);
    for (std::size_t item = 0; item < impression.others.size(); ++item) {
      if (impression.others[item].version == 0) {
        pack_rows(packer, impression.other_rows, item, features);
      }
    }
  }
  return {.mode = impression.mode,
          .keep = impression.keep,
          .kept = impression.kept,
          .shown = shown_items_text(impression),
          .context = impression.context,
          .data = std::move(packer.packed)};
}

Result<Impression> unpack(const ImpressionRow& row, Rows read) {
  Unpacker in{row.data};
  Impression impression;
  std::uint8_t format = 0;
  in.number(format);
  if (format == 1) {
    read_fields_1(in, impression);
  } else if (format == kFormat) {
    impression.mode = row.mode;
    impression.keep = row.keep;
    impression.kept = row.kept;
    impression.context = row.context;
    pass_fields(in, impression);
    in.sound = in.sound && read_shown_ids(row.shown, impression.shown);
  } else {
    return kDamaged;
  }
  if (impression.rest.sum == 0) impression.rest = {};  // its shift means nothing
  // Rows are padded: without a limit a few bytes could ask for gigabytes.
  if (!in.sound || !all_finite(impression) || impression.feature_count > kMaxFeatures) {
    return kDamaged;
  }
  if (format == kFormat && read == Rows::kSkip) {
    impression.learnable = impression.mode == Mode::kExplore && impression.sampled_count() > 0;
    return impression;
  }
  read_rows(in, impression);
  if (impression.kept) {
    read_others(in, impression);
  } else {
    in.sound = in.sound && in.left.empty();
  }
  if (!in.sound) return kDamaged;
  impression.learnable = impression.mode == Mode::kExplore && !impression.rows.empty() &&
                         impression.sampled_count() > 0;
  // What was sampled always has its rows; without them it could not be learned from.
  if (impression.mode == Mode::kExplore && !impression.learnable &&
      impression.sampled_count() > 0) {
    return kDamaged;
  }
  if (read == Rows::kSkip) impression.rows.clear();
  return impression;
}

}  // namespace plackett::serving
