// Calls that only read. They never wait for the writer; those that read the store take turns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "plackett/pairs.h"
#include "serving/impression.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// The linear weight of each feature, and the norm of its weights into the first layer.
void first_layer(const ModelSpec& spec, std::span<const float> parameters,
                 std::vector<FeatureWeight>& features) {
  const std::size_t count = spec.ranker.feature_count;
  const bool linear = spec.ranker.kind != RankerKind::kNeural;
  const bool network = has_network(spec.ranker.kind);
  const std::size_t units = network ? spec.ranker.hidden.front() : 0;
  const std::size_t offset = linear ? count : 0;
  for (std::size_t feature = 0; feature < count; ++feature) {
    double squares = 0;
    if (linear) {
      features[feature].weight = parameters[feature];
      squares += static_cast<double>(parameters[feature]) * parameters[feature];
    }
    for (std::size_t unit = 0; unit < units; ++unit) {
      const double weight = parameters[offset + feature * units + unit];
      squares += weight * weight;
    }
    features[feature].strength = std::sqrt(squares);
  }
}

std::vector<SeenPair> pairs_of(const Impression& impression,
                               const std::vector<std::byte>& clicked) {
  std::vector<SeenPair> pairs;
  SampledPart sampled;
  sampled.set(impression, clicked);
  if (impression.mode != Mode::kExplore || sampled.ranks.empty()) return pairs;
  PairInference inference;
  for (const WeightedPair& pair : inference.infer(sampled.ranking, sampled.clicks)) {
    pairs.push_back(
        {sampled.ranks[pair.winner_rank], sampled.ranks[pair.loser_rank], pair.rho, pair.weight});
  }
  return pairs;
}

}  // namespace

ModelInfo Service::info(const Model& model) const {
  const auto version = model.publication.latest();
  ModelInfo info;
  info.spec = model.spec;
  info.spec.logging = model.logging();
  info.created_at = model.created_at;
  info.version = version->number;
  info.updates = version->learner.updates;
  info.impressions = model.shown;
  info.learned = version->learned;
  if (!model.shared) info.open = model.open;
  info.items = model.items.count();
  info.parameters = version->ranker->parameter_count();
  info.learning = version->learning;
  info.frozen_because = version->frozen_because;
  info.serves = version->serves;
  if (const auto running = model.experiment.get()) info.experiment = running->spec.name;
  return info;
}

Result<std::vector<float>> Service::item(const Model& model, std::string_view id) const {
  AlignedVector<float> row(model.items.stride());
  const std::uint8_t given = 0;
  std::int64_t version = 0;
  model.items.gather({&id, 1}, {&given, 1}, row, {&version, 1});
  if (version == 0) {
    return Error{ErrorCode::kNotFound, fmt::format("item \"{}\" is not stored", id)};
  }
  return std::vector<float>(row.begin(), row.begin() + model.spec.ranker.feature_count);
}

Result<std::vector<SnapshotRow>> Service::snapshots(const Model& model) const {
  const std::lock_guard lock(parts_->reader_mutex);
  return parts_->reader->snapshots(model.id);
}

void Service::queue_read(std::function<void(const Result<void>& turn)> job) const {
  parts_->reads->submit(std::move(job));
}

Weights Service::weights(const Model& model) const {
  const auto version = model.publication.latest();
  std::vector<float> parameters(version->ranker->parameter_count());
  version->ranker->get_parameters(parameters);
  Weights weights;
  weights.version = version->number;
  weights.features.resize(model.spec.ranker.feature_count);
  for (std::size_t feature = 0; feature < weights.features.size(); ++feature) {
    weights.features[feature].feature = model.spec.feature_ids[feature];
    if (!model.spec.feature_names.empty()) {
      weights.features[feature].name = model.spec.feature_names[feature];
    }
  }
  first_layer(model.spec, parameters, weights.features);
  return weights;
}

std::vector<std::byte> Service::export_file(const Model& model) const {
  return serialise_model(saved_model(model.spec, *model.publication.latest()));
}

Result<Stats> Service::stats(const Model& model, std::uint32_t points) const {
  constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
  constexpr std::int64_t kStepMs = kSeriesSeconds * 1000;
  const std::lock_guard lock(parts_->reader_mutex);
  StoreReader& reader = *parts_->reader;
  const std::int64_t now = parts_->options.clock();
  return attempt([&] {
    Stats stats;
    stats.first_day = take(reader.series_total(model.id, 0, model.created_at + kDayMs));
    stats.total = take(reader.series_total(model.id, 0, now + kDayMs));
    // The finest steps that give so many points.
    const std::int64_t span = std::max<std::int64_t>(now - stats.total.at, kStepMs);
    const std::int64_t steps = (span / kStepMs + points) / points;
    stats.step_seconds = static_cast<std::uint32_t>(steps) * kSeriesSeconds;
    stats.points = take(reader.series(model.id, steps * kStepMs));
    return stats;
  });
}

namespace {

// Names of experiments by id, read when the first is asked for.
class ExperimentNames {
 public:
  // Empty if there is none with that id.
  std::string of(StoreReader& reader, std::int64_t id) {
    if (id == 0) return {};
    if (!names_) {
      names_.emplace();
      for (ExperimentRow& row : take(reader.experiments())) (*names_)[row.id] = std::move(row.name);
    }
    const auto found = names_->find(id);
    return found == names_->end() ? std::string() : found->second;
  }

 private:
  std::optional<std::map<std::int64_t, std::string>> names_;
};

std::optional<SeenImpression> see(StoreReader& reader, const Model& model, std::int64_t id,
                                  std::int64_t now, ExperimentNames& experiments) {
  auto kept = take(read_impression(reader, id, Rows::kSkip));
  if (!kept) return std::nullopt;
  constexpr std::array<std::string_view, 4> kStates{"open", "learned", "expired", "closed"};
  const std::uint64_t number = ImpressionKey::of(id).number;
  ResponseRow response = take(reader.response(id)).value_or(ResponseRow{});
  response.clicked.resize(kept->impression.shown.size());
  response.viewed.resize(kept->impression.shown.size());
  const bool is_due = response.closed == Closed::kNo && model.is_due(number, kept->shown_at, now);
  const Closed closed = is_due ? Closed::kExpired : response.closed;
  auto pairs = pairs_of(kept->impression, response.clicked);
  std::string experiment = experiments.of(reader, kept->in.experiment);
  return SeenImpression{kept->given.empty() ? impression_name(number) : kept->given,
                        std::string(kStates.at(static_cast<std::size_t>(closed))),
                        *std::move(kept),
                        std::move(response),
                        std::move(pairs),
                        std::move(experiment)};
}

}  // namespace

namespace {

std::vector<SeenImpression> see_all(StoreReader& reader, const Model& model,
                                    const std::vector<std::int64_t>& ids, std::int64_t now) {
  std::vector<SeenImpression> impressions;
  ExperimentNames names;
  for (const std::int64_t id : ids) {
    if (auto seen = see(reader, model, id, now, names)) impressions.push_back(*std::move(seen));
  }
  return impressions;
}

}  // namespace

Result<std::vector<SeenImpression>> Service::impressions(const Model& model, std::uint32_t limit,
                                                         bool clicked_only) const {
  const std::lock_guard lock(parts_->reader_mutex);
  StoreReader& reader = *parts_->reader;
  return attempt([&] {
    return see_all(reader, model, take(reader.recent(model.id, limit, clicked_only)),
                   parts_->options.clock());
  });
}

Result<ImpressionPage> Service::impressions_from(const Model& model, std::uint64_t number,
                                                 std::uint32_t limit) const {
  const std::lock_guard lock(parts_->reader_mutex);
  StoreReader& reader = *parts_->reader;
  // A list with a lower number may still be on its way to the store.
  return attempt([&] {
    const std::uint64_t end = parts_->cluster == nullptr
                                  ? model.in_flight.end_of_stored(model.next_number)
                                  : take(reader.end_of_stored(model.id));
    auto ids = take(reader.from(model.id, number, limit));
    std::erase_if(ids, [&](std::int64_t id) { return ImpressionKey::of(id).number >= end; });
    ImpressionPage page{see_all(reader, model, ids, parts_->options.clock()), number};
    if (!ids.empty()) page.next = ImpressionKey::of(ids.back()).number + 1;
    return page;
  });
}

Result<SeenImpression> Service::impression(const Model& model, std::string_view id) const {
  const std::lock_guard lock(parts_->reader_mutex);
  return attempt([&] {
    const auto found = take(find_impression(*parts_->reader, model, id));
    const Model& maker = found && found->maker != nullptr ? *found->maker : model;
    ExperimentNames names;
    auto seen = found ? see(*parts_->reader, maker, found->id, parts_->options.clock(), names)
                      : std::nullopt;
    if (!seen) throw Failed{{ErrorCode::kNotFound, fmt::format("unknown impression \"{}\"", id)}};
    if (&maker != &model) seen->id = std::string(id);
    return *std::move(seen);
  });
}

std::optional<NodesInfo> Service::nodes() const {
  if (parts_->cluster == nullptr) return std::nullopt;
  const ClusterView view = parts_->cluster->view();
  NodesInfo info{.node = view.node, .lag_seconds = parts_->cluster->lag_seconds()};
  std::map<std::int64_t, std::string> names;
  for (const ModelHandle& model : parts_->all_models()) names[model->id] = model->spec.name;
  for (const NodeRow& row : view.nodes) {
    NodesInfo::Node& node = info.nodes.emplace_back(NodesInfo::Node{row});
    for (const ModelMark& mark : view.models) {
      if (mark.led && mark.leader == row.id) node.leads.push_back(names[mark.model]);
    }
    std::sort(node.leads.begin(), node.leads.end());
  }
  return info;
}

ServiceMeters Service::meters() const {
  ServiceMeters meters;
  for (const ModelHandle& model : parts_->all_models()) {
    ModelMeters of{info(*model)};
    for (std::size_t status = 0; status < kFeedbackStatuses; ++status) {
      of.events[status] = model->events[status];
      of.clicks[status] = model->clicks[status];
    }
    of.update_norm = model->update_norm;
    of.entropy = model->entropy;
    meters.models.push_back(std::move(of));
  }
  meters.writer_queue = parts_->writer->queued();
  meters.store_lag_seconds = parts_->writer->lag_seconds();
  meters.learning_queue = parts_->learner->queued();
  meters.learning_lag_seconds = parts_->learner->lag_seconds();
  meters.commits = parts_->writer->commits();
  meters.commit_seconds = parts_->writer->commit_seconds();
  meters.syncs = meters.commits;
  meters.sync_seconds = parts_->writer->sync_seconds();
  meters.write_failures = parts_->writer->failures();
  meters.store_bytes = parts_->store->disk_bytes();
  meters.nodes = nodes();
  return meters;
}

}  // namespace plackett::serving
