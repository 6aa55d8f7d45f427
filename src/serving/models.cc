// Creates models and removes them, and their stored items.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include "serving/model_spec.h"
#include "serving/service_parts.h"
#include "serving/trainer.h"

namespace plackett::serving {
namespace {

constexpr std::size_t kMostModels = 10'000;

}  // namespace

void check_room(StoreReader& store, std::size_t more) {
  const auto rows = take(store.models());
  if (rows.size() + more <= kMostModels) return;
  throw Failed{
      {ErrorCode::kTooLarge, fmt::format("there are {} models; no more fit", rows.size())}};
}

ModelHandle insert_model(const ServiceParts& parts, const ModelSpec& spec,
                         Transaction& transaction) {
  check_room(transaction.store.read(), 1);
  ModelRow row{.name = spec.name,
               .created_at = transaction.now,
               .spec = to_json(spec),
               .next_number = parts.cluster == nullptr ? parts.options.number_block : 0};
  row.id = take(transaction.store.insert_model(row));
  auto model = std::make_shared<Model>(spec, row);
  model->next_number = 0;
  if (parts.cluster != nullptr) {
    model->shared = true;
    model->reserved = model->reserved_in_store = 0;  // blocks are for one node each
  }
  return model;
}

void serve_model(ServiceParts& parts, const ModelHandle& model, Trainer trainer) {
  parts.learner->adopt(model, std::move(trainer));
  if (parts.cluster != nullptr) parts.cluster->add_new(model);
  const std::unique_lock lock(parts.models_mutex);
  parts.models.emplace(model->spec.name, model);
}

namespace {

// As the store has it now: an earlier job of the transaction may have changed it.
LogSettings logging_of(const Model& model, Transaction& transaction) {
  const auto row = take(transaction.store.read().model(model.id));
  if (!row) throw Failed{model_removed()};
  return take(parse_spec(row->spec)).logging;
}

// The model is to be as wanted, which may differ from it in what is logged alone. Gives what is.
LogSettings update_logging(const ModelHandle& handle, const WantedModel& wanted,
                           Transaction& transaction) {
  const Model& model = *handle;
  ModelSpec now = model.spec;
  now.logging = wanted.spec.logging;
  if (!(now == wanted.spec)) {
    throw Failed{
        {ErrorCode::kConflict,
         fmt::format("model \"{}\" exists with another spec; only candidates and events can be "
                     "changed",
                     model.spec.name)}};
  }
  transaction.change(handle);
  const LogSettings before = logging_of(model, transaction);
  if (!wanted.candidates_given) now.logging.candidates = before.candidates;
  if (!wanted.events_given) now.logging.events = before.events;
  if (!(now.logging == before)) take(transaction.store.set_model_spec(model.id, to_json(now)));
  return now.logging;
}

}  // namespace

namespace {

void submit_creation_once(ServiceParts& parts, WantedModel wanted,
                          std::function<void(Transaction&, const ModelHandle&)> more,
                          Done<CreatedModel> done) {
  // Here, on the caller's thread, so that the writer does not wait for it.
  auto trainer = std::make_shared<std::optional<Trainer>>();
  const ModelHandle known = parts.find(wanted.spec.name);
  if (known == nullptr) {
    auto started = Trainer::start(wanted.spec);
    if (!started) return done(started.error());
    *trainer = std::move(started).value();
  }
  Job creating = job<CreatedModel>(
      [&parts, wanted = std::move(wanted), trainer,
       more = std::move(more)](Transaction& transaction) {
        const ModelSpec& spec = wanted.spec;
        CreatedModel created{parts.find(spec.name), false};
        if (created.model == nullptr) created.model = transaction.created[spec.name];
        if (created.model == nullptr) {
          if (!*trainer) {
            throw Failed{{ErrorCode::kConflict, "another request removed the model"}};
          }
          created = {insert_model(parts, spec, transaction), true};
          transaction.created[spec.name] = created.model;
        } else {
          created.logging = update_logging(created.model, wanted, transaction);
        }
        if (more) more(transaction, created.model);
        return created;
      },
      std::move(done),
      [&parts, trainer](const CreatedModel& created) {
        if (!created.is_new) return created.model->set_logging(created.logging);
        serve_model(parts, created.model, std::move(**trainer));
      });
  if (known != nullptr) creating.touched.models = {known->id};
  parts.writer->submit(std::move(creating));
}

}  // namespace

void submit_creation(ServiceParts& parts, WantedModel wanted,
                     std::function<void(Transaction&, const ModelHandle&)> more,
                     Done<CreatedModel> done) {
  if (parts.cluster == nullptr) {
    return submit_creation_once(parts, std::move(wanted), std::move(more), std::move(done));
  }
  auto after = [&parts, wanted, more, done](const Result<CreatedModel>& created) {
    if (created || created.error().code != ErrorCode::kConflict ||
        parts.find(wanted.spec.name) != nullptr) {
      return done(created);
    }
    // Another node has made it at the same moment.
    parts.cluster->refresh([&parts, wanted, more, done](const Result<void>& refreshed) {
      if (!refreshed) return done(refreshed.error());
      submit_creation_once(parts, wanted, more, done);
    });
  };
  submit_creation_once(parts, std::move(wanted), std::move(more), std::move(after));
}

void Service::create(WantedModel wanted, Done<Created> done) {
  auto checked = check(std::move(wanted.spec));
  if (!checked) return done(checked.error());
  wanted.spec = *std::move(checked);
  submit_creation(*parts_, std::move(wanted), {},
                  [this, done](const Result<CreatedModel>& created) {
                    if (!created) return done(created.error());
                    done(Created{info(*created->model), created->is_new});
                  });
}

void stop_serving(ServiceParts& parts, const ModelHandle& model) {
  if (model->removed) return;
  parts.upkeep->add_removed(model->id);
  if (parts.cluster != nullptr) parts.cluster->forget(model);
  drop_served(parts, model);
}

void drop_served(ServiceParts& parts, const ModelHandle& model) {
  if (model->removed.exchange(true)) return;
  forget_experiments(parts, model);
  parts.learner->forget(model);
  const std::unique_lock lock(parts.models_mutex);
  const auto found = parts.models.find(model->spec.name);
  if (found != parts.models.end() && found->second == model) parts.models.erase(found);
}

void Service::remove(const ModelHandle& model, Done<void> done) {
  ServiceParts& parts = *parts_;
  // With the models that its experiments made of snapshots.
  auto all = std::make_shared<std::vector<ModelHandle>>();
  const auto apply = [&parts, model, all](Transaction& transaction) {
    if (model->removed) throw Failed{model_removed()};
    transaction.change(model);
    StoreReader& read = transaction.store.read();
    *all = forks_of(parts, *model, read);
    all->push_back(model);
    for (const ModelHandle& one : *all) {
      const std::string use = arm_use(parts, *one, model->id, read);
      if (!use.empty()) throw Failed{{ErrorCode::kConflict, use}};
    }
    for (const ModelHandle& one : *all) transaction.remove(one);
  };
  parts.writer->submit({.apply = apply,
                        .committed =
                            [&parts, all] {
                              for (const ModelHandle& one : *all) stop_serving(parts, one);
                            },
                        .answer = std::move(done),
                        .touched = {.models = with_arms(*model)}});
}

namespace {

// The versions of those items that the store has with these features: they need no new one. What is
// in memory alone does not say so: another node, or an earlier job of the transaction, may have
// changed the store.
std::unordered_map<std::string, std::int64_t> find_unchanged(const ItemTable& items,
                                                             std::span<const std::string> ids,
                                                             const float* rows, std::int64_t model,
                                                             StoreReader& store) {
  std::vector<std::string> alike;
  std::vector<std::int64_t> versions;
  for (std::size_t at = 0; at < ids.size(); ++at) {
    const std::int64_t version = items.version_with(ids[at], rows + at * items.stride());
    if (version == 0) continue;
    alike.push_back(ids[at]);
    versions.push_back(version);
  }
  std::unordered_map<std::string, std::int64_t> unchanged;
  if (alike.empty()) return unchanged;
  const auto stored = take(store.versions_of(model, alike));
  for (std::size_t at = 0; at < alike.size(); ++at) {
    if (stored[at] == versions[at]) unchanged.emplace(std::move(alike[at]), versions[at]);
  }
  return unchanged;
}

}  // namespace

void Service::put_items(const ModelHandle& model, std::vector<std::string> ids,
                        AlignedVector<float> rows, Done<std::uint64_t> done) {
  struct Items {
    std::vector<std::string> ids;
    AlignedVector<float> rows;
    std::vector<std::int64_t> versions{};  // 0: unchanged
  };
  auto items = std::make_shared<Items>(Items{std::move(ids), std::move(rows)});
  Job putting = job<std::uint64_t>(
      [model, items](Transaction& transaction) {
        if (model->removed) throw Failed{model_removed()};
        transaction.change(model);
        items->versions.clear();
        const std::size_t bytes = model->spec.ranker.feature_count * sizeof(float);
        auto unchanged = find_unchanged(model->items, items->ids, items->rows.data(), model->id,
                                        transaction.store.read());
        for (std::size_t at = 0; at < items->ids.size(); ++at) {
          const float* row = items->rows.data() + at * model->items.stride();
          const auto found = unchanged.find(items->ids[at]);
          if (found != unchanged.end()) {
            if (model->items.version_with(items->ids[at], row) == found->second) {
              items->versions.push_back(0);
              continue;
            }
            unchanged.erase(found);  // the request has it twice
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
      });
  putting.touched.models = {model->id};
  parts_->writer->submit(std::move(putting));
}

void Service::remove_item(const ModelHandle& model, const std::string& id, Done<void> done) {
  auto version = std::make_shared<std::int64_t>(0);
  parts_->writer->submit(
      {.apply =
           [model, id, version](Transaction& transaction) {
             transaction.change(model);
             *version =
                 take(transaction.store.delete_item(model->id, id, model->end_of_references()));
             if (*version != 0) return;
             throw Failed{{ErrorCode::kNotFound, fmt::format("item \"{}\" is not stored", id)}};
           },
       .committed =
           [model, id, version] {
             model->items.remove(id, *version);
             model->replaced_items = true;
           },
       .answer = std::move(done),
       .touched = {.models = {model->id}}});
}

}  // namespace plackett::serving
