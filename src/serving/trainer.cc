#include "serving/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/attempt.h"
#include "plackett/method.h"
#include "serving/model.h"

namespace plackett::serving {

Result<Trainer> Trainer::start(const ModelSpec& spec) {
  auto learner = make_learner_of(spec);
  if (!learner) return learner.error();
  Trainer trainer;
  trainer.spec_ = spec;
  trainer.learner_ = std::move(learner).value();
  trainer.learning_rate_ = trainer.learner_->state().learning_rate;
  trainer.before_.resize(trainer.learner_->ranker().parameter_count());
  trainer.after_.resize(trainer.before_.size());
  return trainer;
}

Result<SavedModel> fitting_model(const ModelSpec& spec, std::span<const std::byte> file) {
  auto model = parse_model(file, {});
  if (!model) return model.error();
  const auto differs = [](std::string_view what, const auto& has, const auto& wanted) {
    return Error{fmt::format("model: its {} is {}; this model's is {}", what, has, wanted)};
  };
  if (model->ranker.feature_count != spec.ranker.feature_count) {
    return differs("feature count", model->ranker.feature_count, spec.ranker.feature_count);
  }
  if (model->ranker.kind != spec.ranker.kind) {
    return differs("ranker", name_of(model->ranker.kind), name_of(spec.ranker.kind));
  }
  if (model->learner.method != spec.learner) {
    return differs("learner", model->learner.method, spec.learner);
  }
  if (model->scaling != spec.scaling) return differs("scaling", model->scaling, spec.scaling);
  if (has_network(spec.ranker.kind) && (model->ranker.hidden != spec.ranker.hidden ||
                                        model->ranker.activation != spec.ranker.activation)) {
    return Error{"model: the shape of its network differs from this model's"};
  }
  return model;
}

Result<void> Trainer::load(const std::vector<std::byte>& file) {
  auto model = fitting_model(spec_, file);
  if (!model) return model.error();
  learner_->ranker().set_parameters(model->parameters);
  model->learner.learning_rate = learning_rate_;
  learner_->restore(model->learner);
  learned_ = model->learner.impressions;
  return {};
}

Result<void> Trainer::restore(const SnapshotRow& snapshot) {
  if (auto loaded = load(snapshot.file); !loaded) return loaded;
  version_ = snapshot.version;
  learning_ = snapshot.learning;
  frozen_because_ = snapshot.frozen_because;
  serves_ = snapshot.serves;
  last_log_ = snapshot.log;
  return {};
}

void Trainer::freeze(std::string why) {
  learning_ = false;
  frozen_because_ = std::move(why);
}

void Trainer::miss(const LogEntry& entry, std::string_view what) {
  freeze(fmt::format("log entry {}: {}", entry.seq, what));
  missing_.push_back(frozen_because_);
}

std::size_t read_ahead(StoreReader& store, std::span<const LogEntry> entries) {
  constexpr std::size_t kMost = 256;  // lists of 100 kB fit into the memory, too
  std::vector<std::int64_t> impressions;
  const std::span first = entries.first(std::min(entries.size(), kMost));
  for (const LogEntry& entry : first) {
    const bool is_learned = entry.kind == LogKind::kLearn || entry.kind == LogKind::kExpire;
    if (is_learned) impressions.push_back(entry.argument);
  }
  [[maybe_unused]] const auto read = store.read_ahead(impressions);
  return first.size();
}

Result<double> Trainer::apply(const LogEntry& entry, StoreReader& store) {
  return attempt([&] {
    const double norm = apply_to_model(entry, store);
    ++version_;
    last_log_ = entry.seq;
    return norm;
  });
}

double Trainer::apply_to_model(const LogEntry& entry, StoreReader& store) {
  switch (entry.kind) {
    case LogKind::kLearn:
    case LogKind::kExpire:
      if (!learning_) return 0;
      return learn(entry, store);
    case LogKind::kRollback:
      load_snapshot(entry, store);
      return 0;
    case LogKind::kServeExplore:
    case LogKind::kServeGiven:
    case LogKind::kServeExploit:
      serves_ = entry.kind == LogKind::kServeGiven     ? Mode::kGiven
                : entry.kind == LogKind::kServeExploit ? Mode::kExploit
                                                       : Mode::kExplore;
      if (entry.argument != 0) load_snapshot(entry, store);
      return 0;
    case LogKind::kFreeze:
      freeze(std::string(kFrozenAsAsked));
      return 0;
    case LogKind::kResume:
      learning_ = true;
      frozen_because_.clear();
      return 0;
  }
  miss(entry, fmt::format("its kind {} is unknown", static_cast<int>(entry.kind)));
  return 0;
}

void Trainer::load_snapshot(const LogEntry& entry, StoreReader& store) {
  const auto snapshot = take(store.snapshot(entry.argument));
  if (!snapshot) {
    miss(entry, fmt::format("snapshot {} is missing", entry.argument));
  } else if (auto loaded = load(snapshot->file); !loaded) {
    miss(entry, fmt::format("snapshot {}: {}", entry.argument, loaded.error().message));
  }
}

// The parameters, and the learner's memory.
bool Trainer::is_finite() {
  const auto finite = [](float value) { return std::isfinite(value); };
  const LearnerState state = learner_->state();
  return std::all_of(after_.begin(), after_.end(), finite) &&
         std::all_of(state.memory.begin(), state.memory.end(), finite);
}

double Trainer::learn(const LogEntry& entry, StoreReader& store) {
  const auto kept = take(read_impression(store, entry.argument));
  const auto response = take(store.response(entry.argument));
  const auto miss_impression = [&](std::string_view what) {
    const std::uint64_t number = ImpressionKey::of(entry.argument).number;
    miss(entry, fmt::format("impression {} {}", impression_name(number), what));
    return 0.0;
  };
  if (!kept || !response) return miss_impression("is missing or damaged");
  const Impression& impression = kept->impression;
  const std::uint32_t count = impression.sampled_count();
  if (impression.rows.empty() || impression.feature_count != spec_.ranker.feature_count ||
      response->clicked.size() != impression.shown.size()) {
    return miss_impression("does not fit the model");
  }
  ++learned_;
  sampled_.set(impression, response->clicked);
  if (std::count(sampled_.clicks.begin(), sampled_.clicks.end(), 1) == 0) return 0;

  Ranker& ranker = learner_->ranker();
  ranker.get_parameters(before_);
  const LearnerState stood = learner_->state();
  learner_->learn(FeatureView(impression.rows.data(), count, impression.feature_count),
                  sampled_.ranking, sampled_.clicks);
  ranker.get_parameters(after_);
  if (!is_finite()) {
    ranker.set_parameters(before_);
    learner_->restore(stood);
    freeze("a parameter is not finite");
    return 0;
  }
  double squares = 0;
  for (std::size_t at = 0; at < after_.size(); ++at) {
    const double change = static_cast<double>(after_[at]) - static_cast<double>(before_[at]);
    squares += change * change;
  }
  return std::sqrt(squares);
}

std::shared_ptr<const Version> Trainer::version() const {
  auto version = std::make_shared<Version>();
  version->number = version_;
  version->log = last_log_;
  version->ranker = learner_->ranker().clone();
  const bool same = &learner_->explorer() == &learner_->ranker();
  version->explorer = same ? version->ranker : learner_->explorer().clone();
  version->learner = learner_->state();
  version->learned = learned_;
  version->learning = learning_;
  version->frozen_because = frozen_because_;
  version->serves = serves_;
  return version;
}

SavedModel Trainer::saved() const { return saved_model(spec_, *version()); }

SavedModel saved_model(const ModelSpec& spec, const Version& version) {
  SavedModel model;
  model.ranker = spec.ranker;
  model.feature_ids = spec.feature_ids;
  model.scaling = spec.scaling;
  model.parameters.resize(version.ranker->parameter_count());
  version.ranker->get_parameters(model.parameters);
  model.learner = version.learner;
  model.learner.impressions = version.learned;
  model.settings = saved_settings(spec.learner, spec.settings);
  return model;
}

SnapshotRow Trainer::snapshot() const {
  SnapshotRow row;
  row.log = last_log_;
  row.version = version_;
  row.learned = learned_;
  row.learning = learning_;
  row.frozen_because = frozen_because_;
  row.serves = serves_;
  const SavedModel model = saved();
  row.updates = model.learner.updates;
  row.file = serialise_model(model);
  return row;
}

}  // namespace plackett::serving
