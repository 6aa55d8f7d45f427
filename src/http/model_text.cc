#include "http/model_text.h"

#include <charconv>

#include "plackett/method.h"

namespace plackett::http {
namespace {

using serving::ModelSpec;

// As given, or the learner's own.
double learning_rate(const ModelSpec& spec) {
  const auto method = find_method(spec.learner);
  if (!method) return 0;
  const auto values = SettingValues::make(method.value()->settings, spec.settings);
  return values ? values->number(kLearningRate) : 0;
}

// Numbers as numbers, other settings as text.
void write_settings(JsonWriter& json, const ModelSpec& spec) {
  for (const auto& [name, value] : spec.settings) {
    if (name == kLearningRate) continue;
    double number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error == std::errc() && stop == end) {
      json.fields(name, number);
    } else {
      json.fields(name, value);
    }
  }
}

void write_events(JsonWriter& json, const ModelSpec& spec) {
  for (const serving::NamedWeight& event : spec.logging.events) {
    json.fields(event.name, event.weight);
  }
}

// Null if there is nothing to average.
std::optional<double> mean(double sum, std::uint64_t count) {
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

void write_totals(JsonWriter& json, const serving::SeriesRow& totals) {
  json.fields("impressions", totals.impressions, "clicked", totals.clicked, "clicks", totals.clicks,
              "ctr", mean(static_cast<double>(totals.clicked), totals.impressions), "mrr",
              mean(totals.reciprocal_ranks, totals.clicked));
}

}  // namespace

void write_json(JsonWriter& json, const serving::ModelInfo& info) {
  const ModelSpec& spec = info.spec;
  const RankerSpec& ranker = spec.ranker;
  const auto names = spec.feature_names.empty() ? std::nullopt : std::optional(spec.feature_names);
  const auto hidden = has_network(ranker.kind) ? ranker.hidden : decltype(ranker.hidden)();
  const auto frozen_because =
      null_if_empty(info.learning ? std::string_view() : info.frozen_because);
  json.object(
      "name", spec.name, "features", ranker.feature_count, "feature_names", names,  //
      "ranker", name_of(ranker.kind), "hidden", hidden,                             //
      "activation", name_of(ranker.activation), "learner", spec.learner,            //
      "settings", [&] { json.object([&] { write_settings(json, spec); }); },        //
      "learning_rate", learning_rate(spec), "k", spec.shown, "scaling", spec.scaling, "seed",
      spec.seed, "temperature", spec.temperature,                                //
      "open_seconds", spec.open_seconds, "candidates", spec.logging.candidates,  //
      "events", [&] { json.object([&] { write_events(json, spec); }); },         //
      "created_at", info.created_at,                                             //
      "version", info.version, "updates", info.updates,                          //
      "impressions", info.impressions, "learned", info.learned,                  //
      "open", info.open, "items", info.items, "parameters", info.parameters,     //
      "learning", info.learning, "frozen_because", frozen_because,               //
      "serves", name_of(info.serves), "experiment", null_if_empty(info.experiment));
}

void write_json(JsonWriter& json, const serving::SnapshotRow& snapshot) {
  json.object("id", snapshot.id, "created_at", snapshot.created_at, "updates", snapshot.updates,
              "learned", snapshot.learned, "kind", name_of(snapshot.kind), "note",
              snapshot.note,  //
              "log", snapshot.log);
}

void write_json(JsonWriter& json, const serving::FeatureWeight& weight) {
  json.object([&] {
    json.fields("feature", weight.feature, "name", null_if_empty(weight.name));
    if (weight.weight) json.fields("weight", *weight.weight);
    json.fields("strength", weight.strength);
  });
}

void write_json(JsonWriter& json, const serving::Stats& stats) {
  const auto write_point = [&](const serving::SeriesRow& point) {
    json.object([&] {
      json.fields("at", point.at);
      write_totals(json, point);
      json.fields("entropy", mean(point.entropies, point.impressions),  //
                  "updates", point.updates,                             //
                  "update_norm", mean(point.update_norms, point.updates));
    });
  };
  const auto totals = [&](const serving::SeriesRow& all) {
    return [&] { json.object([&] { write_totals(json, all); }); };
  };
  json.object("step_seconds", stats.step_seconds, "first_day", totals(stats.first_day),  //
              "total", totals(stats.total),                                              //
              "points", [&] { json.array(stats.points, write_point); });
}

void write_json(JsonWriter& json, const serving::SeenImpression& seen) {
  const serving::Impression& impression = seen.kept.impression;
  const auto& items = impression.shown;
  const auto propensities = impression.propensities();
  const auto write_item = [&, rank = std::size_t{0}](const serving::ShownItem& item) mutable {
    const auto is_marked = [&](const auto& marks) { return marks[rank] != std::byte{0}; };
    json.object("id", null_if_empty(item.id), "rank", rank + 1, "score", item.score,  //
                "propensity", propensities[rank], "pinned", item.pinned,              //
                "clicked", is_marked(seen.response.clicked), "viewed",
                is_marked(seen.response.viewed));
    ++rank;
  };
  const auto write_pair = [&](const serving::SeenPair& pair) {
    json.object("winner", null_if_empty(items[pair.winner].id), "loser",
                null_if_empty(items[pair.loser].id), "rho", pair.rho, "weight", pair.weight);
  };
  const auto context = null_if_empty(impression.context);  // was checked when it arrived
  json.object(
      "impression", seen.id, "shown_at", seen.kept.shown_at, "model_version", seen.kept.version,  //
      "mode", name_of(impression.mode), "state", seen.state,                                      //
      "experiment", null_if_empty(seen.experiment), "arm", null_if_empty(seen.kept.in.arm),       //
      "unit", null_if_empty(seen.kept.unit), "candidates_kept", impression.kept,                  //
      "items", [&] { json.array(items, write_item); },                                            //
      "log_probability", impression.log_probability, "entropy", impression.entropy,               //
      "context", RawJson{context.value_or("null")},                                               //
      "pairs", [&] { json.array(seen.pairs, write_pair); });
}

}  // namespace plackett::http
