#include "http/model_text.h"

#include <charconv>

#include "plackett/method.h"

namespace plackett::http {
namespace {

using serving::ModelSpec;

void write_setting(JsonWriter& json, const std::string& value) {
  double number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && stop == end) {
    json.value(number);
  } else {
    json.value(std::string_view(value));
  }
}

// As given, or the learner's own.
double learning_rate(const ModelSpec& spec) {
  const auto method = find_method(spec.learner);
  if (!method) return 0;
  const auto values = SettingValues::make(method.value()->settings, spec.settings);
  return values ? values->number(kLearningRate) : 0;
}

void write_spec(JsonWriter& json, const ModelSpec& spec) {
  json.field("name", spec.name);
  json.field("features", spec.ranker.feature_count);
  json.key("feature_names");
  if (spec.feature_names.empty()) {
    json.null();
  } else {
    json.begin_array();
    for (const std::string& name : spec.feature_names) json.value(std::string_view(name));
    json.end_array();
  }
  json.field("ranker", name_of(spec.ranker.kind));
  json.key("hidden");
  json.begin_array();
  if (has_network(spec.ranker.kind)) {
    for (const std::uint32_t units : spec.ranker.hidden) json.value(units);
  }
  json.end_array();
  json.field("activation", name_of(spec.ranker.activation));
  json.field("learner", spec.learner);
  json.key("settings");
  json.begin_object();
  for (const GivenSetting& setting : spec.settings) {
    if (setting.name == kLearningRate) continue;
    json.key(setting.name);
    write_setting(json, setting.value);
  }
  json.end_object();
  json.field("learning_rate", learning_rate(spec));
  json.field("k", spec.shown);
  json.field("scaling", spec.scaling);
  json.field("seed", spec.seed);
  json.field("temperature", spec.temperature);
  json.field("open_seconds", spec.open_seconds);
}

// null where there is nothing to average.
void write_mean(JsonWriter& json, std::string_view key, double sum, std::uint64_t count) {
  json.key(key);
  if (count == 0) {
    json.null();
  } else {
    json.value(sum / static_cast<double>(count));
  }
}

void write_totals(JsonWriter& json, const serving::Totals& totals) {
  json.field("impressions", totals.impressions);
  json.field("clicked", totals.clicked);
  json.field("clicks", totals.clicks);
  write_mean(json, "ctr", static_cast<double>(totals.clicked), totals.impressions);
  write_mean(json, "mrr", totals.reciprocal_ranks, totals.clicked);
}

}  // namespace

void write_model(JsonWriter& json, const serving::ModelInfo& info) {
  json.begin_object();
  write_spec(json, info.spec);
  json.field("created_at", info.created_at);
  json.field("version", info.version);
  json.field("updates", info.updates);
  json.field("impressions", info.impressions);
  json.field("learned", info.learned);
  json.field("open", info.open);
  json.field("items", info.items);
  json.field("parameters", info.parameters);
  json.field("learning", info.learning);
  json.key("frozen_because");
  if (info.learning || info.frozen_because.empty()) {
    json.null();
  } else {
    json.value(std::string_view(info.frozen_because));
  }
  json.end_object();
}

void write_snapshot(JsonWriter& json, const serving::SnapshotInfo& snapshot) {
  json.begin_object();
  json.field("id", snapshot.id);
  json.field("created_at", snapshot.created_at);
  json.field("updates", snapshot.updates);
  json.field("learned", snapshot.learned);
  json.field("kind", snapshot.kind);
  json.field("note", snapshot.note);
  json.field("log", snapshot.log);
  json.end_object();
}

void write_weights(JsonWriter& json, const serving::Weights& weights, std::string_view ranker) {
  json.begin_object();
  json.field("version", weights.version);
  json.field("ranker", ranker);
  json.key("weights");
  json.begin_array();
  for (const serving::FeatureWeight& one : weights.features) {
    json.begin_object();
    json.field("feature", one.feature);
    json.key("name");
    if (one.name.empty()) {
      json.null();
    } else {
      json.value(std::string_view(one.name));
    }
    if (one.weight) json.field("weight", *one.weight);
    json.field("strength", one.strength);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_stats(JsonWriter& json, const serving::Stats& stats) {
  json.begin_object();
  json.field("step_seconds", stats.step_seconds);
  json.key("first_day");
  json.begin_object();
  write_totals(json, stats.first_day);
  json.end_object();
  json.key("total");
  json.begin_object();
  write_totals(json, stats.total);
  json.end_object();
  json.key("points");
  json.begin_array();
  for (const serving::StatsPoint& point : stats.points) {
    json.begin_object();
    json.field("at", point.at);
    write_totals(json, point.totals);
    write_mean(json, "entropy", point.entropies, point.totals.impressions);
    json.field("updates", point.updates);
    write_mean(json, "update_norm", point.update_norms, point.updates);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_impression(JsonWriter& json, const serving::SeenImpression& impression) {
  json.begin_object();
  json.field("impression", impression.id);
  json.field("shown_at", impression.shown_at);
  json.field("model_version", impression.model_version);
  json.field("mode", impression.exploit ? "exploit" : "explore");
  json.field("state", impression.state);
  json.key("items");
  json.begin_array();
  for (std::size_t rank = 0; rank < impression.items.size(); ++rank) {
    const serving::SeenItem& item = impression.items[rank];
    json.begin_object();
    json.field("id", item.id);
    json.field("rank", rank + 1);
    json.field("score", item.score);
    json.field("pinned", item.pinned);
    json.field("clicked", item.clicked);
    json.field("viewed", item.viewed);
    json.end_object();
  }
  json.end_array();
  json.field("log_probability", impression.log_probability);
  json.field("entropy", impression.entropy);
  json.key("context");
  if (impression.context.empty()) {
    json.null();
  } else {
    json.raw(impression.context);  // was checked when it came
  }
  json.key("pairs");
  json.begin_array();
  for (const serving::SeenPair& pair : impression.pairs) {
    if (pair.winner >= impression.items.size() || pair.loser >= impression.items.size()) continue;
    json.begin_object();
    json.field("winner", impression.items[pair.winner].id);
    json.field("loser", impression.items[pair.loser].id);
    json.field("rho", pair.rho);
    json.field("weight", pair.weight);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace plackett::http
