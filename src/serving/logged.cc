#include "serving/logged.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/attempt.h"
#include "serving/model.h"

namespace plackett::serving {
namespace {

constexpr std::uint32_t kAtOnce = 1000;

// None if it is damaged.
std::optional<LoggedImpression> read(StoreReader& store, const LogSettings& logging,
                                     std::int64_t id, Rows rows) {
  auto kept = take(read_impression(store, id, rows));
  if (!kept) return std::nullopt;
  if (rows == Rows::kRead) {
    if (auto found = find_others(store, kept->impression); !found) {
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

Result<std::uint64_t> each_logged(
    StoreReader& store, const LoggedModel& model, LoggedRange range,
    const std::function<Result<void>(const LoggedImpression&)>& each) {
  return attempt([&] {
    std::uint64_t damaged = 0;
    for (;;) {
      const auto ids = take(store.from(model.row.id, range.from, kAtOnce));
      for (const std::int64_t id : ids) {
        if (const auto logged = read(store, model.spec.logging, id, range.rows)) {
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
