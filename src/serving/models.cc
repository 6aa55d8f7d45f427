// Creates models and removes them, and their stored items.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "serving/model_spec.h"
#include "serving/service_parts.h"
#include "serving/trainer.h"

namespace plackett::serving {
namespace {

constexpr std::size_t kMostModels = 10'000;

// The model in the store; not served yet.
ModelHandle insert(const ServiceParts& parts, const ModelSpec& spec, Transaction& transaction) {
  const auto rows = take(transaction.store.read().models());
  if (rows.size() >= kMostModels) {
    throw Failed{
        {ErrorCode::kTooLarge, fmt::format("there are {} models; no more fit", rows.size())}};
  }
  ModelRow row{.name = spec.name,
               .created_at = transaction.now,
               .spec = to_json(spec),
               .next_number = parts.options.number_block};
  row.id = take(transaction.store.insert_model(row));
  auto model = std::make_shared<Model>(spec, row);
  model->next_number = 0;
  return model;
}

// The model is to be as `spec` says, which may differ from it in what is logged alone.
void update_logging(const ModelHandle& model, const ModelSpec& spec, Transaction& transaction) {
  ModelSpec now = model->spec;
  now.logging = spec.logging;
  if (!(now == spec)) {
    throw Failed{
        {ErrorCode::kConflict,
         fmt::format("model \"{}\" exists with another spec; only candidates and events can be "
                     "changed",
                     spec.name)}};
  }
  // Even if it is the same: an earlier job of the transaction may have changed it.
  take(transaction.store.set_model_spec(model->id, to_json(spec)));
}

}  // namespace

void submit_creation(ServiceParts& parts, ModelSpec spec,
                     std::function<void(Transaction&, const ModelHandle&)> more,
                     Done<CreatedModel> done) {
  // Here, on the caller's thread, so that the writer does not wait for it.
  auto trainer = std::make_shared<std::optional<Trainer>>();
  if (parts.find(spec.name) == nullptr) {
    auto started = Trainer::start(spec);
    if (!started) return done(started.error());
    *trainer = std::move(started).value();
  }
  const LogSettings logging = spec.logging;
  parts.writer->submit(job<CreatedModel>(
      [&parts, spec = std::move(spec), trainer, more = std::move(more)](Transaction& transaction) {
        CreatedModel created{parts.find(spec.name), false};
        if (created.model == nullptr) created.model = transaction.created[spec.name];
        if (created.model == nullptr) {
          if (!*trainer) {
            throw Failed{{ErrorCode::kConflict, "another request removed the model"}};
          }
          created = {insert(parts, spec, transaction), true};
          transaction.created[spec.name] = created.model;
        } else {
          update_logging(created.model, spec, transaction);
        }
        if (more) more(transaction, created.model);
        return created;
      },
      std::move(done),
      [&parts, trainer, logging](const CreatedModel& created) {
        if (!created.is_new) return created.model->set_logging(logging);
        parts.learner->adopt(created.model, std::move(**trainer));
        const std::unique_lock lock(parts.models_mutex);
        parts.models.emplace(created.model->spec.name, created.model);
      }));
}

void Service::create(ModelSpec spec, Done<Created> done) {
  auto checked = check(std::move(spec));
  if (!checked) return done(checked.error());
  submit_creation(*parts_, *std::move(checked), {},
                  [this, done](const Result<CreatedModel>& created) {
                    if (!created) return done(created.error());
                    done(Created{info(*created->model), created->is_new});
                  });
}

void Service::remove(const ModelHandle& model, Done<void> done) {
  ServiceParts& parts = *parts_;
  parts.writer->submit({.apply =
                            [model](Transaction& transaction) {
                              if (model->removed) throw Failed{model_removed()};
                              take(transaction.store.delete_model(model->id));
                            },
                        .committed =
                            [model, &parts] {
                              if (model->removed.exchange(true)) return;
                              parts.learner->forget(model);
                              parts.upkeep->add_removed(model->id);
                              const std::unique_lock lock(parts.models_mutex);
                              const auto found = parts.models.find(model->spec.name);
                              if (found != parts.models.end() && found->second == model)
                                parts.models.erase(found);
                            },
                        .answer = std::move(done)});
}

void Service::put_items(const ModelHandle& model, std::vector<std::string> ids,
                        AlignedVector<float> rows, Done<std::uint64_t> done) {
  struct Items {
    std::vector<std::string> ids;
    AlignedVector<float> rows;
    std::vector<std::int64_t> versions{};
  };
  auto items = std::make_shared<Items>(Items{std::move(ids), std::move(rows)});
  parts_->writer->submit(job<std::uint64_t>(
      [model, items](Transaction& transaction) {
        if (model->removed) throw Failed{model_removed()};
        const std::size_t bytes = model->spec.ranker.feature_count * sizeof(float);
        for (std::size_t at = 0; at < items->ids.size(); ++at) {
          const float* row = items->rows.data() + at * model->items.stride();
          // What is stored already needs no new version.
          if (const std::int64_t same = model->items.version_with(items->ids[at], row)) {
            items->versions.push_back(same);
            continue;
          }
          items->versions.push_back(take(transaction.store.put_item(
              model->id, items->ids[at], {reinterpret_cast<const std::byte*>(row), bytes},
              model->end_of_references())));
        }
        return std::uint64_t{0};
      },
      std::move(done),
      [model, items](std::uint64_t& stored) {
        model->items.put(items->ids, items->versions, items->rows);
        model->replaced_items = true;
        stored = model->items.count();
      }));
}

void Service::remove_item(const ModelHandle& model, const std::string& id, Done<void> done) {
  parts_->writer->submit(
      {.apply =
           [model, id](Transaction& transaction) {
             if (take(transaction.store.delete_item(model->id, id, model->end_of_references())))
               return;
             throw Failed{{ErrorCode::kNotFound, fmt::format("item \"{}\" is not stored", id)}};
           },
       .committed =
           [model, id] {
             model->items.remove(id);
             model->replaced_items = true;
           },
       .answer = std::move(done)});
}

}  // namespace plackett::serving
