// What `plackett audit` is asked for, in both its kinds: the theorem, and off-policy estimates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "plackett/audit.h"
#include "plackett/user.h"

namespace plackett::command {

struct AuditOptions {
  std::string click_model = "all";
  std::uint32_t docs = 4;
  std::uint32_t k = 0;
  std::vector<std::uint32_t> labels;
  std::vector<double> scores;
  std::uint32_t grades = 5;
  std::string weight = "rho";
  PairOptions pairs;
  SimulationSpec spec;  // of which protocol, eta and seed are read
  std::uint64_t cases = 500;
  bool off_policy = false;
  std::uint64_t logs = 0;  // simulated for the coverage of intervals; 0: none
  std::uint32_t lists = 2000;
  bool json = false;
};

// Fails if they don't fit each other.
audit::CaseOptions case_options(const AuditOptions& options);
// The names of the click models to audit.
std::vector<std::string> audited_models(const AuditOptions& options);

// A click model, or a kind of which each case has another. Fails on an unknown name.
class AuditedUser {
 public:
  AuditedUser(const std::string& model, const AuditOptions& options);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_drawn() const { return kind_.has_value(); }
  // The user of a case. Valid until the next call.
  const User& draw(Rng& rng);
  // The same, to keep.
  [[nodiscard]] std::shared_ptr<const User> share() const { return user_; }

 private:
  std::string name_;
  std::optional<audit::DrawnUser> kind_;
  std::uint32_t grades_;
  StopRule stop_rule_;
  std::shared_ptr<User> user_;
};

// The kind to draw for each case, if the model is one.
std::optional<audit::DrawnUser> drawn_kind(std::string_view model);

// `plackett audit --off-policy`.
void audit_off_policy(const AuditOptions& options);

}  // namespace plackett::command
