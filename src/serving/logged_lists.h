// A model's log as off-policy evaluation and learning read it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plackett/logged_list.h"
#include "plackett/result.h"
#include "serving/logged.h"
#include "serving/store.h"

namespace plackett::serving {

// Which impressions the last reading left out, and why.
struct LeftOut {
  std::uint64_t not_sampled = 0;  // sorted or given: they say nothing about other orders
  std::uint64_t open = 0;         // their time is not up, and some still take feedback
  std::int64_t open_until = 0;    // when the first of those can be used, ms since 1970; 0: none
  std::uint64_t no_keep = 0;      // their candidates were kept with probability 0
  std::uint64_t damaged = 0;
  std::uint64_t forgotten = 0;  // no ids, since their unit was; only if leave_out_forgotten()
};

// The sampled lists of a model whose feedback is complete (their time is up, or all lists are
// closed), and whose candidates had a chance to be kept. Each part has its own reader of the store,
// so parts can be read at once.
class StoredLists final : public LoggedLists {
 public:
  using OpenReader = std::function<Result<std::unique_ptr<StoreReader>>()>;
  // Of the impressions whose feedback is complete.
  struct Wanted {
    std::uint64_t newest = 0;  // at most so many; 0: all
    std::uint64_t from = 0;    // this number and higher ones
  };
  // `now`: in ms since 1970. What is shown later is not read.
  static Result<std::unique_ptr<StoredLists>> open(OpenReader open_reader, LoggedModel model,
                                                   std::int64_t now, Wanted wanted);
  static Result<std::unique_ptr<StoredLists>> open(OpenReader open_reader, LoggedModel model,
                                                   std::int64_t now) {
    return open(std::move(open_reader), std::move(model), now, Wanted());
  }

  // Leaves out lists whose unit was forgotten: they have no ids, so that orders of ids say nothing
  // about them. Before the first reading.
  void leave_out_forgotten() { leaves_out_forgotten_ = true; }

  [[nodiscard]] std::uint32_t feature_count() const override {
    return model_.spec.ranker.feature_count;
  }
  [[nodiscard]] std::size_t parts() const override { return parts_; }
  Result<void> each(std::size_t part, ListNeed need,
                    const std::function<void(const LoggedList&)>& use) override;

  // Of all parts, each as it was read last.
  [[nodiscard]] LeftOut left_out() const;
  [[nodiscard]] std::string why_none() const override;

 private:
  class Part;
  struct Source {
    std::unique_ptr<StoreReader> reader;
    ItemVersionCache items;
  };

  StoredLists(OpenReader open_reader, LoggedModel model)
      : open_reader_(std::move(open_reader)), model_(std::move(model)) {}
  // Set which impressions are read. Throw Failed.
  void choose_by_number(StoreReader& store, Wanted wanted);
  void choose_by_time(StoreReader& store, Wanted wanted);
  // The number of the oldest of the newest so many below `end_`; 0 if there are fewer.
  [[nodiscard]] std::uint64_t number_of_newest(StoreReader& store, std::uint64_t count) const;
  [[nodiscard]] std::int64_t open_ms() const {
    return std::int64_t{model_.spec.open_seconds} * 1000;
  }
  Result<std::shared_ptr<Source>> take_source();
  void give_back(std::shared_ptr<Source> source);

  OpenReader open_reader_;
  LoggedModel model_;
  std::uint64_t first_ = 0;  // of the impressions' numbers
  std::uint64_t end_ = 0;
  std::size_t parts_ = 0;
  bool leaves_out_forgotten_ = false;
  std::int64_t shown_until_ = 0;  // those that were shown later are open
  std::uint64_t open_ = 0;        // wanted impressions at `end_` and above
  std::int64_t open_until_ = 0;   // LeftOut's, of those
  std::int64_t now_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Source>> idle_;
  std::vector<LeftOut> left_out_;  // by part
};

// "21:16 UTC", rounded up to a minute; with its day if that is not the day of `now`.
std::string time_text(std::int64_t ms, std::int64_t now);

}  // namespace plackett::serving
