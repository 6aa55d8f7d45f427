#include "serving/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/attempt.h"

namespace plackett::serving {
namespace {

constexpr std::string_view kPrefix = "i-";

}  // namespace

Model::Model(ModelSpec given, const ModelRow& row)
    : spec(std::move(given)),
      names(feature_names(spec)),
      scaling(parse_scaling(spec.scaling).value()),
      id(row.id),
      created_at(row.created_at),
      items(spec.ranker.feature_count),
      next_number(row.next_number),
      reserved(row.next_number),
      due(row.expired),
      candidates(spec.logging.candidates),
      reserved_in_store(row.next_number),
      expired(row.expired),
      shown_marks(std::int64_t{spec.open_seconds} * 1000),
      dropped_log(row.dropped_log),
      has_references(spec.logging.candidates > 0),
      logging_(spec.logging) {}

std::uint64_t Model::update_due(std::int64_t elapsed) {
  due = std::max(due.load(), shown_marks.take_until(elapsed - open_ms()));
  return due;
}

std::optional<std::pair<std::uint64_t, std::int64_t>> Model::take_number() {
  std::int64_t node = 0;
  const auto number = in_flight.take([this, &node]() -> std::optional<std::uint64_t> {
    if (next_number >= reserved.load(std::memory_order_acquire)) {
      if (spare.begin == spare.end) return std::nullopt;
      use_spare();
    }
    node = number_node;
    ++numbers_taken;
    return next_number++;
  });
  if (!number) return std::nullopt;
  return std::pair(*number, node);
}

bool Model::has_numbers() const {
  return next_number < reserved || in_flight.hold([this] { return spare.begin < spare.end; });
}

void Model::use_spare() {
  next_number = spare.begin;
  reserved = spare.end;
  number_node = spare.node;
  number_since = spare_since;
  spare = {};
}

void Model::add_numbers(const NumberBlock& more, std::int64_t now) {
  numbers_told.reset();
  in_flight.hold([&] {
    if (next_number >= reserved && spare.begin < spare.end) use_spare();
    spare = more;
    spare_since = now;
    if (next_number >= reserved) use_spare();
  });
}

void Model::drop_numbers_of_others(std::int64_t node) {
  in_flight.hold([this, node] {
    if (number_node != node) next_number = reserved.load();
    if (spare.node != node) spare = {};
  });
}

void Model::drop_numbers() {
  in_flight.hold([this] {
    next_number = reserved.load();
    spare = {};
  });
}

void Model::drop_old_numbers(std::int64_t time) {
  in_flight.hold([&] {
    if (number_since <= time && spare.begin < spare.end) use_spare();
  });
}

std::int64_t Model::numbers_since() const {
  return in_flight.hold([this] { return next_number < reserved ? number_since : spare_since; });
}

std::uint64_t Model::numbers_left() const {
  return in_flight.hold([this] { return reserved - next_number + spare.end - spare.begin; });
}

ModelRow Model::marks() const {
  return {
      .id = id, .next_number = reserved_in_store, .expired = expired, .dropped_log = dropped_log};
}

std::uint64_t Model::numbers_used(std::uint64_t from, std::uint64_t to) const {
  const std::uint64_t begin = std::max(from, gap_begin);
  const std::uint64_t end = std::min(to, gap_end);
  return to - from - (begin < end ? end - begin : 0);
}

std::string impression_name(std::uint64_t number) { return fmt::format("{}{}", kPrefix, number); }

std::optional<std::uint64_t> impression_number(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (number >= ImpressionKey::kNumbers) return std::nullopt;
  // Every number has one name.
  if (name.size() > 1 && name.front() == '0') return std::nullopt;
  return number;
}

Result<std::uint64_t> first_number(std::string_view text) {
  if (text.empty()) return 0;
  const auto number = impression_number(
      text.starts_with(kPrefix) ? std::string(text) : fmt::format("{}{}", kPrefix, text));
  if (!number) return Error{fmt::format("{}: expected an impression, as in i-41", text)};
  return *number;
}

std::string arm_impression_name(std::uint64_t number, const Model& maker) {
  return fmt::format("{}{}@{}", kPrefix, number, maker.spec.name);
}

bool is_service_name(std::string_view name) {
  return impression_number(name.substr(0, name.find('@'))).has_value();
}

namespace {

// The list that an arm of one of the model's experiments made, if its name says so.
std::optional<FoundImpression> find_of_arm(const Model& model, std::string_view name) {
  const std::size_t at = name.find('@');
  const auto number = impression_number(name.substr(0, at));
  if (!number || at == std::string_view::npos) return std::nullopt;
  for (const ModelHandle& maker : model.arm_models()) {
    if (name.substr(at + 1) != maker->spec.name) continue;
    return FoundImpression{ImpressionKey{maker->id, *number}.id(), maker};
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<FoundImpression>> find_impression(StoreReader& store, const Model& model,
                                                       std::string_view name) {
  return attempt([&]() -> std::optional<FoundImpression> {
    if (const auto number = impression_number(name)) {
      return FoundImpression{ImpressionKey{model.id, *number}.id(), nullptr};
    }
    if (const auto id = take(store.given_id(model.id, name))) return FoundImpression{*id, nullptr};
    const auto is_of_model = [&](std::int64_t id) {
      const auto row = take(store.impression(id));
      return row && model.has_experiment(row->in.experiment);
    };
    if (auto found = find_of_arm(model, name); found && is_of_model(found->id)) return found;
    for (const ModelHandle& maker : model.arm_models()) {
      const auto id = take(store.given_id(maker->id, name));
      if (id && is_of_model(*id)) return FoundImpression{*id, maker};
    }
    return std::nullopt;
  });
}

std::vector<std::int64_t> with_arms(const Model& model) {
  std::vector<std::int64_t> ids{model.id};
  for (const ModelHandle& maker : model.arm_models()) ids.push_back(maker->id);
  return ids;
}

void add_touched(Touched& touched, const Model& model, const std::string& name) {
  if (const auto number = impression_number(name)) {
    touched.impressions.push_back(ImpressionKey{model.id, *number}.id());
    return;
  }
  if (const auto found = find_of_arm(model, name)) touched.impressions.push_back(found->id);
  touched.given.emplace_back(model.id, name);
  for (const ModelHandle& maker : model.arm_models()) touched.given.emplace_back(maker->id, name);
}

std::int64_t system_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const ModelSpec& spec_of(const Model& model) { return model.spec; }
const FeatureNames& names_of(const Model& model) { return model.names; }

}  // namespace plackett::serving
