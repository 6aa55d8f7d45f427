// Joins events to their impressions, inside the writer's transaction.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "serving/impression.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

Error behind() {
  return {ErrorCode::kBusy, "another node has changed the model's experiments; try again",
          Hint::kRefresh};
}

// Whether an arm of an experiment made the list, as in "i-41@maker".
bool names_arm(std::string_view name) {
  return is_service_name(name) && name.find('@') != std::string_view::npos;
}

// An impression and its feedback so far, while a job goes through its events.
struct Joined {
  bool known = false;
  ModelHandle maker;  // the model that made the list, and learns from it
  StoredImpression kept;
  ResponseRow response;
  std::optional<std::set<StoreReader::NamedEvent>> named{};  // read when first asked for
  bool late = false;  // took no more feedback when the job began
  bool changed = false;
};

class Joiner {
 public:
  Joiner(const ServiceParts& parts, const ModelHandle& model, Transaction& transaction)
      : parts_(parts), model_(model), transaction_(transaction) {}

  // Whether another node knows more about the lists of the events: experiments that began a moment
  // ago. To be asked before any is joined.
  bool is_behind(const std::vector<FeedbackEvent>& events);
  FeedbackStatus join(const FeedbackEvent& event);
  // Writes what changed.
  void finish();
  // How many lists it closed, by the model that made them.
  [[nodiscard]] const std::map<ModelHandle, std::uint64_t>& closed() const { return closed_; }

 private:
  Joined& find(const std::string& name);
  void close(Joined& joined);
  // Whether there was such an event of this item.
  bool was_seen(Joined& joined, const FeedbackEvent& event, std::uint32_t rank);
  void count_click(const Joined& joined, std::uint32_t rank);
  // Counts the event in the experiment that the list belongs to, if that runs.
  void count_in_experiment(const Joined& joined, const FeedbackEvent& event, std::uint32_t rank);

  const ServiceParts& parts_;
  const ModelHandle& model_;
  Transaction& transaction_;
  // In the order of their numbers, so that what is logged depends on the request alone.
  std::map<std::int64_t, Joined> impressions_;
  std::map<ModelHandle, std::uint64_t> closed_;
};

Joined& Joiner::find(const std::string& name) {
  StoreReader& store = transaction_.store.read();
  const auto known = take(find_impression(store, *model_, name));
  const std::int64_t id = known ? known->id : -1;
  const auto [found, is_new] = impressions_.try_emplace(id);
  Joined& joined = found->second;
  if (!is_new || !known) return joined;
  joined.maker = known->maker == nullptr ? model_ : known->maker;
  take(transaction_.store.lock({.impressions = {id}}));
  auto kept = take(read_impression(store, id, Rows::kSkip));
  if (!kept) return joined;
  auto response = take(store.response(id));
  joined.known = true;
  joined.kept = std::move(*kept);
  if (response) joined.response = std::move(*response);
  joined.response.clicked.resize(joined.kept.impression.shown.size());
  joined.response.viewed.resize(joined.kept.impression.shown.size());
  const std::uint64_t number = ImpressionKey::of(id).number;
  Model& maker = *joined.maker;
  maker.update_due(transaction_.elapsed);
  joined.late = maker.removed || joined.response.closed != Closed::kNo ||
                maker.is_due(number, joined.kept.shown_at, transaction_.now);
  return joined;
}

bool Joiner::is_behind(const std::vector<FeedbackEvent>& events) {
  std::optional<std::vector<ExperimentRow>> rows;  // read when first asked for
  const auto runs = [&](std::int64_t experiment) {
    if (!rows) rows = take(transaction_.store.read().experiments());
    return std::any_of(rows->begin(), rows->end(), [experiment](const ExperimentRow& row) {
      return row.id == experiment && row.ended_at == 0;
    });
  };
  return std::any_of(events.begin(), events.end(), [&](const FeedbackEvent& event) {
    const Joined& joined = find(event.impression);
    if (!joined.known) return names_arm(event.impression);
    const std::int64_t experiment = joined.kept.in.experiment;
    return experiment != 0 && !model_->has_experiment(experiment) && runs(experiment);
  });
}

void Joiner::count_click(const Joined& joined, std::uint32_t rank) {
  SeriesRow& series = transaction_.series(joined.maker->id);
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

void Joiner::count_in_experiment(const Joined& joined, const FeedbackEvent& event,
                                 std::uint32_t rank) {
  const ArmOfList& in = joined.kept.in;
  const Experiment* running = counting(parts_, transaction_, in.experiment);
  if (running == nullptr) return;
  const Experiment& experiment = *running;
  Gain gain{.click = event.kind == EventKind::kClick, .rank = rank};
  if (gain.click) {
    const auto& clicked = joined.response.clicked;
    const bool first = std::find(clicked.begin(), clicked.end(), std::byte{1}) == clicked.end();
    gain.value = click_gain(experiment.spec.metric, rank, first);
  } else if (event.kind == EventKind::kNamed && experiment.spec.metric == ValueMetric::kEvents) {
    for (const NamedWeight& named : model_->logging().events) {
      if (named.name == event.name) gain.value = named.weight;
    }
  } else {
    return;
  }
  count_gain(transaction_, experiment, joined.kept.id, joined.kept.unit, in, gain);
}

void Joiner::close(Joined& joined) {
  const bool learns =
      joined.kept.impression.learnable && joined.maker->publication.latest()->learning;
  joined.response.closed = learns ? Closed::kLearned : Closed::kUnlearned;
  ++closed_[joined.maker];
}

bool Joiner::was_seen(Joined& joined, const FeedbackEvent& event, std::uint32_t rank) {
  switch (event.kind) {
    case EventKind::kClick:
      return joined.response.clicked[rank] != std::byte{0};
    case EventKind::kView:
      return joined.response.viewed[rank] != std::byte{0};
    case EventKind::kNamed: {
      if (!joined.named) {
        const auto seen = take(transaction_.store.read().named_events(joined.kept.id));
        joined.named.emplace(seen.begin(), seen.end());
      }
      return joined.named->contains({rank, event.name});
    }
    case EventKind::kClose:
      break;
  }
  return false;
}

FeedbackStatus Joiner::join(const FeedbackEvent& event) {
  if (!event.event_id.empty() &&
      take(transaction_.store.read().event_seen(model_->id, event.event_id))) {
    return FeedbackStatus::kDuplicate;
  }
  Joined& joined = find(event.impression);
  if (!joined.known) return FeedbackStatus::kUnknownImpression;
  if (joined.maker != model_ && !event.event_id.empty() &&
      take(transaction_.store.read().event_seen(joined.maker->id, event.event_id))) {
    return FeedbackStatus::kDuplicate;
  }
  const auto& shown = joined.kept.impression.shown;
  std::optional<std::uint32_t> rank;
  if (event.kind != EventKind::kClose) {
    const auto at = std::find_if(shown.begin(), shown.end(),
                                 [&event](const auto& item) { return item.id == event.item; });
    if (at == shown.end()) return FeedbackStatus::kUnknownItem;
    rank = static_cast<std::uint32_t>(at - shown.begin());
    if (was_seen(joined, event, *rank)) return FeedbackStatus::kDuplicate;
  } else if (joined.response.closed != Closed::kNo) {
    return FeedbackStatus::kDuplicate;
  }
  // Nothing is learned from named events, so that a purchase may come long after its list is
  // closed.
  const bool late = joined.late || joined.response.closed != Closed::kNo;
  if (late && event.kind != EventKind::kNamed) return FeedbackStatus::kLate;

  // A list whose unit was forgotten has no ids any more, and gets none.
  const bool is_anonymous = !shown.empty() && shown.front().id.empty();
  take(transaction_.store.add_event({.impression = joined.kept.id,
                                     .rank = rank,
                                     .kind = event.kind,
                                     .at = transaction_.now,
                                     .event_id = is_anonymous ? std::string_view() : event.event_id,
                                     .name = event.name}));
  if (rank) count_in_experiment(joined, event, *rank);
  if (event.kind == EventKind::kNamed) {
    joined.named->emplace(*rank, event.name);
    return FeedbackStatus::kAccepted;
  }
  joined.changed = true;
  if (event.kind == EventKind::kClose) {
    close(joined);
  } else if (event.kind == EventKind::kView) {
    joined.response.viewed[*rank] = std::byte{1};
  } else {
    count_click(joined, *rank);
    joined.response.clicked[*rank] = std::byte{1};
  }
  return FeedbackStatus::kAccepted;
}

void Joiner::finish() {
  for (const auto& [id, joined] : impressions_) {
    if (!joined.changed) continue;
    take(transaction_.store.set_response(id, joined.response));
    if (joined.response.closed == Closed::kNo || !joined.kept.impression.learnable) continue;
    take(transaction_.log(joined.maker, LogKind::kLearn, id));
  }
}

// Refuses all events if one is of an unknown kind.
void check_names(const LogSettings& logging, const std::vector<FeedbackEvent>& events) {
  for (const FeedbackEvent& event : events) {
    if (event.kind != EventKind::kNamed) continue;
    const auto is_it = [&](const NamedWeight& known) { return known.name == event.name; };
    if (std::any_of(logging.events.begin(), logging.events.end(), is_it)) continue;
    std::string known = "click, view, close";
    for (const NamedWeight& one : logging.events) known += ", " + one.name;
    throw Failed{{ErrorCode::kInvalid,
                  fmt::format("unknown event \"{}\"; this model knows: {}", event.name, known),
                  "event"}};
  }
}

// The lists that their names lead to, and ids of events.
Touched touched_by(const Model& model, const std::vector<FeedbackEvent>& events) {
  Touched touched;
  for (const FeedbackEvent& event : events) {
    add_touched(touched, model, event.impression);
    if (!event.event_id.empty()) touched.event_ids.emplace_back(model.id, event.event_id);
  }
  return touched;
}

struct Given {
  std::shared_ptr<const std::vector<FeedbackEvent>> events;
  bool may_refresh = false;  // the job may fail with Hint::kRefresh, before anything is changed
};

Job feedback_job(ServiceParts& parts, const ModelHandle& model, const Given& given,
                 Done<FeedbackAnswer> done) {
  struct State : Given {
    std::map<ModelHandle, std::uint64_t> closed{};
  };
  using Statuses = std::vector<FeedbackStatus>;
  auto state = std::make_shared<State>(State{given});
  auto learned = std::make_shared<bool>(true);
  const auto answer = [model, learned, done = std::move(done)](Result<Statuses> statuses) {
    if (!statuses) return done(statuses.error());
    FeedbackAnswer joined{.statuses = *std::move(statuses)};
    if (*learned) joined.version = model->publication.latest()->number;
    done(std::move(joined));
  };
  Job joining = job<Statuses>(
      [&parts, model, state](Transaction& transaction) {
        if (model->removed) throw Failed{model_removed()};
        check_names(model->logging(), *state->events);
        Joiner joiner(parts, model, transaction);
        if (state->may_refresh && joiner.is_behind(*state->events)) throw Failed{behind()};
        transaction.use(model);
        Statuses statuses;
        for (const FeedbackEvent& event : *state->events) statuses.push_back(joiner.join(event));
        state->closed = joiner.closed();
        joiner.finish();
        return statuses;
      },
      answer,
      [&parts, model, state](const Statuses& statuses) {
        parts.events += statuses.size();
        for (std::size_t at = 0; at < statuses.size(); ++at) {
          const auto status = static_cast<std::size_t>(statuses[at]);
          ++model->events[status];
          if ((*state->events)[at].kind == EventKind::kClick) ++model->clicks[status];
        }
        for (const auto& [maker, closed] : state->closed) {
          maker->open -= std::min(closed, maker->open.load());
        }
      });
  joining.touched = touched_by(*model, *given.events);
  joining.learned = std::move(learned);
  return joining;
}

}  // namespace

std::string_view name_of(FeedbackStatus status) {
  constexpr std::array<std::string_view, kFeedbackStatuses> kNames{
      "accepted", "duplicate", "late", "unknown_impression", "unknown_item"};
  return kNames[static_cast<std::size_t>(status)];
}

void Service::feedback(const ModelHandle& model, std::vector<FeedbackEvent> events,
                       Done<FeedbackAnswer> done) {
  if (parts_->learner->queued() >= parts_->options.queue_limit) {
    done(Error{ErrorCode::kBusy, "too many impressions wait to be learned from; try again later"});
    return;
  }
  ServiceParts& parts = *parts_;
  const auto kept = std::make_shared<const std::vector<FeedbackEvent>>(std::move(events));
  if (parts.cluster == nullptr) {
    return parts.writer->submit(feedback_job(parts, model, {.events = kept}, std::move(done)));
  }
  const auto after = [&parts, model, kept, done](Result<FeedbackAnswer> answer) {
    if (answer || answer.error().hint != Hint::kRefresh || model->removed) {
      return done(std::move(answer));
    }
    parts.cluster->refresh(model, [&parts, model, kept, done](const Result<void>& refreshed) {
      if (!refreshed) return done(refreshed.error());
      parts.writer->submit(feedback_job(parts, model, {.events = kept}, done));
    });
  };
  parts.writer->submit(feedback_job(parts, model, {.events = kept, .may_refresh = true}, after));
}

}  // namespace plackett::serving
