#include "serving/logged_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/attempt.h"
#include "plackett/method.h"
#include "serving/order_policy.h"
#include "serving/recover.h"
#include "serving/trainer.h"

namespace plackett::serving {
namespace {

constexpr std::string_view kSnapshot = "snapshot:";
constexpr std::string_view kOrder = "order:";

float temperature_of(const PolicyName& name, const ModelSpec& spec) {
  return static_cast<float>(name.temperature < 0 ? spec.temperature : name.temperature);
}

bool is_stored(const PolicyName& name) {
  return name.source == "current" || name.source == "logged" || name.source.starts_with(kSnapshot);
}

SnapshotRow find_snapshot(const PolicyName& name, const LoggedModel& model, StoreReader& store) {
  const std::string_view text = std::string_view(name.source).substr(kSnapshot.size());
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Failed{Error{
        fmt::format("\"{}\"; expected the number of a snapshot, as in snapshot:3", name.source)}};
  }
  auto found = take(store.snapshot(id));
  if (!found || found->model != model.row.id) {
    std::vector<std::string> known;
    for (const SnapshotRow& row : take(store.snapshots(model.row.id))) {
      known.push_back(fmt::format("{}", row.id));
    }
    throw Failed{{ErrorCode::kNotFound,
                  fmt::format("model \"{}\" has no snapshot {}; it has {}", model.row.name, id,
                              known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")))}};
  }
  return *std::move(found);
}

}  // namespace

Result<PolicyName> parse_policy_name(std::string_view text) {
  const std::size_t at = text.rfind('@');
  // In the name of a folder it is part of the name.
  if (at == std::string_view::npos || text.find('/', at) != std::string_view::npos) {
    return PolicyName{std::string(text)};
  }
  const std::string_view number = text.substr(at + 1);
  double temperature = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), temperature);
  constexpr double kMost = 1e6;
  if (error != std::errc{} || end != number.data() + number.size() || !(temperature >= 0) ||
      temperature > kMost) {
    return Error{fmt::format("\"{}\"; after @ comes a temperature from 0 to {}", text, kMost)};
  }
  return PolicyName{std::string(text.substr(0, at)), temperature};
}

std::unique_ptr<TargetPolicy> version_policy(const PolicyName& name, const Version& version,
                                             const ModelSpec& spec) {
  const float temperature = temperature_of(name, spec);
  return ranker_policy(temperature > 0 ? *version.explorer : *version.ranker, temperature);
}

Result<std::unique_ptr<TargetPolicy>> stored_policy(const PolicyName& name,
                                                    const LoggedModel& model, StoreReader& store) {
  return attempt([&]() -> std::unique_ptr<TargetPolicy> {
    if (name.source == "logged") {
      // The scores are over the model's temperature already.
      return logged_policy(name.temperature < 0
                               ? 1.0F
                               : static_cast<float>(name.temperature / model.spec.temperature));
    }
    if (name.source == "current") {
      return version_policy(name, *take(recover(model.spec, model.row, store)).version(),
                            model.spec);
    }
    if (!name.source.starts_with(kSnapshot)) {
      throw Failed{
          Error{fmt::format("unknown policy \"{}\"; expected snapshot:ID, current or "
                            "logged, each with @TEMPERATURE or without",
                            name.source)}};
    }
    Trainer trainer = take(Trainer::start(model.spec));
    take(trainer.restore(find_snapshot(name, model, store)));
    return version_policy(name, *trainer.version(), model.spec);
  });
}

Result<std::unique_ptr<TargetPolicy>> find_policy(const std::string& text, const LoggedModel& model,
                                                  StoreReader& store) {
  if (text.starts_with(kOrder)) return read_order_policy(text.substr(kOrder.size()));
  return attempt([&] {
    const PolicyName name = take(parse_policy_name(text));
    if (is_stored(name)) return take(stored_policy(name, model, store));
    std::error_code none;
    if (!std::filesystem::exists(name.source, none)) {
      throw Failed{Error{fmt::format(
          "unknown policy \"{}\", and no file of this name; expected snapshot:ID, current, logged, "
          "order:FILE or a model file, each with @TEMPERATURE or without",
          name.source)}};
    }
    return take(file_policy(name, take(load_model(name.source)), model));
  });
}

bool needs_ids(std::string_view text) { return text.starts_with(kOrder); }

Result<std::unique_ptr<TargetPolicy>> file_policy(const PolicyName& name, const SavedModel& file,
                                                  const LoggedModel& model) {
  return attempt([&]() -> std::unique_ptr<TargetPolicy> {
    const ModelSpec& spec = model.spec;
    if (file.ranker.feature_count != spec.ranker.feature_count) {
      throw Failed{
          Error{fmt::format("{} reads {} features; the log of \"{}\" has {}", name.source,
                            file.ranker.feature_count, spec.name, spec.ranker.feature_count)}};
    }
    if (file.scaling != spec.scaling) {
      throw Failed{
          Error{fmt::format("{} reads features scaled by {}; the log of \"{}\" has them "
                            "scaled by {}",
                            name.source, file.scaling, spec.name, spec.scaling)}};
    }
    const float temperature = temperature_of(name, spec);
    auto ranker = take(restore_ranker(file));
    // What its learner explores with may be another ranker.
    const auto method = find_method(file.learner.method);
    if (temperature > 0 && method && (*method)->servable) {
      auto learner = take(make_learner(file.learner.method, std::move(ranker),
                                       {.shown = spec.shown}, file.settings));
      learner->restore(file.learner);
      return ranker_policy(learner->explorer(), temperature);
    }
    return ranker_policy(*ranker, temperature);
  });
}

}  // namespace plackett::serving
