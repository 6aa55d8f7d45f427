#include "xml_check.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace plackett::testing {
namespace {

bool is_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_' ||
         letter == ':';
}

bool good_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 && byte != '\n' && byte != '\t') return false;
    if (text[at] == '<') return false;
    if (text[at] != '&') continue;
    const std::size_t end = text.find(';', at);
    if (end == std::string_view::npos) return false;
    static const std::set<std::string_view> kEntities{"amp",  "lt",  "gt", "quot",
                                                      "apos", "#39", "#10"};
    if (!kEntities.contains(text.substr(at + 1, end - at - 1))) return false;
  }
  return true;
}

class Checker {
 public:
  explicit Checker(std::string_view text) : rest_(text) {}

  std::string run() {
    while (!rest_.empty()) {
      const std::size_t open = std::min(rest_.find('<'), rest_.size());
      const std::string_view content = rest_.substr(0, open);
      const bool blank = content.find_first_not_of(" \n") == std::string_view::npos;
      if (!good_text(content)) return fault("text", content);
      if (!blank && open_.empty()) return fault("text outside the root", content);
      rest_.remove_prefix(open);
      if (rest_.empty()) break;
      if (std::string wrong = rest_.starts_with("</") ? close() : element(); !wrong.empty()) {
        return wrong;
      }
    }
    if (!open_.empty()) return fault("never closed", open_.back());
    return roots_ == 1 ? "" : fault("number of roots is not 1", "");
  }

 private:
  static std::string fault(std::string_view what, std::string_view where) {
    return std::string(what) + ": " + std::string(where.substr(0, 60));
  }

  std::string_view name() {
    std::size_t length = 0;
    while (length < rest_.size() && is_name(rest_[length])) ++length;
    const std::string_view out = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return out;
  }

  std::string close() {
    rest_.remove_prefix(2);
    const std::string_view closed = name();
    if (!rest_.starts_with('>')) return fault("bad end tag", closed);
    rest_.remove_prefix(1);
    if (open_.empty() || open_.back() != closed) return fault("closes what is not open", closed);
    open_.pop_back();
    return "";
  }

  std::string element() {
    rest_.remove_prefix(1);
    const std::string_view opened = name();
    if (opened.empty()) return fault("no name", rest_);
    if (open_.empty()) ++roots_;
    std::set<std::string_view> attributes;
    while (rest_.starts_with(' ')) {
      rest_.remove_prefix(1);
      const std::string_view attribute = name();
      if (attribute.empty() || !rest_.starts_with("=\"")) return fault("bad attribute", rest_);
      if (!attributes.insert(attribute).second) return fault("attribute twice", attribute);
      rest_.remove_prefix(2);
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) return fault("no closing quote", rest_);
      if (!good_text(rest_.substr(0, end))) return fault("bad value", rest_);
      rest_.remove_prefix(end + 1);
    }
    if (rest_.starts_with("/>")) {
      rest_.remove_prefix(2);
    } else if (rest_.starts_with('>')) {
      rest_.remove_prefix(1);
      open_.push_back(opened);
    } else {
      return fault("bad start tag", rest_);
    }
    return "";
  }

  std::string_view rest_;
  std::vector<std::string_view> open_;
  int roots_ = 0;
};

}  // namespace

std::string xml_fault(std::string_view text) { return Checker(text).run(); }

}  // namespace plackett::testing
