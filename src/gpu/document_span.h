// The span of some documents' features, with the bits of DocumentSpan (learner/document_span.h).
#pragma once

#include "gpu/duel_data.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// The product of two vectors, with the bits of Kernels::dot_rows: half a warp does it, both halves
// the same one.
[[gnu::always_inline]] inline float dot(const Warp& warp, const float* one, const float* other,
                                        std::uint32_t width) {
  PerLane<float> sums;
  warp.compute([&](unsigned lane) {
    sums[lane] = 0;
    for (std::uint32_t at = lane % 16; at < width; at += 16) {
      sums[lane] = multiply_add(one[at], other[at], sums[lane]);
    }
  });
  for (unsigned distance = 8; distance > 0; distance /= 2) add_at_distance(warp, sums, distance);
  return sums[0];
}

class DocumentSpan {
 public:
  // Of nothing. `basis` has room for all rows that will be added, `products` for as many floats,
  // `row` for one row.
  DocumentSpan(const Warp& warp, const DuelRules& rules, std::uint32_t width, float* basis,
               float* products, float* row)
      : warp_(warp),
        features_(rules.parameters),
        width_(width),
        basis_(basis),
        products_(products),
        row_(row) {}

  // Adds a document whose features are value_of(feature).
  template <typename ValueOf>
  [[gnu::always_inline]] void add(const ValueOf& value_of) {
    if (rank_ == features_) return;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < width_; at += kWarpLanes) {
        row_[at] = at < features_ ? value_of(at) : 0.0F;
      }
    });
    const float before = length();
    if (!(before > 0)) return;
    // Twice: rounding leaves too much after once.
    for (unsigned pass = 0; pass < 2; ++pass) {
      add_projection(-1, row_);
      if (pass == 0 && !(length() > kDependent * before)) return;
    }
    const float after = length();
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < width_; at += kWarpLanes) {
        basis_[std::size_t{rank_} * width_ + at] = row_[at] / after;
      }
    });
    ++rank_;
  }

  // direction = the part of it that lies in the span.
  [[gnu::always_inline]] void project(float* direction) {
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < width_; at += kWarpLanes) {
        row_[at] = direction[at];
        direction[at] = 0;
      }
    });
    add_projection(1, direction);
  }

 private:
  static constexpr float kDependent = 1e-4F;  // as the engine's

  [[nodiscard]] [[gnu::always_inline]] float length() const {
    return square_root(dot(warp_, row_, row_, width_));
  }

  // to += sign * the projection of row_.
  [[gnu::always_inline]] void add_projection(float sign, float* to) const {
    for (std::uint32_t first = 0; first < rank_; first += 2) {
      PerLane<float> sums;
      warp_.compute([&](unsigned lane) {
        sums[lane] = 0;
        const std::uint32_t own = first + lane / 16;
        const float* basis = basis_ + std::size_t{own < rank_ ? own : first} * width_;
        for (std::uint32_t at = lane % 16; at < width_; at += 16) {
          sums[lane] = multiply_add(basis[at], row_[at], sums[lane]);
        }
      });
      for (unsigned distance = 8; distance > 0; distance /= 2) {
        add_at_distance(warp_, sums, distance);
      }
      warp_.compute([&](unsigned lane) {
        const std::uint32_t own = first + lane / 16;
        if (lane % 16 == 0 && own < rank_) products_[own] = sign * sums[lane];
      });
    }
    warp_.sync();
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < width_; at += kWarpLanes) {
        float sum = to[at];
        PLACKETT_UNROLL(4)
        for (std::uint32_t own = 0; own < rank_; ++own) {
          sum = multiply_add(products_[own], basis_[std::size_t{own} * width_ + at], sum);
        }
        to[at] = sum;
      }
    });
  }

  const Warp& warp_;
  std::uint32_t features_;
  std::uint32_t width_;
  std::uint32_t rank_ = 0;
  float* basis_;  // [rank][width]
  float* products_;
  float* row_;
};

}  // namespace plackett::gpu
