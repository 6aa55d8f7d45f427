// Making models and removing them, and their stored items.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "serving/creation.h"
#include "serving/refusals.h"
#include "serving/service_parts.h"

namespace plackett::serving {

void Service::create(ModelSpec spec, Done<Created> done) {
  auto checked = check(std::move(spec));
  if (!checked) return done(invalid(checked.error()));
  ServiceParts& parts = *parts_;
  auto prepared = Creation::prepare(parts, std::move(checked).value());
  if (!prepared) return done(prepared.error());
  parts.writer->submit(creation_job(
      parts, *std::move(prepared), {},
      [this, done](const Creation& made) {
        done(Created{info(*made.model()), made.is_new()});
      },
      [done](const Result<void>& settled) { done(settled.error()); }));
}

void Service::remove(const ModelHandle& model, Done<void> done) {
  ServiceParts& parts = *parts_;
  auto was_there = std::make_shared<bool>(false);
  Job job;
  job.apply = [model, was_there](Group& group) -> Result<void> {
    if (model->removed) return {};
    *was_there = true;
    return group.store.delete_model(model->id);
  };
  job.committed = [model, was_there, &parts] {
    if (!*was_there || model->removed.exchange(true)) return;
    parts.learner->forget(model);
    parts.upkeep->add_removed(model->id);
    const std::unique_lock lock(parts.models_mutex);
    const auto found = parts.models.find(model->spec.name);
    if (found != parts.models.end() && found->second == model) parts.models.erase(found);
  };
  job.settled = [was_there, done = std::move(done)](const Result<void>& settled) {
    done(settled && !*was_there ? Result<void>(gone()) : settled);
  };
  parts.writer->submit(std::move(job));
}

void Service::put_items(const ModelHandle& model, std::vector<std::string> ids,
                        AlignedVector<float> rows, Done<std::uint64_t> done) {
  struct State {
    std::vector<std::string> ids;
    AlignedVector<float> rows;
  };
  auto state = std::make_shared<State>(State{std::move(ids), std::move(rows)});
  Job job;
  job.apply = [model, state](Group& group) -> Result<void> {
    if (model->removed) return {};
    const std::size_t bytes = model->spec.ranker.feature_count * sizeof(float);
    for (std::size_t at = 0; at < state->ids.size(); ++at) {
      const float* row = state->rows.data() + at * model->items.stride();
      if (auto put = group.store.put_item(model->id, state->ids[at],
                                          {reinterpret_cast<const std::byte*>(row), bytes});
          !put) {
        return put;
      }
    }
    return {};
  };
  job.committed = [model, state] {
    if (!model->removed) model->items.put(state->ids, state->rows);
  };
  job.settled = [model, done = std::move(done)](const Result<void>& settled) {
    if (!settled) {
      done(settled.error());
    } else if (model->removed) {
      done(gone());
    } else {
      done(model->items.count());
    }
  };
  parts_->writer->submit(std::move(job));
}

void Service::remove_item(const ModelHandle& model, const std::string& id, Done<void> done) {
  auto found = std::make_shared<bool>(false);
  Job job;
  job.apply = [model, id, found](Group& group) -> Result<void> {
    auto removed = group.store.delete_item(model->id, id);
    if (!removed) return removed.error();
    *found = *removed;
    return {};
  };
  job.committed = [model, id] { model->items.remove(id); };
  job.settled = [id, found, done = std::move(done)](const Result<void>& settled) {
    if (settled && !*found) {
      done(Error{ErrorCode::kNotFound, fmt::format("item \"{}\" is not stored", id)});
    } else {
      done(settled);
    }
  };
  parts_->writer->submit(std::move(job));
}

}  // namespace plackett::serving
