#include "order_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/aligned.h"
#include "base/attempt.h"
#include "base/file.h"
#include "http/id_table.h"
#include "http/json_reader.h"
#include "http/requests.h"
#include "serving/model_spec.h"

namespace plackett::command {
namespace {

using http::JsonReader;
using http::JsonValue;
using http::Key;

class OrderReader {
 public:
  explicit OrderReader(Scaling scaling) : scaling_(scaling) {}

  Result<void> add(std::string_view line) {
    if (line.size() > kMaxOrderLineBytes) {
      return Error{ErrorCode::kTooLarge, fmt::format("a line of {} bytes; at most {} are allowed",
                                                     line.size(), kMaxOrderLineBytes)};
    }
    if (line.front() != '{') return Error{"expected an object with \"items\""};
    padded_.assign(line);
    padded_.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    auto read = json_.read(http::JsonText(padded_.data(), padded_.size(), padded_.capacity()),
                           [&](JsonValue root) { read_list(root); });
    if (read || read.error().where.empty()) return read;
    return read.error().in(read.error().where);
  }

  // Nothing before the first list.
  std::optional<ObservedOrders> take_orders() { return std::move(orders_); }

 private:
  void read_list(JsonValue root) {
    rows_.clear();
    ids_.clear();
    items_ = 0;
    std::optional<std::uint32_t> shown;
    json_.fields(root,
                 Key{"items",
                     [&](JsonValue value) {
                       json_.array(value, http::kMaxRowFloats,
                                   [&](std::uint32_t, JsonValue item) { read_item(item); });
                     }},
                 Key{"shown", [&](JsonValue value) {
                       shown = json_.integer(value, 1, http::kMaxRowFloats);
                     }});
    if (items_ == 0) json_.wrong_at("items", "no items; a list has at least 1");
    if (shown.value_or(items_) > items_) {
      json_.wrong_at("shown", fmt::format("{}; the list has {} items", *shown, items_));
    }
    add_list(shown.value_or(items_));
  }

  void read_item(JsonValue value) {
    const std::size_t before = rows_.size();
    if (json_.type(value) == simdjson::ondemand::json_type::array) {
      read_features(value);
    } else {
      json_.fields(value, Key{"id", [&](JsonValue inner) { read_id(inner); }},
                   Key{"features", [&](JsonValue inner) { read_features(inner); }});
    }
    if (rows_.size() == before) json_.wrong("no features; an item has at least 1");
    ++items_;
  }

  void read_id(JsonValue value) {
    const std::string_view id = http::read_id(json_, value);
    if (ids_.add(id)) json_.wrong(fmt::format("\"{}\" is in the list twice", id));
  }

  void read_features(JsonValue value) {
    std::uint32_t count = 0;
    json_.array(value, serving::kMaxFeatures, [&](std::uint32_t, JsonValue inner) {
      const double number = json_.number(inner);
      if (std::abs(number) > std::numeric_limits<float>::max()) {
        json_.wrong(fmt::format("{}; a feature must be within the range of floats",
                                JsonReader::excerpt(inner)));
      }
      if (rows_.size() == http::kMaxRowFloats) {
        json_.wrong(fmt::format("more than {} numbers in a list", http::kMaxRowFloats),
                    ErrorCode::kTooLarge);
      }
      rows_.push_back(static_cast<float>(number));
      ++count;
    });
    if (width_ == 0) width_ = count;
    if (count != width_) {
      json_.wrong(fmt::format("{} features; the first item of the file has {}", count, width_));
    }
  }

  void add_list(std::uint32_t shown) {
    if (!orders_) orders_.emplace(width_);
    if (scaling_ == Scaling::kQueryMinMax) {
      scale_query_minmax(rows_.data(), items_, width_, width_);
    }
    take(orders_->add(FeatureView::of(rows_.data(), items_, width_, width_), shown));
  }

  Scaling scaling_;
  JsonReader json_;
  std::string padded_;
  std::vector<float> rows_;
  http::IdTable ids_;
  std::uint32_t items_ = 0;
  std::uint32_t width_ = 0;  // 0 before the first item
  std::optional<ObservedOrders> orders_;
};

}  // namespace

Result<ObservedOrders> parse_orders(std::string_view text, std::string_view name, Scaling scaling) {
  constexpr std::string_view kBlank = " \t\r";
  OrderReader reader(scaling);
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBlank)));
    if (line.empty()) continue;
    if (auto added = reader.add(line); !added) {
      return added.error().in(fmt::format("{}:{}", name, number));
    }
  }
  auto orders = reader.take_orders();
  if (!orders) return Error{fmt::format("{}: no list; expected at least 1 line", name)};
  return *std::move(orders);
}

Result<ObservedOrders> read_orders(const std::filesystem::path& path, Scaling scaling) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  return parse_orders({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(),
                      scaling);
}

}  // namespace plackett::command
