// Text that a parser may read a little beyond.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plackett::http {

// Bytes, with at least kPadding more behind them that belong to it. Its memory is reused: clear()
// keeps it.
class PaddedText {
 public:
  static constexpr std::size_t kPadding = 64;

  PaddedText() = default;
  explicit PaddedText(std::string_view text) { append(text); }

  void append(std::string_view more) {
    const std::size_t needed = bytes_.size() + more.size() + kPadding;
    if (needed > bytes_.capacity()) bytes_.reserve(needed + needed / 2);
    bytes_.append(more);
  }
  void reserve(std::size_t size) { bytes_.reserve(size + kPadding); }
  // Gives the memory back where it is more than `keep` bytes.
  void clear(std::size_t keep) {
    bytes_.clear();
    if (bytes_.capacity() > keep + kPadding) bytes_.shrink_to_fit();
  }

  [[nodiscard]] std::string_view view() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  // Where the padding ends, from the text's beginning.
  [[nodiscard]] std::size_t capacity() const { return bytes_.capacity(); }

 private:
  std::string bytes_;
};

}  // namespace plackett::http
