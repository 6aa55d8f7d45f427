// Starts models from what was learned or chosen elsewhere: model files, and weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "plackett/method.h"
#include "serving/service_parts.h"
#include "serving/warm_start.h"

namespace plackett::serving {
namespace {

// A model of the spec that starts with these parameters, its learner without a past.
Result<SavedModel> started_with(const ModelSpec& spec, std::span<const float> parameters) {
  auto learner = make_learner_of(spec);
  if (!learner) return learner.error();
  (*learner)->set_parameters(parameters);
  SavedModel model;
  model.ranker = spec.ranker;
  model.feature_ids = spec.feature_ids;
  model.scaling = spec.scaling;
  model.parameters.assign(parameters.begin(), parameters.end());
  model.learner = (*learner)->state();
  model.settings = saved_settings(spec.learner, spec.settings);
  return model;
}

// The same with one weight per feature. A network beside them starts with an output of 0, so that
// the scores are those of the weights.
Result<SavedModel> started_with_weights(const ModelSpec& spec, std::span<const float> weights) {
  if (spec.ranker.kind == RankerKind::kNeural) {
    return Error{ErrorCode::kConflict,
                 "a neural ranker has no weights of features; linear and linear+neural have"};
  }
  auto learner = make_learner_of(spec);
  if (!learner) return learner.error();
  const Ranker& ranker = (*learner)->ranker();
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  std::copy(weights.begin(), weights.end(), parameters.begin());
  if (has_network(spec.ranker.kind)) {
    std::fill_n(parameters.rbegin(), spec.ranker.hidden.back(), 0.0F);  // the last layer's
  }
  return started_with(spec, parameters);
}

bool same_shape(const RankerSpec& left, const RankerSpec& right) {
  return left.kind == right.kind &&
         (!has_network(left.kind) ||
          (left.hidden == right.hidden && left.activation == right.activation));
}

}  // namespace

Result<SavedModel> adapted(const ModelSpec& spec, SavedModel file) {
  const auto refuse = [](std::string message) {
    return Error{ErrorCode::kConflict, "model file: " + std::move(message)};
  };
  if (file.ranker.feature_count != spec.ranker.feature_count) {
    return refuse(fmt::format("its feature count is {}; this model's is {}",
                              file.ranker.feature_count, spec.ranker.feature_count));
  }
  if (file.scaling != spec.scaling) {
    return refuse(
        fmt::format("its scaling is {}; this model's is {}. Import it as a new model, or "
                    "state with ?scaling={} that its weights are for features of that "
                    "scaling",
                    file.scaling, spec.scaling, spec.scaling));
  }
  if (same_shape(file.ranker, spec.ranker)) {
    if (file.learner.method == spec.learner) return file;
    return started_with(spec, file.parameters);
  }
  if (file.ranker.kind == RankerKind::kLinear &&
      spec.ranker.kind == RankerKind::kLinearPlusNeural) {
    return started_with_weights(spec, file.parameters);
  }
  if (file.ranker.kind == spec.ranker.kind) {
    return refuse("the shape of its network differs from this model's");
  }
  return refuse(fmt::format(
      "its ranker is {}; this model's is {}, which can start from {} one",
      name_of(file.ranker.kind), name_of(spec.ranker.kind),
      spec.ranker.kind == RankerKind::kLinearPlusNeural ? "the same or a linear" : "the same"));
}

std::int64_t insert_imported(Transaction& transaction, const Model& model, const SavedModel& loaded,
                             std::string note) {
  SnapshotRow row;
  row.model = model.id;
  row.created_at = transaction.now;
  row.kind = SnapshotKind::kImported;
  row.note = std::move(note);
  row.updates = loaded.learner.updates;
  row.learned = loaded.learner.impressions;
  row.file = serialise_model(loaded);
  return take(transaction.store.insert_snapshot(row));
}

namespace {

// Throws Failed: what is larger can't rank, since scores would not be finite.
void check_size(std::span<const float> parameters) {
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    if (std::abs(parameters[at]) <= kMostWeight) continue;
    throw Failed{
        {ErrorCode::kInvalid,
         fmt::format("model file: parameter {} is {}; expected numbers from {:.0e} to {:.0e}",
                     at + 1, parameters[at], -kMostWeight, kMostWeight)}};
  }
}

// The spec of a new model that the file fills.
ModelSpec spec_for(std::string name, const SavedModel& file, const ImportOptions& options) {
  ModelSpec spec;
  spec.name = std::move(name);
  spec.ranker = file.ranker;
  spec.feature_ids = file.feature_ids;
  spec.scaling = file.scaling;
  spec.learner = options.learner.empty() ? file.learner.method : options.learner;
  if (spec.learner == file.learner.method) spec.settings = settings_of(file);
  spec.logging.candidates = kDefaultCandidates;
  return spec;
}

// The change that loads the model, as a snapshot that the log returns to. If that ends what was
// learned, another snapshot keeps it: its note is `before`.
std::function<void(Transaction&, const ModelHandle&)> loading(SavedModel loaded,
                                                              std::string before) {
  return [loaded = std::move(loaded), before = std::move(before)](Transaction& transaction,
                                                                  const ModelHandle& model) {
    transaction.lead(model);
    if (const auto version = model->publication.latest(); version && version->learned > 0) {
      insert_imported(transaction, *model, saved_model(model->spec, *version), before);
    }
    take(transaction.log(model, LogKind::kRollback,
                         insert_imported(transaction, *model, loaded, "")));
  };
}

}  // namespace

void Service::import_file(std::string name, std::vector<std::byte> file, ImportOptions options,
                          Done<ModelInfo> done) {
  auto made = attempt([&] {
    SavedModel parsed = take(parse_model(file, {.name = "model file"}));
    check_size(parsed.parameters);
    if (!options.scaling.empty()) parsed.scaling = name_of(take(parse_scaling(options.scaling)));
    ModelSpec spec;
    if (const ModelHandle existing = find(name)) {
      if (!options.learner.empty() && options.learner != existing->spec.learner) {
        throw Failed{
            {ErrorCode::kConflict,
             fmt::format("the model exists, and its learner is {}", existing->spec.learner),
             "learner"}};
      }
      spec = info(*existing).spec;
    } else {
      spec = take(check(spec_for(std::move(name), parsed, options)));
    }
    SavedModel fitting = take(adapted(spec, std::move(parsed)));
    return std::pair(std::move(spec), std::move(fitting));
  });
  if (!made) return done(made.error());
  WantedModel wanted(std::move(made->first));
  wanted.candidates_given = wanted.events_given = false;
  const auto submit =
      [this, wanted, load = loading(std::move(made->second), "before a file was imported"), done] {
        submit_creation(*parts_, wanted, load, [this, done](const Result<CreatedModel>& created) {
          done(created ? Result<ModelInfo>(info(*created->model)) : created.error());
        });
      };
  if (const ModelHandle existing = find(wanted.spec.name)) {
    return with_lead(*parts_, existing, done, submit);
  }
  submit();
}

void Service::set_weights(const ModelHandle& model, const std::vector<float>& weights,
                          Done<ModelInfo> done) {
  auto started = started_with_weights(model->spec, weights);
  if (!started) return done(started.error());
  const auto apply = [model, load = loading(*std::move(started), "before weights were set")](
                         Transaction& transaction) { load(transaction, model); };
  with_lead(*parts_, model, done, [this, model, apply, done] {
    parts_->writer->submit(logging_job(*this, model, apply, done));
  });
}

}  // namespace plackett::serving
