#include <fmt/format.h>

#include "http/exchange.h"
#include "http/model_text.h"
#include "http/requests.h"
#include "http/router.h"

namespace plackett::http {
namespace {

using serving::ExperimentInfo;
using serving::Service;

// A token that is bound to a model does not see others.
void check_arms(const Exchange& exchange, const serving::ExperimentSpec& spec) {
  if (exchange.grant.model.empty()) return;
  for (std::size_t at = 0; at < spec.arms.size(); ++at) {
    const auto policy = serving::parse_arm_policy(spec.arms[at].policy);
    if (!policy || policy->source != serving::ArmSource::kOther) continue;
    if (policy->model == exchange.grant.model) continue;
    throw Failed{{ErrorCode::kNotFound, fmt::format("no model \"{}\"", policy->model),
                  fmt::format("arms[{}].policy", at)}};
  }
}

}  // namespace

Awaitable<void> put_experiment(Exchange& exchange) {
  const auto model = exchange.model();
  auto spec =
      take(read_experiment_request(exchange.scratch.json, exchange.body(), exchange.segment(3)));
  check_arms(exchange, spec);
  const auto put = co_await exchange.ask<serving::PutExperiment>(&Service::put_experiment, model,
                                                                 std::move(spec));
  exchange.status(put.is_new ? 201 : 200);
  exchange.json().value(put.info);
}

Awaitable<void> get_experiments(Exchange& exchange) {
  const auto read = [&service = exchange.site.service, model = exchange.model()] {
    return service.experiments(*model);
  };
  exchange.json().object("experiments", co_await exchange.read<std::vector<ExperimentInfo>>(read));
}

Awaitable<void> get_experiment(Exchange& exchange) {
  const auto read = [&service = exchange.site.service, model = exchange.model(),
                     name = exchange.segment(3)] { return service.experiment(*model, name); };
  exchange.json().value(co_await exchange.read<ExperimentInfo>(read));
}

Awaitable<void> delete_experiment(Exchange& exchange) {
  const auto model = exchange.model();
  co_await exchange.ask<void>(&Service::delete_experiment, model, exchange.segment(3));
  exchange.status(204);
}

Awaitable<void> post_stop(Exchange& exchange) {
  const auto model = exchange.model();
  exchange.json().value(
      co_await exchange.ask<ExperimentInfo>(&Service::stop_experiment, model, exchange.segment(3)));
}

Awaitable<void> post_promote(Exchange& exchange) {
  const auto model = exchange.model();
  auto arm = take(read_promote_request(exchange.scratch.json, exchange.body()));
  exchange.json().value(co_await exchange.ask<ExperimentInfo>(&Service::promote, model,
                                                              exchange.segment(3), std::move(arm)));
}

Awaitable<void> post_undo(Exchange& exchange) {
  const auto model = exchange.model();
  exchange.json().value(
      co_await exchange.ask<ExperimentInfo>(&Service::undo_promotion, model, exchange.segment(3)));
}

}  // namespace plackett::http
