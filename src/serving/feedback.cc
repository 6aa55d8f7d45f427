// Joins events to the impressions that they are about, inside the writer's transaction.
#include <algorithm>
#include <unordered_map>

#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// An impression and what was done with it, as a job goes through its events.
struct Joined {
  bool known = false;
  store::KeptImpression kept;
  store::ResponseRow response;
  bool late = false;  // it took no more feedback when the job began
  bool changed = false;
};

class Joiner {
 public:
  Joiner(const ModelHandle& model, Group& group) : model_(model), group_(group) {}

  Result<FeedbackStatus> join(const FeedbackEvent& event);
  // Writes what changed.
  Result<void> finish();
  [[nodiscard]] std::uint64_t closed() const { return closed_; }

 private:
  Result<Joined*> find(const std::string& name);
  Result<FeedbackStatus> close(Joined& joined);
  void count_click(const Joined& joined, std::uint32_t rank);

  const ModelHandle& model_;
  Group& group_;
  std::unordered_map<std::int64_t, Joined> impressions_;
  std::uint64_t closed_ = 0;
};

Result<Joined*> Joiner::find(const std::string& name) {
  std::int64_t id = -1;
  if (const auto number = impression_number(name)) {
    id = store::ImpressionKey{model_->id, *number}.id();
  } else {
    auto given = group_.store.read().given_id(model_->id, name);
    if (!given) return given.error();
    if (*given) id = **given;
  }
  const auto [found, is_new] = impressions_.try_emplace(id);
  Joined& joined = found->second;
  if (!is_new || id < 0) return &joined;
  auto kept = group_.store.read().impression(id, store::Rows::kSkip);
  if (!kept) return kept.error();
  if (!*kept) return &joined;
  auto response = group_.store.read().response(id);
  if (!response) return response.error();
  joined.known = true;
  joined.kept = std::move(**kept);
  if (*response) joined.response = std::move(**response);
  joined.response.clicked.resize(joined.kept.impression.shown.size());
  joined.response.viewed.resize(joined.kept.impression.shown.size());
  const std::uint64_t number = store::ImpressionKey::of(id).number;
  const std::int64_t open_ms = std::int64_t{model_->spec.open_seconds} * 1000;
  joined.late = joined.response.closed != store::Closed::kNo || number < model_->expired ||
                joined.kept.shown_at + open_ms <= group_.now;
  return &joined;
}

void Joiner::count_click(const Joined& joined, std::uint32_t rank) {
  store::SeriesRow& series = group_.series(model_);
  ++series.clicks;
  const auto& clicked = joined.response.clicked;
  const auto best = std::find(clicked.begin(), clicked.end(), std::byte{1}) - clicked.begin();
  const double reciprocal = 1.0 / (rank + 1.0);
  if (best == static_cast<std::ptrdiff_t>(clicked.size())) {
    ++series.clicked;
    series.reciprocal_ranks += reciprocal;
  } else if (static_cast<std::ptrdiff_t>(rank) < best) {
    series.reciprocal_ranks += reciprocal - 1.0 / (static_cast<double>(best) + 1.0);
  }
}

Result<FeedbackStatus> Joiner::close(Joined& joined) {
  const bool learns = joined.kept.impression.learnable && model_->publication.latest()->learning;
  joined.response.closed = learns ? store::Closed::kLearned : store::Closed::kUnlearned;
  ++closed_;
  return FeedbackStatus::kAccepted;
}

Result<FeedbackStatus> Joiner::join(const FeedbackEvent& event) {
  if (!event.event_id.empty()) {
    auto seen = group_.store.read().event_seen(model_->id, event.event_id);
    if (!seen) return seen.error();
    if (*seen) return FeedbackStatus::kDuplicate;
  }
  auto found = find(event.impression);
  if (!found) return found.error();
  Joined& joined = **found;
  if (!joined.known) return FeedbackStatus::kUnknownImpression;
  const auto& shown = joined.kept.impression.shown;
  std::optional<std::uint32_t> rank;
  if (event.kind != EventKind::kClose) {
    const auto at = std::find_if(shown.begin(), shown.end(),
                                 [&event](const auto& item) { return item.id == event.item; });
    if (at == shown.end()) return FeedbackStatus::kUnknownItem;
    rank = static_cast<std::uint32_t>(at - shown.begin());
    const auto& marks =
        event.kind == EventKind::kClick ? joined.response.clicked : joined.response.viewed;
    if (marks[*rank] != std::byte{0}) return FeedbackStatus::kDuplicate;
  } else if (joined.response.closed != store::Closed::kNo) {
    return FeedbackStatus::kDuplicate;
  }
  if (joined.late || joined.response.closed != store::Closed::kNo) return FeedbackStatus::kLate;

  if (auto added = group_.store.add_event({.impression = joined.kept.id,
                                           .rank = rank,
                                           .kind = static_cast<store::EventKind>(event.kind),
                                           .at = group_.now,
                                           .event_id = event.event_id});
      !added) {
    return added.error();
  }
  joined.changed = true;
  switch (event.kind) {
    case EventKind::kClick:
      count_click(joined, *rank);
      joined.response.clicked[*rank] = std::byte{1};
      return FeedbackStatus::kAccepted;
    case EventKind::kView:
      joined.response.viewed[*rank] = std::byte{1};
      return FeedbackStatus::kAccepted;
    case EventKind::kClose:
      return close(joined);
  }
  return FeedbackStatus::kAccepted;
}

Result<void> Joiner::finish() {
  // In the order of their numbers, so that what is logged depends on the request alone.
  std::vector<Joined*> changed;
  for (auto& [id, joined] : impressions_) {
    if (joined.changed) changed.push_back(&joined);
  }
  std::sort(changed.begin(), changed.end(),
            [](const Joined* left, const Joined* right) { return left->kept.id < right->kept.id; });
  for (const Joined* joined : changed) {
    if (auto set = group_.store.set_response(joined->kept.id, joined->response); !set) return set;
    if (joined->response.closed == store::Closed::kNo || !joined->kept.impression.learnable) {
      continue;
    }
    if (auto logged = group_.log(model_, store::LogKind::kLearn, joined->kept.id); !logged) {
      return logged;
    }
  }
  return {};
}

struct FeedbackState {
  ModelHandle model;
  std::vector<FeedbackEvent> events;
  std::vector<FeedbackStatus> statuses;
  std::uint64_t closed = 0;
  Done<std::vector<FeedbackStatus>> done;
};

}  // namespace

std::string_view name_of(FeedbackStatus status) {
  constexpr std::array<std::string_view, kFeedbackStatuses> kNames{
      "accepted", "duplicate", "late", "unknown_impression", "unknown_item"};
  return kNames[static_cast<std::size_t>(status)];
}

Job feedback_job(const ModelHandle& model, std::vector<FeedbackEvent> events,
                 Done<std::vector<FeedbackStatus>> done) {
  auto state = std::make_shared<FeedbackState>();
  state->model = model;
  state->events = std::move(events);
  state->done = std::move(done);
  Job job;
  job.apply = [state](Group& group) -> Result<void> {
    if (state->model->removed) return {};
    Joiner joiner(state->model, group);
    for (const FeedbackEvent& event : state->events) {
      auto status = joiner.join(event);
      if (!status) return status.error();
      state->statuses.push_back(*status);
    }
    state->closed = joiner.closed();
    return joiner.finish();
  };
  job.committed = [state] {
    for (std::size_t at = 0; at < state->statuses.size(); ++at) {
      const auto status = static_cast<std::size_t>(state->statuses[at]);
      ++state->model->events[status];
      if (state->events[at].kind == EventKind::kClick) ++state->model->clicks[status];
    }
    state->model->open -= std::min(state->closed, state->model->open.load());
  };
  job.settled = [state](const Result<void>& settled) {
    if (!settled) {
      state->done(settled.error());
    } else if (state->statuses.size() != state->events.size()) {
      state->done(Error{ErrorCode::kNotFound, "the model was removed"});
    } else {
      state->done(std::move(state->statuses));
    }
  };
  return job;
}

}  // namespace plackett::serving
