#include "audit_cases.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "plackett/make_user.h"
#include "plackett/protocol.h"

namespace plackett::command {

audit::CaseOptions case_options(const AuditOptions& options) {
  audit::CaseOptions cases{.max_docs = options.docs};
  const std::size_t labels = options.labels.size();
  const std::size_t docs = std::max(labels, options.scores.size());
  if (labels != 0 && !options.scores.empty() && labels != options.scores.size()) {
    fail({fmt::format("--labels has {} values and --scores {}; expected one per document each",
                      labels, options.scores.size())});
  }
  if (docs != 0 && (docs < 2 || docs > audit::kMaxDocs)) {
    fail({fmt::format("{} documents; expected 2 to {}", docs, audit::kMaxDocs)});
  }
  for (const double score : options.scores) {
    // Beyond that, rounding decides which of two probabilities is larger.
    constexpr double kMost = 1000;
    if (!(std::abs(score) <= kMost)) {
      fail({fmt::format("--scores: {}; expected scores from -{} to {}", score, kMost, kMost)});
    }
  }
  for (const std::uint32_t label : options.labels) {
    if (label < options.grades) continue;
    fail({fmt::format("--labels: {}; with {} grades labels are 0 to {}", label, options.grades,
                      options.grades - 1)});
  }
  if (options.k == 1) fail({"--k 1; a list of one document holds no pair"});
  if (const std::size_t most = docs == 0 ? options.docs : docs; options.k > most) {
    fail({fmt::format("--k {}; there are at most {} documents", options.k, most)});
  }
  if (!options.scores.empty()) cases.scores = options.scores;
  if (labels != 0) cases.labels.emplace(options.labels.begin(), options.labels.end());
  if (options.k != 0) cases.k = options.k;
  if (cases.labels && cases.scores && !cases.k) cases.k = static_cast<std::uint32_t>(labels);
  return cases;
}

// The kind to draw for each case, if the model is one.
std::optional<audit::DrawnUser> drawn_kind(std::string_view model) {
  const auto names = audit::drawn_user_names();
  const auto found = std::find(names.begin(), names.end(), model);
  if (found == names.end()) return std::nullopt;
  return static_cast<audit::DrawnUser>(found - names.begin());
}

namespace {

void check_name(const std::string& model) {
  const auto names = click_model_names();
  if (model.ends_with(".toml") || drawn_kind(model) ||
      std::find(names.begin(), names.end(), model) != names.end()) {
    return;
  }
  fail({fmt::format("unknown click model \"{}\"; known: {}, {}, {}, or a file that ends in .toml",
                    model, "all", fmt::join(names, ", "),
                    fmt::join(audit::drawn_user_names(), ", "))});
}

}  // namespace

std::vector<std::string> audited_models(const AuditOptions& options) {
  if (options.click_model != "all") return {options.click_model};
  return {click_model_names().begin(), click_model_names().end()};
}

AuditedUser::AuditedUser(const std::string& model, const AuditOptions& options)
    : name_(model), grades_(options.grades), stop_rule_(rules_of(options.spec.protocol).stop_rule) {
  check_name(model);
  kind_ = drawn_kind(model);
  if (kind_) return;
  user_ = take(make_user(
      model, {.grade_count = options.grades, .stop_rule = stop_rule_, .eta = options.spec.eta}));
  name_ = user_->name();
}

const User& AuditedUser::draw(Rng& rng) {
  if (kind_) user_ = audit::draw_user(*kind_, grades_, rng, stop_rule_);
  return *user_;
}

}  // namespace plackett::command
