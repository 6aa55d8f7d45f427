#include "serving/creation.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "serving/refusals.h"
#include "serving/spec_text.h"

namespace plackett::serving {
namespace {

constexpr std::size_t kMostModels = 10'000;

}  // namespace

Result<Creation> Creation::prepare(const ServiceParts& parts, ModelSpec spec) {
  Creation creation;
  if (parts.find(spec.name) == nullptr) {
    auto trainer = Trainer::start(spec);
    if (!trainer) return invalid(trainer.error());
    creation.trainer_ = std::move(trainer).value();
  }
  creation.spec_ = std::move(spec);
  return creation;
}

Result<void> Creation::apply(const ServiceParts& parts, Group& group) {
  model_ = parts.find(spec_.name);
  if (model_ != nullptr) {
    if (model_->spec == spec_) return {};
    refused_ =
        Error{ErrorCode::kConflict,
              fmt::format("model \"{}\" is there with another spec; delete it first", spec_.name)};
    return {};
  }
  auto rows = group.store.read().models();
  if (!rows) return rows.error();
  const bool made_in_this_group = std::any_of(
      rows->begin(), rows->end(), [this](const auto& row) { return row.name == spec_.name; });
  if (made_in_this_group || !trainer_) {
    refused_ = Error{ErrorCode::kConflict, "another request is making or removing the model"};
    return {};
  }
  if (rows->size() >= kMostModels) {
    refused_ =
        Error{ErrorCode::kTooLarge, fmt::format("there are {} models; no more fit", rows->size())};
    return {};
  }
  store::ModelRow row;
  row.next_number = parts.options.number_block;
  row.name = spec_.name;
  row.created_at = group.now;
  row.spec = to_text(spec_);
  auto id = group.store.insert_model(row);
  if (!id) return id.error();
  row.id = *id;
  model_ = std::make_shared<Model>(spec_, row);
  model_->next_number = 0;
  is_new_ = true;
  return {};
}

void Creation::committed(ServiceParts& parts) {
  if (!is_new_) return;
  parts.learner->adopt(model_, std::move(*trainer_));
  const std::unique_lock lock(parts.models_mutex);
  parts.models.emplace(spec_.name, model_);
}

Job creation_job(ServiceParts& parts, Creation creation,
                 std::function<Result<void>(Group&, const ModelHandle&)> more,
                 std::function<void(const Creation&)> served, Done<void> refused) {
  auto shared = std::make_shared<Creation>(std::move(creation));
  Job job;
  job.apply = [shared, &parts, more = std::move(more)](Group& group) -> Result<void> {
    auto made = shared->apply(parts, group);
    if (!made || shared->refused() || !more) return made;
    return more(group, shared->model());
  };
  job.committed = [shared, &parts] { shared->committed(parts); };
  job.settled = [shared, served = std::move(served),
                 refused = std::move(refused)](const Result<void>& settled) {
    if (!settled) {
      refused(settled.error());
    } else if (shared->refused()) {
      refused(*shared->refused());
    } else {
      served(*shared);
    }
  };
  return job;
}

}  // namespace plackett::serving
