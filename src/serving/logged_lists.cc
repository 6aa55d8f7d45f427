#include "serving/logged_lists.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/attempt.h"
#include "base/hash.h"
#include "plackett/feature_view.h"

namespace plackett::serving {
namespace {

constexpr std::uint64_t kPartSize = 4096;  // impressions' numbers
constexpr std::uint32_t kIdsAtOnce = 1024;
constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();

// 0: none.
std::int64_t earliest(std::int64_t left, std::int64_t right) {
  return left == 0 || right == 0 ? std::max(left, right) : std::min(left, right);
}

// Lists with lower numbers are complete: their time is up, or all lists are closed. What users
// closed early does not count before the others, since such lists differ from those that they
// leave.
std::uint64_t complete_end(StoreReader& store, const LoggedModel& model, std::int64_t now) {
  const std::int64_t id = model.row.id;
  const std::int64_t young = now - std::int64_t{model.spec.open_seconds} * 1000;
  // Numbers follow time, so binary search.
  std::uint64_t low = model.row.expired;
  std::uint64_t high = std::max(low, model.row.next_number);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto shown = take(store.shown_from(id, middle));
    if (!shown || shown->second > young) {
      high = middle;
    } else {
      low = shown->first + 1;
    }
  }
  const bool all_closed = !take(store.first_open(id, low, model.row.next_number, kAnyTime));
  return all_closed ? model.row.next_number : low;
}

std::string with_commas(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

}  // namespace

// Turns impressions into lists. Reuses its memory.
class StoredLists::Part {
 public:
  Part(const StoredLists& all, LeftOut& left_out) : all_(all), left_out_(left_out) {}

  void add(const LoggedImpression& logged, ListNeed need,
           const std::function<void(const LoggedList&)>& use) {
    const Impression& impression = logged.kept.impression;
    if (impression.mode != Mode::kExplore) {
      ++left_out_.not_sampled;
      return;
    }
    const bool forgotten = !impression.shown.empty() && impression.shown.front().id.empty();
    if (forgotten && all_.leaves_out_forgotten_) {
      ++left_out_.forgotten;
      return;
    }
    // Without others nothing had to be kept.
    const bool whole = impression.rest.empty();
    if (impression.keep <= 0 && !whole) {
      ++left_out_.no_keep;
      return;
    }
    const std::uint32_t sampled = impression.sampled_count();
    const std::size_t stride = padded_width(impression.feature_count);
    if (impression.rows.size() < sampled * stride) {
      ++left_out_.damaged;
      return;
    }
    const bool kept = impression.kept || whole;
    rows_.assign(impression.rows.begin(),
                 impression.rows.begin() + static_cast<std::ptrdiff_t>(sampled * stride));
    scores_.clear();
    ids_.clear();
    pinned_.clear();
    clicked_.clear();
    for (std::size_t rank = 0; rank < impression.shown.size(); ++rank) {
      const ShownItem& item = impression.shown[rank];
      pinned_.push_back(item.pinned ? 1 : 0);
      clicked_.push_back(static_cast<std::uint8_t>(logged.response.clicked[rank]));
      if (item.pinned) continue;
      ids_.emplace_back(item.id);
      scores_.push_back(static_cast<float>(item.sampled_score));
    }
    if (kept && need == ListNeed::kAll) {
      const auto temperature = static_cast<float>(all_.model_.spec.temperature);
      rows_.insert(rows_.end(), impression.other_rows.begin(), impression.other_rows.end());
      for (const OtherItem& other : impression.others) {
        ids_.emplace_back(other.id);
        scores_.push_back(other.score / temperature);
      }
    }
    LoggedList list;
    list.name = logged.name;
    list.unit = checksum(logged.kept.unit.empty() ? std::string_view(logged.name)
                                                  : std::string_view(logged.kept.unit));
    list.docs = FeatureView(rows_.data(), static_cast<std::uint32_t>(scores_.size()),
                            impression.feature_count);
    if (!forgotten) list.ids = ids_;
    list.scores = scores_;
    list.pinned = pinned_;
    list.clicked = clicked_;
    list.rewards = logged.rewards;
    list.keep = whole ? 1 : impression.keep;
    list.kept = kept;
    use(list);
  }

 private:
  const StoredLists& all_;
  LeftOut& left_out_;
  AlignedVector<float> rows_;
  std::vector<std::string_view> ids_;
  std::vector<float> scores_;
  std::vector<std::uint8_t> pinned_;
  std::vector<std::uint8_t> clicked_;
};

Result<std::unique_ptr<StoredLists>> StoredLists::open(OpenReader open_reader, LoggedModel model,
                                                       std::int64_t now, Wanted wanted) {
  return attempt([&] {
    std::unique_ptr<StoredLists> made(new StoredLists(std::move(open_reader), std::move(model)));
    const auto source = take(made->take_source());
    StoreReader& store = *source->reader;
    made->now_ = now;
    if (store.numbers_follow_time()) {
      made->choose_by_number(store, wanted);
    } else {
      made->choose_by_time(store, wanted);
    }
    made->parts_ =
        static_cast<std::size_t>((made->end_ - made->first_ + kPartSize - 1) / kPartSize);
    made->left_out_.resize(made->parts_);
    made->give_back(source);
    return made;
  });
}

void StoredLists::choose_by_number(StoreReader& store, Wanted wanted) {
  const std::int64_t id = model_.row.id;
  const auto first = take(store.shown_from(id, 0));
  // Numbers are reserved ahead: lists that come up while this is read have higher ones.
  const auto newest_id = take(store.recent(id, 1, false));
  const std::uint64_t shown =
      newest_id.empty() ? 0 : ImpressionKey::of(newest_id.front()).number + 1;
  end_ = std::min(shown, complete_end(store, model_, now_));
  first_ = first ? std::min(first->first, end_) : end_;
  shown_until_ = kEver;
  const std::uint64_t first_open = std::max(end_, wanted.from);
  for (std::uint64_t number = first_open; number < model_.row.next_number;) {
    const auto ids = take(store.from(id, number, kIdsAtOnce));
    open_ += ids.size();
    if (ids.size() < kIdsAtOnce) break;
    number = ImpressionKey::of(ids.back()).number + 1;
  }
  if (open_ > 0) {
    const auto oldest = take(store.shown_from(id, first_open));
    if (oldest) open_until_ = oldest->second + open_ms();
  }
  if (wanted.newest > 0) first_ = std::max(first_, number_of_newest(store, wanted.newest));
  first_ = std::max(first_, std::min(wanted.from, end_));
}

void StoredLists::choose_by_time(StoreReader& store, Wanted wanted) {
  const std::int64_t id = model_.row.id;
  const auto last = take(store.shown_before(id, ImpressionKey::kNumbers));
  end_ = last ? last->first + 1 : 0;
  const auto choose = [&](std::int64_t shown_until) {
    shown_until_ = shown_until;
    const auto first =
        wanted.newest > 0 ? take(store.newest_shown(id, shown_until, wanted.newest)) : std::nullopt;
    first_ = first.value_or(0);
  };
  choose(now_ - open_ms());
  const bool all_closed = !take(store.first_open(id, first_, end_, shown_until_));
  if (all_closed) choose(now_);
  const auto first = take(store.shown_from(id, std::max(first_, wanted.from)));
  first_ = first ? std::min(first->first, end_) : end_;
}

std::uint64_t StoredLists::number_of_newest(StoreReader& store, std::uint64_t count) const {
  // Numbers have gaps, so the ids are looked at.
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto wanted = static_cast<std::uint32_t>(std::min(kMost, count + open_));
  const auto ids = take(store.recent(model_.row.id, wanted, false));
  if (ids.size() < wanted) return 0;
  return ImpressionKey::of(ids.back()).number;
}

Result<std::shared_ptr<StoredLists::Source>> StoredLists::take_source() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto source = idle_.back();
      idle_.pop_back();
      return source;
    }
  }
  auto reader = open_reader_();
  if (!reader) return reader.error();
  auto source = std::make_shared<Source>();
  source->reader = *std::move(reader);
  return source;
}

void StoredLists::give_back(std::shared_ptr<Source> source) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(source));
}

Result<void> StoredLists::each(std::size_t part, ListNeed need,
                               const std::function<void(const LoggedList&)>& use) {
  return attempt([&] {
    const auto source = take(take_source());
    LeftOut left_out;
    Part lists(*this, left_out);
    std::uint64_t number = first_ + part * kPartSize;
    const std::uint64_t end = std::min(end_, number + kPartSize);
    while (number < end) {
      const auto ids = take(source->reader->from(model_.row.id, number, kIdsAtOnce));
      for (const std::int64_t id : ids) {
        number = ImpressionKey::of(id).number + 1;
        if (number > end) break;
        const auto logged = take(read_logged(*source->reader, model_.spec.logging, id, Rows::kRead,
                                             need == ListNeed::kAll ? &source->items : nullptr));
        if (!logged) {
          ++left_out.damaged;
        } else if (const std::int64_t shown_at = logged->kept.shown_at; shown_at > shown_until_) {
          ++left_out.open;
          left_out.open_until = earliest(left_out.open_until, shown_at + open_ms());
        } else {
          lists.add(*logged, need, use);
        }
      }
      if (ids.size() < kIdsAtOnce) break;
    }
    give_back(source);
    const std::lock_guard lock(mutex_);
    left_out_[part] = left_out;
  });
}

LeftOut StoredLists::left_out() const {
  const std::lock_guard lock(mutex_);
  LeftOut sum;
  sum.open = open_;
  sum.open_until = open_until_;
  for (const LeftOut& part : left_out_) {
    sum.open += part.open;
    sum.open_until = earliest(sum.open_until, part.open_until);
    sum.not_sampled += part.not_sampled;
    sum.no_keep += part.no_keep;
    sum.damaged += part.damaged;
    sum.forgotten += part.forgotten;
  }
  return sum;
}

std::string StoredLists::why_none() const {
  const LeftOut out = left_out();
  const auto lists = [](std::uint64_t count, std::string_view one, std::string_view many) {
    return count == 1 ? fmt::format("1 list {}", one)
                      : fmt::format("{} lists {}", with_commas(count), many);
  };
  std::vector<std::string> reasons;
  if (out.open > 0) {
    reasons.push_back(fmt::format("{}; the first can be used from {}",
                                  lists(out.open, "waits for feedback", "wait for feedback"),
                                  time_text(out.open_until, now_)));
  }
  if (out.not_sampled > 0) {
    reasons.push_back(lists(out.not_sampled, "was sorted or given, which says",
                            "were sorted or given, which say") +
                      " nothing about other orders");
  }
  if (out.damaged > 0) reasons.push_back(lists(out.damaged, "can't be read", "can't be read"));
  if (out.forgotten > 0) {
    reasons.push_back(lists(out.forgotten, "has no ids, since its unit was deleted",
                            "have no ids, since their units were deleted"));
  }
  // More feedback would not help here, so that it comes first.
  if (out.no_keep > 0 || (out.open > 0 && model_.spec.logging.candidates <= 0)) {
    reasons.insert(reasons.begin(),
                   "no candidates were kept, and without them nothing can be said about other "
                   "orders: set \"candidates\" to \"all\" or a probability");
    return fmt::format("no sampled list with its other candidates: {}", fmt::join(reasons, "; "));
  }
  if (reasons.empty()) return "";
  return fmt::format("no sampled list whose feedback is complete: {}", fmt::join(reasons, "; "));
}

std::string time_text(std::int64_t ms, std::int64_t now) {
  constexpr std::int64_t kMinute = 60'000;
  constexpr std::int64_t kDay = 24 * 60 * kMinute;
  const std::int64_t minutes = (ms + kMinute - 1) / kMinute;
  const auto time = fmt::gmtime(static_cast<std::time_t>(minutes * 60));
  if (minutes * kMinute / kDay == now / kDay) return fmt::format("{:%H:%M} UTC", time);
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", time);
}

}  // namespace plackett::serving
