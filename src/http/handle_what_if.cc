// What other policies would have been worth, by the model's own log.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "http/exchange.h"
#include "http/router.h"
#include "serving/what_if.h"

namespace plackett::http {
namespace {

constexpr QueryRange kLists = {.fallback = 200'000, .least = 1, .most = 200'000};
constexpr std::size_t kMostPolicies = 8;
constexpr double kMostLevel = 0.999;  // a higher one takes too many resampled logs
// Of off_policy_options(), those that a request may set.
constexpr std::array<std::string_view, 4> kSettable{"metric", "estimators", "level", "ranks"};

// Takes the policies out of the query: the other keys are given once.
std::vector<std::string> take_policies(Target& target) {
  std::vector<std::string> policies;
  for (const auto& [key, value] : target.query) {
    if (key == "policy") policies.push_back(value);
  }
  std::erase_if(target.query, [](const auto& pair) { return pair.first == "policy"; });
  if (policies.empty() || policies.size() > kMostPolicies) {
    throw Failed{{ErrorCode::kInvalid,
                  fmt::format("{} policies; expected 1 to {}: policy=snapshot:3&policy=current@0",
                              policies.size(), kMostPolicies),
                  "policy"}};
  }
  return policies;
}

void set_options(const Target& target, OffPolicyOptions& options) {
  for (const auto& option : off_policy_options()) {
    if (std::find(kSettable.begin(), kSettable.end(), option.name) == kSettable.end()) continue;
    const std::string text = query_text(target, option.name);
    if (text.empty()) continue;
    if (auto set = option.set(options, text); !set) {
      throw Failed{{ErrorCode::kInvalid, set.error().message, std::string(option.name)}};
    }
  }
  if (options.level > kMostLevel) {
    throw Failed{{ErrorCode::kInvalid,
                  fmt::format("{}; expected a number from 0.5 to {}", options.level, kMostLevel),
                  "level"}};
  }
  options.bootstraps = std::max(options.bootstraps, least_bootstraps(options.level));
}

void write_interval(JsonWriter& json, double value, const std::optional<Interval>& interval) {
  json.object([&] {
    const auto end = [&](double Interval::*which) {
      return interval ? std::optional(*interval.*which) : std::nullopt;
    };
    json.fields("value", value, "low", end(&Interval::low), "high", end(&Interval::high));
  });
}

void write_estimate(JsonWriter& json, const ValueEstimate& estimate, double logged) {
  json.object([&] {
    json.fields("estimator", name_of(estimate.estimator));
    if (!estimate.refused.empty()) {
      constexpr std::optional<double> kNone;
      return json.fields("value", kNone, "low", kNone, "high", kNone, "difference", kNone,  //
                         "refused", estimate.refused);
    }
    json.fields("value", estimate.value, "low", estimate.bootstrap->low,  //
                "high", estimate.bootstrap->high, "difference",
                [&] { write_interval(json, estimate.value - logged, estimate.difference); });
    json.fields("refused", std::optional<std::string_view>());
  });
}

void write_policy(JsonWriter& json, const PolicyValue& policy, double logged) {
  double effective = 0;
  if (!policy.ranks.empty()) {
    effective = std::min_element(policy.ranks.begin(), policy.ranks.end(),
                                 [](const RankSupport& left, const RankSupport& right) {
                                   return left.effective_lists < right.effective_lists;
                                 })
                    ->effective_lists;
  }
  const auto write_rank = [&](const RankSupport& rank) {
    json.object("lists", rank.lists, "effective_lists", rank.effective_lists, "mean_weight",
                rank.mean_weight);
  };
  const auto write_one = [&](const ValueEstimate& one) { write_estimate(json, one, logged); };
  json.object(
      "name", policy.name, "estimates", [&] { json.array(policy.estimates, write_one); },  //
      "effective_lists", effective, "ranks", [&] { json.array(policy.ranks, write_rank); });
}

void write_left_out(JsonWriter& json, const serving::LeftOut& left_out) {
  json.object("not_sampled", left_out.not_sampled, "open", left_out.open, "open_until",
              left_out.open_until > 0 ? std::optional(left_out.open_until) : std::nullopt,
              "candidates_never_kept", left_out.no_keep, "damaged", left_out.damaged);
}

}  // namespace

Awaitable<void> get_what_if(Exchange& exchange) {
  const auto model = exchange.model();
  serving::WhatIfRequest request;
  request.policies = take_policies(exchange.target);
  take(check_query(exchange.target, {"lists", kSettable[0], kSettable[1], kSettable[2],  //
                                     kSettable[3]}));
  request.lists = take(query_number(exchange.target, "lists", kLists));
  set_options(exchange.target, request.options);
  request.options.stop = [&stopping = exchange.site.stopping] { return stopping.load(); };
  const ValueMetric metric = request.options.metric;
  const double level = request.options.level;
  const auto [report, left_out, refused] = co_await exchange.ask<serving::WhatIfAnswer>(
      &serving::Service::what_if, model, std::move(request));
  JsonWriter json = exchange.json();
  if (!refused.empty()) {
    exchange.status(409);
    json.object(
        "error", [&] { json.object("status", 409, "message", refused); },  //
        "left_out", [&] { write_left_out(json, left_out); });
    co_return;
  }
  json.object(
      "metric", name_of(metric), "level", level, "lists", report.lists, "kept", report.kept,
      "left_out", [&] { write_left_out(json, left_out); },                             //
      "logged", [&] { write_interval(json, report.logged, report.logged_interval); },  //
      "policies",
      [&] {
        json.array(report.policies,
                   [&](const PolicyValue& one) { write_policy(json, one, report.logged); });
      });
}

}  // namespace plackett::http
