#include "evaluate_log.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "command.h"
#include "progress.h"
#include "report/numbers.h"
#include "serving/logged_lists.h"
#include "serving/logged_policy.h"
#include "serving/model.h"
#include "serving/service.h"
#include "store/open.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

nlohmann::ordered_json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return nlohmann::ordered_json::array({interval->low, interval->high});
}

}  // namespace

nlohmann::ordered_json to_json(const OffPolicyReport& report, const serving::LeftOut& left_out,
                               const EvaluateLogOptions& options, const std::string& model) {
  auto policies = nlohmann::ordered_json::array();
  for (const PolicyValue& policy : report.policies) {
    auto estimates = nlohmann::ordered_json::array();
    for (const ValueEstimate& one : policy.estimates) {
      nlohmann::ordered_json row{{"estimator", name_of(one.estimator)}};
      if (one.refused.empty()) {
        row["value"] = one.value;
        row["bootstrap"] = interval_json(one.bootstrap);
        row["bernstein"] = interval_json(one.bernstein);
        row["difference"] = one.value - report.logged;
        row["difference_interval"] = interval_json(one.difference);
      } else {
        row["refused"] = one.refused;
      }
      estimates.push_back(std::move(row));
    }
    auto ranks = nlohmann::ordered_json::array();
    for (const RankSupport& rank : policy.ranks) {
      ranks.push_back({{"lists", rank.lists},
                       {"effective_lists", rank.effective_lists},
                       {"mean_weight", rank.mean_weight}});
    }
    policies.push_back({{"policy", policy.name},
                        {"estimates", std::move(estimates)},
                        {"ranks", std::move(ranks)}});
  }
  nlohmann::ordered_json answer{{"model", model},
                                {"metric", name_of(options.estimate.metric)},
                                {"level", options.estimate.level},
                                {"lists", report.lists},
                                {"kept", report.kept},
                                {"left_out",
                                 {{"not_sampled", left_out.not_sampled},
                                  {"open", left_out.open},
                                  {"candidates_never_kept", left_out.no_keep},
                                  {"damaged", left_out.damaged},
                                  {"unit_deleted", left_out.forgotten}}},
                                {"logged", report.logged},
                                {"logged_interval", interval_json(report.logged_interval)}};
  if (!report.examination.empty()) answer["examination"] = report.examination;
  answer["policies"] = std::move(policies);
  return answer;
}

namespace {

// Without the sign of a zero.
std::string number_text(double value, bool with_sign) {
  constexpr double kHalfOfTheLastDigit = 0.5e-4;
  if (std::abs(value) < kHalfOfTheLastDigit) value = 0;
  return with_sign ? fmt::format("{:+.4f}", value) : fmt::format("{:.4f}", value);
}

std::string span_text(const std::optional<Interval>& interval, bool with_sign) {
  if (!interval) return report::kNoNumber;
  return number_text(interval->low, with_sign) + " to " + number_text(interval->high, with_sign);
}

}  // namespace

void print_left_out(const serving::LeftOut& left_out) {
  const auto line = [](std::uint64_t count, std::string_view why) {
    if (count > 0) fmt::print("  left out: {} {}\n", report::grouped(count), why);
  };
  line(left_out.not_sampled, "sorted or given, which say nothing about other orders");
  line(left_out.open, "whose time for feedback is not up, while some of them are open");
  line(left_out.no_keep, "whose other candidates were never kept");
  line(left_out.damaged, "that can't be read");
  line(left_out.forgotten, "whose unit was deleted, without ids that orders could name");
}

void print_values(const OffPolicyReport& report, const serving::LeftOut& left_out,
                  const EvaluateLogOptions& options, const std::string& model) {
  fmt::print("{} in {}: {} sampled lists, {} of them with their candidates\n", model,
             store::shown_name(options.log), report::grouped(report.lists),
             report::grouped(report.kept));
  print_left_out(left_out);
  const std::string level = fmt::format("{:g} %", 100 * options.estimate.level);
  fmt::print("\n{} per list, {} intervals\n\n", name_of(options.estimate.metric), level);
  std::vector<std::vector<TableCell>> rows{{{"policy"},
                                            {"estimator"},
                                            {"value"},
                                            {"bootstrap"},
                                            {"bernstein"},
                                            {"minus logged"},
                                            {"bootstrap"}}};
  rows.push_back({{"as logged"},
                  {"mean"},
                  {number_text(report.logged, false)},
                  {span_text(report.logged_interval, false)},
                  {report::kNoNumber},
                  {report::kNoNumber},
                  {report::kNoNumber}});
  std::vector<std::string> notes;
  for (const PolicyValue& policy : report.policies) {
    bool first = true;
    for (const ValueEstimate& one : policy.estimates) {
      const bool known = one.refused.empty();
      rows.push_back({{first ? policy.name : ""},
                      {std::string(name_of(one.estimator))},
                      {known ? number_text(one.value, false) : "refused"},
                      {span_text(known ? one.bootstrap : std::nullopt, false)},
                      {span_text(known ? one.bernstein : std::nullopt, false)},
                      {known ? number_text(one.value - report.logged, true) : report::kNoNumber},
                      {span_text(known ? one.difference : std::nullopt, true)}});
      first = false;
      if (!known)
        notes.push_back(
            fmt::format("{}, {}: {}", policy.name, name_of(one.estimator), one.refused));
    }
  }
  constexpr std::size_t kAnyWidth = 10'000;  // nothing is left out
  print_table(rows, kAnyWidth);
  if (!notes.empty()) fmt::print("\n");
  for (const std::string& note : notes) fmt::print("{}\n", note);
  fmt::print("\neffective lists by rank (mean weight, 1 if the log has what the policy shows)\n\n");
  for (const PolicyValue& policy : report.policies) {
    std::vector<std::string> ranks;
    for (const RankSupport& rank : policy.ranks) {
      ranks.push_back(fmt::format("{} ({:.2f})",
                                  report::grouped(static_cast<std::uint64_t>(rank.effective_lists)),
                                  rank.mean_weight));
    }
    fmt::print("  {}: {}\n", policy.name, fmt::join(ranks, ", "));
  }
  if (!report.examination.empty()) {
    fmt::print("\nexamination by rank: {:.3f}\n", fmt::join(report.examination, ", "));
  }
}

std::uint64_t first_impression(const std::string& from) {
  const auto number = serving::first_number(from);
  if (!number) fail(Error{fmt::format("--from {}", number.error().message)});
  return *number;
}

serving::LoggedModel logged_model(const std::string& log, const std::string& name) {
  const auto store = take(store::read_store(log));
  auto found = serving::logged_model(*store, name);
  if (!found) fail(found.error().in(store::shown_name(log)));
  return *std::move(found);
}

void evaluate_log(const EvaluateLogOptions& options) {
  if (options.policies.empty()) {
    fail(
        Error{"--policy: name at least one: snapshot:ID, current, logged, order:FILE or a model "
              "file, each with @TEMPERATURE or without"});
  }
  const std::uint64_t from = first_impression(options.from);
  const serving::LoggedModel model = logged_model(options.log, options.model);
  const auto store = take(store::read_store(options.log));
  std::vector<std::unique_ptr<TargetPolicy>> policies;
  std::vector<NamedPolicy> named;
  for (const std::string& text : options.policies) {
    policies.push_back(take(serving::find_policy(text, model, *store)));
    named.push_back({text, policies.back().get()});
  }
  const auto lists = take(serving::StoredLists::open([&] { return store::read_store(options.log); },
                                                     model, serving::system_ms(), {.from = from}));
  if (std::any_of(options.policies.begin(), options.policies.end(), serving::needs_ids)) {
    lists->leave_out_forgotten();
  }
  auto report = [&] {
    StatusLine line;
    OffPolicyOptions estimate = options.estimate;
    estimate.progressed = [&line](std::size_t done, std::size_t all) {
      line.show(fmt::format("reading the log: {} %", 100 * done / all));
    };
    return off_policy(*lists, named, estimate);
  }();
  const serving::LeftOut left_out = lists->left_out();
  if (!report) {
    if (!options.json) print_left_out(left_out);
    fail(report.error().in(store::shown_name(options.log)));
  }
  if (options.json) {
    print_json(to_json(*report, left_out, options, model.row.name));
  } else {
    print_values(*report, left_out, options, model.row.name);
  }
}

}  // namespace plackett::command
