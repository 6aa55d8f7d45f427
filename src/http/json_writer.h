// JSON, appended to a text that the caller reuses.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace plackett::http {

// Writes commas by itself. Bytes that are no UTF-8 become U+FFFD, numbers that are not finite
// become null; doubles read back to the same bits.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  void key(std::string_view key) {
    comma();
    append_string(key);
    out_ += ':';
    needs_comma_ = false;
  }
  void value(std::string_view text) {
    comma();
    append_string(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool flag) { raw(flag ? "true" : "false"); }
  void value(double number);
  template <std::integral T>
  void value(T number) {
    comma();
    char digits[24];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  void null() { raw("null"); }
  // JSON that is written already.
  void raw(std::string_view json) {
    comma();
    out_ += json;
  }

  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

 private:
  void comma() {
    if (needs_comma_) out_ += ',';
    needs_comma_ = true;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    needs_comma_ = false;
  }
  void close(char bracket) {
    out_ += bracket;
    needs_comma_ = true;
  }
  void append_string(std::string_view text);

  std::string& out_;
  bool needs_comma_ = false;
};

}  // namespace plackett::http
