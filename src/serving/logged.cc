#include "serving/logged.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/attempt.h"
#include "serving/model.h"

namespace plackett::serving {
namespace {

constexpr std::uint32_t kAtOnce = 1000;
constexpr std::int64_t kHandOverMs = 10'000;
constexpr std::int64_t kSilenceMs = 600'000;

// None if it is damaged.
std::optional<LoggedImpression> read(StoreReader& store, const LogSettings& logging,
                                     std::int64_t id, Rows rows, ItemVersionCache* items) {
  auto kept = take(read_impression(store, id, rows));
  if (!kept) return std::nullopt;
  if (rows == Rows::kRead && items != nullptr) {
    if (auto found = find_others(store, kept->impression, *items); !found) {
      if (found.error().code == ErrorCode::kUnavailable) throw Failed{found.error()};
      return std::nullopt;
    }
  }
  LoggedImpression logged;
  logged.name = kept->given.empty() ? impression_name(ImpressionKey::of(id).number) : kept->given;
  logged.response = take(store.response(id)).value_or(ResponseRow{});
  const std::size_t shown = kept->impression.shown.size();
  logged.response.clicked.resize(shown);
  logged.response.viewed.resize(shown);
  for (const std::byte clicked : logged.response.clicked) {
    logged.rewards.push_back(clicked != std::byte{0} ? 1 : 0);
  }
  if (!logging.events.empty()) {
    for (const auto& [rank, name] : take(store.named_events(id))) {
      const auto event = std::find_if(logging.events.begin(), logging.events.end(),
                                      [&](const NamedWeight& one) { return one.name == name; });
      // The owner may have removed the kind since.
      if (event != logging.events.end() && rank < shown) logged.rewards[rank] += event->weight;
    }
  }
  logged.kept = *std::move(kept);
  return logged;
}

}  // namespace

Result<std::vector<LoggedModel>> logged_models(StoreReader& store, const std::string& name) {
  return attempt([&] {
    std::vector<LoggedModel> models;
    for (ModelRow& row : take(store.models())) {
      if (!name.empty() && row.name != name) continue;
      ModelSpec spec = take(parse_spec(row.spec));
      models.push_back({std::move(row), std::move(spec)});
    }
    if (models.empty() && !name.empty()) {
      throw Failed{{ErrorCode::kNotFound, fmt::format("no model \"{}\"", name)}};
    }
    return models;
  });
}

Result<LoggedModel> logged_model(StoreReader& store, const std::string& name) {
  return attempt([&] {
    auto models = take(logged_models(store, name));
    if (models.empty()) throw Failed{{ErrorCode::kNotFound, "no model"}};
    if (models.size() > 1) {
      std::vector<std::string_view> names;
      for (const LoggedModel& model : models) names.push_back(model.row.name);
      throw Failed{
          Error{fmt::format("{} models, {}; name one", models.size(), fmt::join(names, ", "))}};
    }
    return std::move(models.front());
  });
}

Result<std::optional<LoggedImpression>> read_logged(StoreReader& store, const LogSettings& logging,
                                                    std::int64_t id, Rows rows,
                                                    ItemVersionCache* items) {
  return attempt([&] { return read(store, logging, id, rows, items); });
}

Result<Settled> settled(StoreReader& store, std::int64_t model, std::uint64_t from,
                        std::int64_t now) {
  return attempt([&] {
    const auto newest = take(store.shown_before(model, ImpressionKey::kNumbers));
    const std::uint64_t last = newest ? newest->first + 1 : 0;
    std::uint64_t end = last;
    auto later = newest;
    while (later && later->first > from && now - later->second < kSilenceMs &&
           newest->second - later->second < kHandOverMs) {
      const auto before = take(store.shown_before(model, later->first));
      const std::uint64_t next = before ? before->first + 1 : 0;
      if (next < later->first) end = next;
      later = before;
    }
    return Settled{std::max(end, from), std::max(end, from) < last};
  });
}

Result<std::uint64_t> each_logged(
    StoreReader& store, const LoggedModel& model, LoggedRange range,
    const std::function<Result<void>(const LoggedImpression&)>& each) {
  return attempt([&] {
    std::uint64_t damaged = 0;
    ItemVersionCache cache;
    for (;;) {
      const auto ids = take(store.from(model.row.id, range.from, kAtOnce));
      for (const std::int64_t id : ids) {
        if (ImpressionKey::of(id).number >= range.to) return damaged;
        if (const auto logged = read(store, model.spec.logging, id, range.rows, &cache)) {
          take(each(*logged));
        } else {
          ++damaged;
        }
      }
      if (ids.size() < kAtOnce) return damaged;
      range.from = ImpressionKey::of(ids.back()).number + 1;
    }
  });
}

}  // namespace plackett::serving
