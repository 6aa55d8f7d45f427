// plackett audit: the unbiasedness theorem, checked exactly on small cases. Off-policy estimates
// are in audit_off_policy.cc.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit_cases.h"
#include "command.h"
#include "plackett/audit.h"

namespace plackett::command {
namespace {

constexpr const char* kRho = "rho";
constexpr const char* kNone = "none";

struct Finding {
  std::string model;
  audit::Summary summary = {};
  audit::Violation last = {};  // the last case, shown if it is the only one
};

Finding audit_model(const std::string& model, const AuditOptions& options,
                    const audit::CaseOptions& cases) {
  AuditedUser users(model, options);
  const audit::Rules rules{
      .weight = options.weight == kNone ? audit::Weight::kNone : audit::Weight::kRho,
      .pairs = options.pairs.rules().kind,
      .sharpness = options.pairs.sharpness};
  const bool one_case = cases.labels && cases.scores && cases.k && !users.is_drawn();
  Finding finding{.model = users.name()};
  for (std::uint64_t at = 0; at < (one_case ? 1 : options.cases); ++at) {
    Rng rng({.seed = options.spec.seed, .impression = at});
    const audit::Case drawn = audit::draw_case(cases, options.grades, rng);
    std::vector<audit::Pair> pairs = audit::audit_case(drawn, users.draw(rng), rules);
    finding.last = {drawn, pairs};
    finding.summary.add(drawn, std::move(pairs));
  }
  return finding;
}

void print_case(const audit::Violation& one) {
  fmt::print("  {} documents, {} shown; labels {}; scores {:.4g}\n", one.found.scores.size(),
             one.found.k, fmt::join(one.found.labels, ","), fmt::join(one.found.scores, ","));
  fmt::print("  {:<7}{:<9}{:>13}{:>13}  {:<9}{:<10}{}\n", "pair", "labels", "alpha", "gross",
             "expected", "verdict", "rankings against it");
  for (const audit::Pair& pair : one.pairs) {
    fmt::print("  {:<7}{:<9}{:>13.5e}{:>13.5e}  {:<9}{:<10}{} of {}\n",
               fmt::format("{},{}", index(pair.first), index(pair.second)),
               fmt::format("{},{}", one.found.labels[index(pair.first)],
                           one.found.labels[index(pair.second)]),
               pair.alpha, pair.gross,
               pair.expected == 0  ? "0"
               : pair.expected > 0 ? "+"
                                   : "-",
               pair.holds() ? "holds" : "VIOLATED", pair.step_failures, pair.rankings);
  }
}

void print_text(const std::vector<Finding>& findings, const AuditOptions& options) {
  const double sharpness = options.pairs.sharpness;
  fmt::print("Theorem 1 with weight {}, pairs {}{}, {} grades, protocol {}, seed {}\n\n",
             options.weight, options.pairs.pairs,
             sharpness == 1 ? "" : fmt::format(", sharpness {}", sharpness), options.grades,
             name_of(options.spec.protocol), options.spec.seed);
  fmt::print("{:<21}{:>7}{:>8}{:>12}{:>17}{:>19}  {:<9}{}\n", "click model", "cases", "pairs",
             "violations", "smallest margin", "largest imbalance", "verdict",
             "rankings against it");
  for (const auto& [model, summary, last] : findings) {
    fmt::print("{:<21}{:>7}{:>8}{:>12}{:>17}{:>19.1e}  {:<9}{} of {}\n", model, summary.cases,
               summary.pairs, summary.violations,
               summary.rankings == 0 ? "-" : fmt::format("{:.3e}", summary.smallest_margin),
               summary.largest_imbalance, summary.violations == 0 ? "holds" : "VIOLATED",
               summary.step_failures, summary.rankings);
  }
  for (const auto& [model, summary, last] : findings) {
    if (summary.cases == 1) {
      fmt::print("\n{}\n", model);
      print_case(last);
    } else if (summary.smallest_violation) {
      fmt::print("\n{}: the smallest violation\n", model);
      print_case(*summary.smallest_violation);
    }
  }
}

nlohmann::ordered_json case_json(const audit::Violation& one) {
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const audit::Pair& pair : one.pairs) {
    pairs.push_back({{"docs", {index(pair.first), index(pair.second)}},
                     {"alpha", pair.alpha},
                     {"gross", pair.gross},
                     {"expected", pair.expected},
                     {"holds", pair.holds()},
                     {"rankings", pair.rankings},
                     {"step_failures", pair.step_failures}});
  }
  return {{"scores", one.found.scores},
          {"labels", one.found.labels},
          {"k", one.found.k},
          {"pairs", std::move(pairs)}};
}

nlohmann::ordered_json to_json(const std::vector<Finding>& findings, const AuditOptions& options) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  std::uint64_t violations = 0;
  for (const auto& [model, summary, last] : findings) {
    violations += summary.violations;
    nlohmann::ordered_json row = {{"click_model", model},
                                  {"cases", summary.cases},
                                  {"pairs", summary.pairs},
                                  {"violations", summary.violations},
                                  {"largest_imbalance", summary.largest_imbalance},
                                  {"rankings", summary.rankings},
                                  {"step_failures", summary.step_failures}};
    if (summary.rankings != 0) row["smallest_margin"] = summary.smallest_margin;
    if (summary.cases == 1) row["case"] = case_json(last);
    if (summary.smallest_violation) {
      row["smallest_violation"] = case_json(*summary.smallest_violation);
    }
    models.push_back(std::move(row));
  }
  return {{"weight", options.weight},
          {"pairs", options.pairs.pairs},
          {"sharpness", options.pairs.sharpness},
          {"grades", options.grades},
          {"protocol", name_of(options.spec.protocol)},
          {"seed", options.spec.seed},
          {"violations", violations},
          {"models", std::move(models)}};
}

void run(const AuditOptions& options) {
  const audit::CaseOptions cases = case_options(options);
  std::vector<Finding> findings;
  bool violated = false;
  for (const std::string& model : audited_models(options)) {
    findings.push_back(audit_model(model, options, cases));
    violated = violated || findings.back().summary.violations > 0;
  }
  if (options.json) {
    print_json(to_json(findings, options));
  } else {
    print_text(findings, options);
  }
  if (violated) throw Exit(kNegative, "");
}

}  // namespace

void add_audit(CLI::App& app) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* audit = app.add_subcommand(
      "audit",
      "Checks the unbiasedness theorem exactly: enumerates every ranking and click pattern of\n"
      "small cases and compares each pair's expected weight with the user's preference.\n"
      "Exits with 1 if a sign is wrong");
  audit->add_option("--click-model", options->click_model,
                    fmt::format("all, a name, or a file that ends in .toml; {}: another user in "
                                "each case",
                                fmt::join(audit::drawn_user_names(), ", ")));
  audit->add_option("--docs", options->docs, "Most documents in a random case")
      ->check(CLI::Range(2U, audit::kMaxDocs));
  audit->add_option("--k", options->k,
                    "Documents shown; 0: all with --labels and --scores, else 2 or more at random");
  add_list(*audit, "--labels", options->labels, "Labels, 0,1,2; default: random");
  add_list(*audit, "--scores", options->scores, "Scores, 0.1,-2,3; default: random");
  audit->add_option("--grades", options->grades, "Grades of the labels: 2, 3 or 5, or a file's")
      ->check(CLI::Range(1U, kMaxLabel + 1));
  audit
      ->add_option("--weight", options->weight,
                   "rho, or none: unweighted pairs, which must be found biased")
      ->check(CLI::IsMember({kRho, kNone}));
  add_pair_options(*audit, options->pairs);
  add_options(*audit, simulation_options(), options->spec, {"protocol", "eta", "seed"});
  audit
      ->add_option("--cases", options->cases,
                   "Random cases per click model; 1 if nothing is left to draw")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  audit->add_flag(
      "--off-policy", options->off_policy,
      "Audit off-policy estimates instead: the bias of each estimator, by enumeration of "
      "up to 5 documents");
  audit->add_option("--logs", options->logs,
                    "With --off-policy: simulate this many logs for each click model, each of "
                    "another case, and count how often the 95 % intervals hold the value");
  audit->add_option("--lists", options->lists, "Lists of each simulated log")
      ->check(CLI::Range(10U, 10'000'000U));
  audit->add_flag("--json", options->json, "Print one JSON object");
  audit->callback([options, audit] {
    for (const char* name : {"--logs", "--lists"}) {
      if (!options->off_policy && audit->count(name) > 0) {
        fail({fmt::format("{}: it goes with --off-policy", name)});
      }
    }
    if (drawn_kind(options->click_model) && audit->count("--eta") > 0) {
      fail({fmt::format("--eta: {} draws its own for each case", options->click_model)});
    }
    options->off_policy ? audit_off_policy(*options) : run(*options);
  });
}

}  // namespace plackett::command
