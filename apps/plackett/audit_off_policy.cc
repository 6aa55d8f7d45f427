// plackett audit --off-policy: the bias of off-policy estimators, exactly on small cases, and how
// often their intervals hold the value.
#include "plackett/audit_off_policy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "audit_cases.h"

namespace plackett::command {
namespace {

constexpr std::uint32_t kMostDocs = 5;

// Of one estimator with one click model.
struct BiasFinding {
  std::uint64_t cases = 0;    // values: one per case and metric
  std::uint64_t assumed = 0;  // of them, where the estimator's assumption holds
  double largest = 0;         // of those, the largest |bias|
  double otherwise = 0;       // of the others: the bias that is largest in size, with its sign
  double mean_otherwise = 0;  // of the others: the mean signed bias
};

struct OffPolicyFinding {
  std::string model;
  std::map<Estimator, BiasFinding> biases;
  std::vector<audit::Coverage> coverage;
};

bool is_assumed(Estimator estimator, const audit::Case& one, const User& user) {
  return estimator == Estimator::kExposure ? audit::clicks_by_position(one, user)
                                           : audit::clicks_look_up(one, user);
}

OffPolicyFinding audit_estimators(const std::string& model, const AuditOptions& options,
                                  const audit::CaseOptions& cases) {
  AuditedUser users(model, options);
  OffPolicyFinding finding{users.name(), {}, {}};
  std::vector<audit::CoverageCase> covered;
  for (std::uint64_t at = 0; at < options.cases; ++at) {
    Rng rng({.seed = options.spec.seed, .impression = at});
    const audit::OffPolicyCase drawn = audit::draw_off_policy_case(cases, options.grades, rng);
    const User& user = users.draw(rng);
    std::map<Estimator, bool> assumed;
    for (const Estimator one :
         {Estimator::kPrefixIps, Estimator::kDoublyRobust, Estimator::kExposure}) {
      assumed[one] = is_assumed(one, drawn.logged, user);
    }
    for (const audit::Bias& bias : audit::audit_off_policy(drawn, user, rng)) {
      BiasFinding& found = finding.biases[bias.estimator];
      const double difference = bias.expected - bias.value;
      ++found.cases;
      if (assumed[bias.estimator]) {
        ++found.assumed;
        // Also if it is not a number.
        if (!(std::abs(difference) <= found.largest)) found.largest = std::abs(difference);
      } else {
        found.mean_otherwise += difference;
        if (std::abs(difference) > std::abs(found.otherwise)) found.otherwise = difference;
      }
    }
    if (at < options.logs) covered.push_back({drawn, users.share()});
  }
  if (options.logs > 0) {
    audit::CoverageOptions measure{
        .logs = options.logs, .lists = options.lists, .seed = options.spec.seed};
    measure.estimate.estimators.assign(estimator_names().begin(), estimator_names().end());
    finding.coverage = take(audit::measure_coverage(covered, measure));
  }
  for (auto& [estimator, found] : finding.biases) {
    if (found.cases > found.assumed) {
      found.mean_otherwise /= static_cast<double>(found.cases - found.assumed);
    }
  }
  return finding;
}

bool is_biased(const BiasFinding& found) { return !(found.largest < audit::kBiasTolerance); }

std::string verdict(const BiasFinding& found) {
  if (found.assumed == 0) return "not assumed";
  return is_biased(found) ? "BIASED" : "unbiased";
}

void print_biases(const std::vector<OffPolicyFinding>& findings, const AuditOptions& options) {
  fmt::print("Off-policy estimates, {} grades, protocol {}, seed {}\n\n", options.grades,
             name_of(options.spec.protocol), options.spec.seed);
  fmt::print("{:<24}{:<16}{:>8}{:>9}{:>14}  {:<13}{:>13}{:>13}\n", "click model", "estimator",
             "values", "assumed", "largest bias", "verdict", "otherwise", "mean");
  for (const OffPolicyFinding& finding : findings) {
    for (const auto& [estimator, found] : finding.biases) {
      const bool other = found.cases > found.assumed;
      fmt::print("{:<24}{:<16}{:>8}{:>9}{:>14}  {:<13}{:>13}{:>13}\n", finding.model,
                 name_of(estimator), found.cases, found.assumed,
                 found.assumed > 0 ? fmt::format("{:.1e}", found.largest) : "-", verdict(found),
                 other ? fmt::format("{:+.4f}", found.otherwise) : "-",
                 other ? fmt::format("{:+.4f}", found.mean_otherwise) : "-");
    }
  }
  fmt::print(
      "\nassumed: values where the estimator's assumption on clicks holds; otherwise: the largest "
      "and\nthe mean signed bias of the others.\n");
  if (options.logs == 0) return;
  fmt::print("\n{} simulated logs of {} lists, clicks, 95 % intervals that hold the value\n\n",
             options.logs, options.lists);
  fmt::print("{:<24}{:<16}{:>9}{:>9}{:>10}{:>12}{:>12}\n", "click model", "estimator", "refused",
             "logs", "bias", "bernstein", "bootstrap");
  const auto share = [](std::uint64_t part, const audit::Coverage& one) {
    return one.logs == 0
               ? std::string("-")
               : fmt::format("{:.4f}", static_cast<double>(part) / static_cast<double>(one.logs));
  };
  for (const OffPolicyFinding& finding : findings) {
    for (const audit::Coverage& one : finding.coverage) {
      fmt::print("{:<24}{:<16}{:>9}{:>9}{:>10}{:>12}{:>12}\n", finding.model,
                 name_of(one.estimator), one.refused, one.logs,
                 one.logs == 0 ? "-" : fmt::format("{:+.4f}", one.bias),
                 one.estimator == Estimator::kSelfNormalised ? "-" : share(one.bernstein, one),
                 share(one.bootstrap, one));
    }
  }
}

nlohmann::ordered_json to_json(const std::vector<OffPolicyFinding>& findings,
                               const AuditOptions& options) {
  auto models = nlohmann::ordered_json::array();
  for (const OffPolicyFinding& finding : findings) {
    auto biases = nlohmann::ordered_json::array();
    for (const auto& [estimator, found] : finding.biases) {
      biases.push_back({{"estimator", name_of(estimator)},
                        {"values", found.cases},
                        {"assumed", found.assumed},
                        {"largest_bias", found.largest},
                        {"unbiased", !is_biased(found)},
                        {"largest_otherwise", found.otherwise},
                        {"mean_otherwise", found.mean_otherwise}});
    }
    nlohmann::ordered_json model{{"click_model", finding.model}, {"estimators", std::move(biases)}};
    for (const audit::Coverage& one : finding.coverage) {
      model["coverage"].push_back({{"estimator", name_of(one.estimator)},
                                   {"logs", one.logs},
                                   {"refused", one.refused},
                                   {"bias", one.bias},
                                   {"bernstein", one.bernstein},
                                   {"bootstrap", one.bootstrap}});
    }
    models.push_back(std::move(model));
  }
  return {{"grades", options.grades},
          {"protocol", name_of(options.spec.protocol)},
          {"seed", options.spec.seed},
          {"lists", options.lists},
          {"models", std::move(models)}};
}

}  // namespace

void audit_off_policy(const AuditOptions& options) {
  if (options.docs > kMostDocs) {
    fail({fmt::format("--docs {}; with --off-policy at most {}", options.docs, kMostDocs)});
  }
  const audit::CaseOptions cases = case_options(options);
  std::vector<OffPolicyFinding> findings;
  bool biased = false;
  for (const std::string& model : audited_models(options)) {
    findings.push_back(audit_estimators(model, options, cases));
    for (const auto& [estimator, found] : findings.back().biases) {
      biased = biased || is_biased(found);
    }
  }
  if (options.json) {
    print_json(to_json(findings, options));
  } else {
    print_biases(findings, options);
  }
  if (biased) throw Exit(kNegative, "");
}

}  // namespace plackett::command
