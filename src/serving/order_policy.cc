#include "serving/order_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/attempt.h"
#include "base/file.h"

namespace plackett::serving {
namespace {

using Orders = std::unordered_map<std::string, std::vector<std::string>>;  // by impression

class OrderPolicy final : public TargetPolicy {
 public:
  OrderPolicy(std::string name, std::shared_ptr<const Orders> orders)
      : name_(std::move(name)), orders_(std::move(orders)) {}

  [[nodiscard]] std::unique_ptr<TargetPolicy> clone() const override {
    return std::make_unique<OrderPolicy>(name_, orders_);
  }
  Result<void> choose(const LoggedList& list, PolicyChoice& choice) override {
    const auto order = orders_->find(std::string(list.name));
    if (order == orders_->end()) {
      return Error{fmt::format("{}: no order for impression {}", name_, list.name)};
    }
    choice.sampled = false;
    choice.order.clear();
    for (const std::string& id : order->second) {
      const auto doc = std::find(list.ids.begin(), list.ids.end(), id);
      if (doc == list.ids.end()) continue;  // pinned, or no candidate
      choice.order.push_back(Doc{static_cast<std::uint32_t>(doc - list.ids.begin())});
    }
    if (choice.order.size() < list.sampled()) {
      return Error{fmt::format(
          "{}: impression {}: the order has {} of its candidates; {} places are to be filled",
          name_, list.name, choice.order.size(), list.sampled())};
    }
    return {};
  }

 private:
  std::string name_;
  std::shared_ptr<const Orders> orders_;
};

Result<void> add_line(std::string_view line, Orders& orders) {
  const auto refuse = [](std::string_view what) {
    return Error{
        fmt::format("{}; expected {{\"impression\": \"i-41\", \"items\": [\"a\", \"b\"]}}", what)};
  };
  const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("impression") || !object.contains("items")) {
    return refuse("not an object with impression and items");
  }
  const auto& items = object["items"];
  if (!object["impression"].is_string() || !items.is_array() ||
      !std::all_of(items.begin(), items.end(), [](const auto& one) { return one.is_string(); })) {
    return refuse("an id is not a string");
  }
  auto ids = items.get<std::vector<std::string>>();
  std::unordered_set<std::string_view> seen;
  for (const std::string& id : ids) {
    if (!seen.insert(id).second)
      return refuse(fmt::format("the id \"{}\" is twice in the order", id));
  }
  if (!orders.emplace(object["impression"].get<std::string>(), std::move(ids)).second) {
    return refuse("this impression has an order already");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<TargetPolicy>> parse_order_policy(std::string_view text,
                                                         const std::string& name) {
  auto orders = std::make_shared<Orders>();
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto added = add_line(line, *orders); !added) {
      return added.error().in(fmt::format("{}:{}", name, number));
    }
  }
  if (orders->empty()) return Error{fmt::format("{}: no order; expected one line per list", name)};
  return std::unique_ptr<TargetPolicy>(std::make_unique<OrderPolicy>(name, std::move(orders)));
}

Result<std::unique_ptr<TargetPolicy>> read_order_policy(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  return parse_order_policy({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace plackett::serving
