#include "serving/experiment_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "serving/experiment_report.h"
#include "serving/promotion.h"

namespace plackett::serving {
namespace {

constexpr std::int64_t kPoints = 100;

std::uint64_t events_of(const std::vector<ArmSums>& arms) {
  std::uint64_t total = 0;
  for (const ArmSums& arm : arms) total += arm.impressions + arm.clicks;
  return total;
}

std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

// What the rules say now.
struct Verdict {
  std::vector<ExperimentState::Stopped> stopped{};  // by the guard
  bool none_left = false;                           // all challengers are stopped
  const ArmSpec* winner = nullptr;
  double at_least = 0;  // the lower bound of its lift
};

Verdict judge(const Experiment& experiment, const LogSettings& logging,
              const std::vector<ArmSums>& sums, std::int64_t now) {
  const ExperimentSpec& spec = experiment.spec;
  const bool may_promote = spec.promote && now - experiment.started_at >= after_ms(*spec.promote);
  Verdict verdict;
  std::size_t left = 0;
  for (std::uint32_t arm = 0; arm < spec.arms.size(); ++arm) {
    if (arm == spec.baseline || experiment.stopped[arm] != 0) continue;
    ++left;
    const auto lift = compare_arm(spec, logging, sums, arm).lift;
    const auto greatest = spec.guard ? greatest_lift(spec, logging, sums, arm) : std::nullopt;
    if (greatest && *greatest < -drop_of(*spec.guard)) {
      ExperimentState::Stopped stopped = stopped_now(spec, logging, sums, arm);
      stopped.because =
          fmt::format("guard: its lift is below {}: ", percent(-drop_of(*spec.guard)));
      stopped.because += lift ? fmt::format("{} to {}", percent(lift->low), percent(lift->high))
                              : fmt::format("{} at most", percent(std::max(-1.0, *greatest)));
      stopped.at = now;
      verdict.stopped.push_back(std::move(stopped));
      --left;
    } else if (may_promote && lift && lift->low > margin_of(*spec.promote) &&
               (verdict.winner == nullptr || lift->low > verdict.at_least)) {
      verdict.winner = &spec.arms[arm];
      verdict.at_least = lift->low;
    }
  }
  verdict.none_left = left == 0 && !verdict.stopped.empty();
  return verdict;
}

}  // namespace

ExperimentRules::Kept& ExperimentRules::kept_of(const Experiment& experiment) {
  const auto [found, is_new] = kept_.try_emplace(experiment.id);
  if (is_new) {
    for (const ArmsPoint& point : take(parts_.store->read().arm_points(experiment.id))) {
      found->second.times.push_back(point.at);
      found->second.events = events_of(point.arms);
    }
  }
  return found->second;
}

void ExperimentRules::watch(const ModelHandle& model, const ExperimentHandle& experiment) {
  const std::int64_t now = parts_.options.clock();
  const auto sums = take(parts_.store->read().arm_sums(experiment->id));
  const Verdict verdict = judge(*experiment, model->logging(), sums, now);
  // About kPoints times over the time that it has run, if something happened since.
  Kept kept = kept_of(*experiment);
  const std::int64_t step = std::max<std::int64_t>(1000, (now - experiment->started_at) / kPoints);
  const bool point_due =
      events_of(sums) != kept.events && (kept.times.empty() || now >= kept.times.back() + step);
  const std::string& name = experiment->spec.name;
  const auto tell = [&](const std::string& what) {
    parts_.log(fmt::format("experiment {} of model {}: {}", name, model->spec.name, what));
  };
  ExperimentHandle changed;
  bool ended = false;
  const auto stop_arms = [&](Transaction& transaction) {
    transaction.lead(model);
    Store& store = transaction.store;
    if (verdict.none_left) refuse_unlearned(*model, store.read());
    changed.reset();
    ended = false;
    kept = kept_of(*experiment);
    if (point_due) {
      take(store.add_arm_point(experiment->id, transaction.now));
      // Every other one goes if they are many.
      const bool many = kept.times.size() >= 2 * kPoints;
      for (std::size_t at = 1; many && at < kept.times.size(); ++at) {
        take(store.delete_arm_point(experiment->id, kept.times[at]));
        kept.times.erase(kept.times.begin() + static_cast<std::ptrdiff_t>(at));
      }
      kept.times.push_back(transaction.now);
      kept.events = events_of(sums);
    }
    if (verdict.stopped.empty()) return;
    transaction.change(model);
    StoredExperiment stored = find_experiment(*model, name, store.read());
    for (const auto& one : verdict.stopped) stored.state.stopped.push_back(one);
    if (verdict.none_left) {
      fall_back_in(transaction, model, stored, "the guard stopped all challengers");
      ended = true;
    } else {
      write_state(transaction, stored);
      changed = running_one(parts_, model, stored);
    }
  };
  const auto arms_stopped = [&] {
    kept_[experiment->id] = std::move(kept);
    if (ended) {
      withdraw(parts_, *model, experiment->id);
    } else if (changed) {
      publish(parts_, model, changed);
    }
  };
  if (point_due || !verdict.stopped.empty()) take(parts_.writer->run_now(stop_arms, arms_stopped));
  for (const auto& one : verdict.stopped) tell("stopped " + one.arm + ", " + one.because);
  if (verdict.winner == nullptr) return;
  // After what must not wait for it, and in a transaction of its own: it may be refused.
  bool promoted = false;
  take(parts_.writer->run_now(
      [&](Transaction& transaction) {
        transaction.lead(model);
        transaction.change(model);
        StoredExperiment stored = find_experiment(*model, name, transaction.store.read());
        promote_in(parts_, transaction, model, stored, *verdict.winner,
                   fmt::format("promoted {}: {}, its lift is at least {}", verdict.winner->name,
                               experiment->spec.promote->when, percent(verdict.at_least)));
      },
      [&] {
        withdraw(parts_, *model, experiment->id);
        promoted = true;
      }));
  if (promoted) tell("promoted " + verdict.winner->name);
}

void ExperimentRules::drop_units() {
  constexpr std::uint32_t kAtOnce = 2000;
  for (const std::int64_t experiment : take(parts_.store->read().experiments_with_units())) {
    // Another node may have started it a moment ago.
    const auto rows = take(parts_.store->read().experiments());
    if (std::any_of(rows.begin(), rows.end(), [&](const ExperimentRow& row) {
          return row.id == experiment && row.ended_at == 0;
        })) {
      continue;
    }
    take(parts_.writer->run_now([&](Transaction& transaction) {
      take(transaction.store.drop_unit_totals(experiment, kAtOnce));
    }));
    return;
  }
}

void ExperimentRules::apply() {
  constexpr std::chrono::seconds kBetween{1};
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kBetween) return;
  looked_ = now;
  drop_units();
  const auto has_ended = [&](const auto& one) { return !parts_.running.contains(one.first); };
  std::erase_if(kept_, has_ended);
  std::erase_if(failures_, has_ended);
  if (parts_.running.empty()) return;
  for (const ModelHandle& model : parts_.all_models()) {
    if (model->lead == 0) continue;
    const auto experiment = model->experiment.get();
    if (!experiment) continue;
    const auto watched = attempt([&] { watch(model, experiment); });
    std::string failure = watched ? "" : watched.error().message;
    std::string& last = failures_[experiment->id];
    if (!failure.empty() && failure != last) {
      parts_.log(fmt::format("experiment {} of model {}: its rules could not be applied: {}",
                             experiment->spec.name, model->spec.name, failure));
    }
    last = std::move(failure);
  }
}

}  // namespace plackett::serving
