// A served model as the threads share it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "plackett/scaling.h"
#include "serving/experiment.h"
#include "serving/item_table.h"
#include "serving/model_spec.h"
#include "serving/service.h"
#include "serving/store.h"
#include "serving/version.h"

namespace plackett::serving {

// How long ago a model's impressions were shown, by a clock that nobody sets. The system's clock
// may step, so the times in the store serve at a start only.
class ShownMarks {
 public:
  explicit ShownMarks(std::int64_t open_ms) : step_(open_ms / 256) {}

  // The impressions below number `end` were shown by `time`. Times don't fall. Marks near each
  // other are merged, which makes impressions younger by 1/256 of the open time at most.
  void add(std::uint64_t end, std::int64_t time) {
    if (!marks_.empty() && end <= marks_.back().end) return;
    const std::size_t size = marks_.size();
    if (size > 1 && time - marks_[size - 2].time <= step_) marks_.pop_back();
    marks_.push_back({end, time});
  }

  // The number below which all were shown at `time` or before. Forgets their marks.
  std::uint64_t take_until(std::int64_t time) {
    while (!marks_.empty() && marks_.front().time <= time) {
      taken_ = std::max(taken_, marks_.front().end);
      marks_.pop_front();
    }
    return taken_;
  }

  [[nodiscard]] bool empty() const { return marks_.empty(); }

 private:
  struct Mark {
    std::uint64_t end;
    std::int64_t time;
  };
  std::int64_t step_;
  std::uint64_t taken_ = 0;
  std::deque<Mark> marks_;
};

// The numbers of lists that are not in the store yet. From any thread.
class NumbersInFlight {
 public:
  void remove(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    numbers_.erase(number);
  }
  // Takes a number by `next`, which gives none if there is none to be had.
  template <typename Next>
  std::optional<std::uint64_t> take(const Next& next) {
    const std::lock_guard lock(mutex_);
    const std::optional<std::uint64_t> number = next();
    if (number) numbers_.insert(*number);
    return number;
  }
  // Every list with a lower number that will ever be stored is stored. `next` is the first number
  // that was not taken.
  [[nodiscard]] std::uint64_t end_of_stored(const std::atomic<std::uint64_t>& next) const {
    const std::lock_guard lock(mutex_);
    return numbers_.empty() ? next.load() : *numbers_.begin();
  }
  // While no number is taken.
  template <typename Work>
  auto hold(const Work& work) const {
    const std::lock_guard lock(mutex_);
    return work();
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::uint64_t> numbers_;
};

class Model {
 public:
  // Requires: a checked spec, and its row.
  Model(ModelSpec spec, const ModelRow& row);

  const ModelSpec spec;  // its `logging` may be outdated: see logging()
  const FeatureNames names;
  const Scaling scaling;
  const std::int64_t id;
  const std::int64_t created_at;

  ItemTable items;
  Publication publication;
  std::atomic<std::uint64_t> next_number;
  NumbersInFlight in_flight;
  // Numbers from here on may not be used yet. The store has this mark before numbers below it are
  // used, so that no number is used again after a crash.
  std::atomic<std::uint64_t> reserved;
  // Numbers to go on with when those are used; guarded by in_flight.
  NumberBlock spare{};
  std::int64_t spare_since = 0;  // when they were reserved, by the steady clock; guarded likewise
  std::int64_t number_node = 0;  // NumberBlock::node of those below `reserved`; guarded likewise
  std::int64_t number_since = 0;
  std::atomic<std::uint64_t> numbers_taken{0};  // since the start of the process
  std::atomic<std::uint64_t> numbers_asked{0};  // by requests that wait for them
  std::atomic<bool> removed{false};
  // The epoch in which this node leads the model, which lets it write the model's log; 0 if another
  // node does. Always above 0 if there is only one.
  std::atomic<std::int64_t> lead{1};
  std::atomic<bool> takes_queued{false};  // a transaction is to log what others have queued for it
  // Several nodes make its lists: numbers don't follow time, and only the times in the store tell
  // which lists take feedback.
  bool shared = false;
  // Impressions below take no more feedback: their time is up.
  std::atomic<std::uint64_t> due;
  std::atomic<bool> snapshot_lost{false};  // the store refused an automatic one

  // The probability that candidates are kept; part of logging().
  std::atomic<double> candidates;
  [[nodiscard]] LogSettings logging() const {
    const std::lock_guard lock(logging_mutex_);
    return logging_;
  }
  // Only for the writer.
  void set_logging(LogSettings logging) {
    candidates = logging.candidates;
    has_references = has_references || logging.candidates > 0;
    ++own_changes;
    const std::lock_guard lock(logging_mutex_);
    logging_ = std::move(logging);
  }

  ExperimentSlot experiment;  // the running one
  // How often the writer's thread has changed it or logging().
  std::atomic<std::uint64_t> own_changes{0};
  // Models that make, or made, lists for its experiments.
  [[nodiscard]] std::vector<ModelHandle> arm_models() const {
    const std::lock_guard lock(arm_models_mutex_);
    return arm_models_;
  }
  void add_arm_model(const ModelHandle& model) {
    const std::lock_guard lock(arm_models_mutex_);
    if (std::find(arm_models_.begin(), arm_models_.end(), model) == arm_models_.end()) {
      arm_models_.push_back(model);
    }
  }
  // It was removed: another one may get its name.
  void remove_arm_model(const ModelHandle& model) {
    const std::lock_guard lock(arm_models_mutex_);
    std::erase(arm_models_, model);
  }
  void clear_arm_models() {
    const std::lock_guard lock(arm_models_mutex_);
    arm_models_.clear();
  }
  // Whether it became one for an experiment of this model, and for nothing else.
  [[nodiscard]] bool is_fork(const ModelHandle& model) const {
    const std::lock_guard lock(arm_models_mutex_);
    return forks_.contains(model->id);
  }
  void add_fork(const ModelHandle& model) {
    const std::lock_guard lock(arm_models_mutex_);
    forks_.insert(model->id);
  }
  // Its experiments, ended ones too, by id.
  [[nodiscard]] bool has_experiment(std::int64_t number) const {
    const std::lock_guard lock(arm_models_mutex_);
    return experiments_.contains(number);
  }
  void add_experiment(std::int64_t number) {
    const std::lock_guard lock(arm_models_mutex_);
    experiments_.insert(number);
  }

  // Only the writer's thread uses these.
  std::uint64_t reserved_in_store;
  // If several nodes make its lists: how many numbers are reserved at once. It follows how many are
  // used, since what is not used soon is given up.
  static constexpr std::uint64_t kLeastBlock = 64;  // if there are none left
  static constexpr std::uint64_t kMostBlock = std::uint64_t{1} << 15;
  std::uint64_t block = kLeastBlock;
  std::uint64_t numbers_seen = 0;    // numbers_taken when upkeep looked last
  std::int64_t numbers_seen_at = 0;  // and since when it has not changed
  // Store::set_numbers_used(); none if more were reserved since.
  std::optional<std::uint64_t> numbers_told = ImpressionKey::kNumbers;
  std::int64_t numbers_told_at = 0;
  // A transaction that reserved numbers has failed, perhaps after its commit.
  std::atomic<bool> numbers_are_in_doubt{false};
  std::int64_t numbers_node = 0;  // the node that reserved those that are left
  std::int64_t expired_at = 0;    // when upkeep closed lists last, by the steady clock
  // Numbers in [gap_begin, gap_end) were reserved before the last start, and never used.
  std::uint64_t gap_begin = 0;
  std::uint64_t gap_end = 0;
  std::uint64_t expired;  // as the store has it: what is below is closed
  // Numbers from `expired` on whose lists went with their unit, so that the store no longer knows
  // that they are closed. Those from before the last start are not here.
  std::set<std::uint64_t> dropped_early{};
  ShownMarks shown_marks;
  std::int64_t dropped_log;
  bool has_references;           // lists may refer to versions of items
  bool replaced_items = false;   // since Store::limit_references()
  bool has_old_versions = true;  // of items that no list refers to, maybe
  std::int64_t trimmed_log = 0;  // the store has no entry up to this one

  // Counts of what is in the store.
  std::atomic<std::uint64_t> shown{0};
  // After a start it is an estimate, until none is open.
  std::atomic<std::uint64_t> open{0};
  // Since the start of the process.
  std::array<std::atomic<std::uint64_t>, kFeedbackStatuses> events{};
  std::array<std::atomic<std::uint64_t>, kFeedbackStatuses> clicks{};
  std::atomic<double> entropy{0};
  std::atomic<double> update_norm{0};

  // Brings `due` up to date; `elapsed` is the steady clock's time. Only for the writer.
  std::uint64_t update_due(std::int64_t elapsed);
  // Whether the time of a list is up, as far as `due` is up to date.
  [[nodiscard]] bool is_due(std::uint64_t number, std::int64_t shown_at, std::int64_t now) const {
    return number < due || (shared && shown_at + open_ms() <= now);
  }
  [[nodiscard]] std::int64_t open_ms() const { return std::int64_t{spec.open_seconds} * 1000; }
  // A number for a list; none if the store must reserve more first.
  // And the node whose it is.
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::int64_t>> take_number();
  [[nodiscard]] bool has_numbers() const;
  // Adds numbers to those that are left; `now` is the steady clock's. Only for the writer.
  void add_numbers(const NumberBlock& more, std::int64_t now);
  // Gives up the numbers that are left. Only for the writer.
  void drop_numbers();
  // Those that another node has reserved: this process has been ended as that one.
  void drop_numbers_of_others(std::int64_t node);
  // Gives up numbers that were reserved at `time` or before, if there are others to go on with.
  // Only for the writer.
  void drop_old_numbers(std::int64_t time);
  // When the next number was reserved. Requires: there is one.
  [[nodiscard]] std::int64_t numbers_since() const;
  // Numbers left of both blocks.
  [[nodiscard]] std::uint64_t numbers_left() const;
  // Lists with this number and higher ones don't refer to versions of items that are replaced in
  // the current transaction; 0 if no list does. Only for the writer, which alone reserves numbers.
  [[nodiscard]] std::uint64_t end_of_references() const {
    if (shared) return 1;  // the store knows what other nodes have reserved
    return has_references ? reserved_in_store : 0;
  }
  // How many of dropped_early are in [expired, end).
  [[nodiscard]] std::uint64_t dropped_before(std::uint64_t end) const {
    return static_cast<std::uint64_t>(std::distance(
        dropped_early.lower_bound(expired), dropped_early.lower_bound(std::max(end, expired))));
  }
  // Its row with id and marks alone.
  [[nodiscard]] ModelRow marks() const;
  // How many numbers in [from, to) were used, without the gap of the last start.
  [[nodiscard]] std::uint64_t numbers_used(std::uint64_t from, std::uint64_t to) const;

 private:
  mutable std::mutex logging_mutex_;
  LogSettings logging_;
  mutable std::mutex arm_models_mutex_;
  std::vector<ModelHandle> arm_models_;
  std::set<std::int64_t> experiments_;
  std::set<std::int64_t> forks_;  // ids

  void use_spare();  // in_flight is held
};

// The id that callers see, "i-41", and back; none if it has another form.
std::string impression_name(std::uint64_t number);
std::optional<std::uint64_t> impression_number(std::string_view name);
// The number of the first list that a caller wants: "i-41", "41", or empty for 0.
Result<std::uint64_t> first_number(std::string_view text);
// The same for a list that `maker` made for an arm of another model: "i-41@maker".
std::string arm_impression_name(std::uint64_t number, const Model& maker);
// Whether only the service gives names of this form.
bool is_service_name(std::string_view name);

// A list and the model that made it.
struct FoundImpression {
  std::int64_t id = 0;
  ModelHandle maker;  // null: the model itself
};
// The impression that callers of the model know by this name, if there is one; it may have been
// dropped. The model's own are looked for first, then those that others made for its experiments;
// what they made for themselves is not found.
Result<std::optional<FoundImpression>> find_impression(StoreReader& store, const Model& model,
                                                       std::string_view name);
// The model and those that make lists for its experiments.
std::vector<std::int64_t> with_arms(const Model& model);
// What find_impression() reads for this name.
void add_touched(Touched& touched, const Model& model, const std::string& name);

}  // namespace plackett::serving
