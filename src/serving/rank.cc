// From a request to a stored ranking.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "plackett/feature_view.h"
#include "plackett/rng.h"
#include "sampling/finite.h"
#include "sampling/shown_list.h"
#include "sampling/team_draft_multileaving.h"
#include "serving/impression.h"
#include "serving/service_parts.h"

namespace plackett::serving {

// Reused between requests, with copies of the models' rankers, which a newer version replaces. One
// thread at a time.
class RankingScratch {
 public:
  struct Copy {
    std::uint64_t serial = 0;
    std::shared_ptr<const Version> version;
    std::shared_ptr<Ranker> ranker;
    std::shared_ptr<Ranker> explorer;  // often the same
  };
  std::unordered_map<std::int64_t, Copy> copies;  // by model

  AlignedVector<float> rows;              // of the candidates
  std::vector<std::int64_t> versions;     // of the request's items; 0: given, or not stored
  std::vector<std::uint32_t> candidates;  // items that are not blocked, nor skipped
  std::vector<float> bounds;              // Impression::bounds; empty if not needed
  double keep = 0;                        // Model::candidates, for the whole request
  std::vector<std::string> skipped;
  std::vector<float> scores;           // of the candidates
  std::vector<Pin> pins;               // of candidates
  std::vector<std::uint8_t> is_shown;  // of candidates
  ListMaker lists;
  PlacedList list;

  // For interleaved lists.
  TeamDraftMultileaving team_draft;
  ScoreTable teams;  // of the candidates that are not pinned, which are:
  std::vector<Doc> free;
  std::vector<float> team_scores;  // one team's, of all candidates
  std::vector<Doc> drafted;        // index `free`
  std::string owners;              // ArmOfList::teams
  Impression impression;
};

namespace {

// This thread's copy of the model's newest version.
RankingScratch::Copy& copy_of(const Model& model, RankingScratch& scratch) {
  constexpr std::size_t kMostCopies = 256;  // drops those of removed models too
  if (scratch.copies.size() > kMostCopies) scratch.copies.clear();
  RankingScratch::Copy& copy = scratch.copies[model.id];
  const std::uint64_t serial = model.publication.serial();
  if (copy.version == nullptr || copy.serial != serial) {
    copy.version = model.publication.latest();
    copy.ranker = copy.version->ranker->clone();
    copy.explorer = copy.version->explorer == copy.version->ranker
                        ? copy.ranker
                        : std::shared_ptr<Ranker>(copy.version->explorer->clone());
    copy.serial = serial;
  }
  return copy;
}

// How a request is answered.
struct Plan {
  ModelHandle maker;  // who numbers, scores and learns from the list
  Mode mode = Mode::kExplore;
  ExperimentHandle experiment = nullptr;  // that counts the list
  std::uint32_t arm = Experiment::kNone;  // kNone if interleaved
};

Plan plan_of(const ModelHandle& model, const RankRequest& request, RankingScratch& scratch) {
  if (request.mode) return {model, *request.mode};
  const ExperimentHandle experiment = model->experiment.get();
  if (experiment == nullptr) {
    return {model, copy_of(*model, scratch).version->serves};
  }
  const ExperimentSpec& spec = experiment->spec;
  if (spec.design == Design::kInterleave) {
    if (experiment->stopped[1 - spec.baseline] != 0) return {model, spec.arms[spec.baseline].mode};
    return {model, Mode::kInterleaved, experiment};
  }
  const std::uint64_t key =
      request.unit.empty()
          ? unit_key(experiment->id, fmt::format("\nlist {}", model->experiment.next_list()))
          : unit_key(experiment->id, request.unit);
  const std::uint32_t arm = experiment->arm_of(key);
  // Units of a stopped arm see the baseline, and are not counted: they have seen something else.
  if (experiment->stopped[arm] != 0) return {model, spec.arms[spec.baseline].mode};
  const ModelHandle& maker = experiment->makers[arm];
  return {maker == nullptr ? model : maker, spec.arms[arm].mode, experiment, arm};
}

// The pins of the request, as candidates.
void read_pins(const RankRequest& request, std::uint32_t places, RankingScratch& scratch) {
  scratch.pins.clear();
  for (std::size_t at = 0; at < request.pinned.size(); ++at) {
    const RankRequest::Pin pin = request.pinned[at];
    const auto refuse = [&](std::string message) {
      throw Failed{{ErrorCode::kInvalid, std::move(message), fmt::format("pinned[{}]", at)}};
    };
    if (pin.rank >= places) {
      refuse(fmt::format("rank {}; {} items are shown", pin.rank + 1, places));
    }
    if (request.blocked[pin.item] != 0) {
      refuse(fmt::format("\"{}\" is blocked too", request.items[pin.item]));
    }
    const auto candidate =
        std::lower_bound(scratch.candidates.begin(), scratch.candidates.end(), pin.item);
    if (candidate == scratch.candidates.end() || *candidate != pin.item) {
      refuse(fmt::format("\"{}\" has no features and is not stored", request.items[pin.item]));
    }
    const Doc doc{static_cast<std::uint32_t>(candidate - scratch.candidates.begin())};
    for (const Pin& other : scratch.pins) {
      if (other.rank == pin.rank) {
        refuse(fmt::format("rank {} is taken; one item per rank", pin.rank + 1));
      }
      if (other.doc == doc) {
        refuse(fmt::format("\"{}\" is pinned twice", request.items[pin.item]));
      }
    }
    scratch.pins.push_back({doc, pin.rank});
  }
}

// The least and the greatest value of each feature, one after the other.
void find_bounds(const float* rows, std::size_t count, std::size_t stride, std::size_t width,
                 std::vector<float>& bounds) {
  bounds.resize(2 * width);
  float* least = bounds.data();
  float* greatest = least + width;
  std::copy_n(rows, width, least);
  std::copy_n(rows, width, greatest);
  for (std::size_t row = 1; row < count; ++row) {
    const float* values = rows + row * stride;
    for (std::size_t feature = 0; feature < width; ++feature) {
      least[feature] = std::min(least[feature], values[feature]);
      greatest[feature] = std::max(greatest[feature], values[feature]);
    }
  }
}

// The scaled rows of the candidates, which are the items that are neither blocked nor skipped, in
// order.
void gather(const Model& model, const Model& maker, const RankRequest& request,
            RankingScratch& scratch) {
  scratch.keep = maker.candidates.load(std::memory_order_relaxed);
  const std::uint32_t stride = model.items.stride();
  const std::size_t count = request.items.size();
  scratch.rows.resize(count * stride);
  for (std::size_t item = 0; item < count; ++item) {
    if (request.given[item] == 0) continue;
    std::copy_n(request.rows.begin() + static_cast<std::ptrdiff_t>(item * stride), stride,
                scratch.rows.begin() + static_cast<std::ptrdiff_t>(item * stride));
  }
  const bool stored =
      std::find(request.given.begin(), request.given.end(), 0) != request.given.end();
  scratch.versions.assign(count, 0);
  if (stored) model.items.gather(request.items, request.given, scratch.rows, scratch.versions);
  scratch.candidates.clear();
  scratch.skipped.clear();
  for (std::uint32_t item = 0; item < count; ++item) {
    if (request.given[item] == 0 && scratch.versions[item] == 0) {
      if (!request.skip_missing) {
        throw Failed{{ErrorCode::kInvalid,
                      fmt::format("\"{}\" has no features and is not stored; give its features, "
                                  "store it first or send \"missing\": \"skip\"",
                                  request.items[item]),
                      fmt::format("items[{}]", item)}};
      }
      scratch.skipped.emplace_back(request.items[item]);
      continue;
    }
    if (request.blocked[item] != 0) continue;
    const std::size_t to = scratch.candidates.size();
    if (to != item) {
      std::copy_n(scratch.rows.begin() + static_cast<std::ptrdiff_t>(std::size_t{item} * stride),
                  stride, scratch.rows.begin() + static_cast<std::ptrdiff_t>(to * stride));
    }
    scratch.candidates.push_back(item);
  }
  scratch.bounds.clear();
  if (model.scaling != Scaling::kQueryMinMax || scratch.candidates.empty()) return;
  const std::uint32_t width = model.spec.ranker.feature_count;
  if (stored && scratch.keep > 0) {
    find_bounds(scratch.rows.data(), scratch.candidates.size(), stride, width, scratch.bounds);
  }
  scale_query_minmax(scratch.rows.data(), static_cast<std::uint32_t>(scratch.candidates.size()),
                     width, stride);
}

}  // namespace

void RankRequest::clear() {
  id = {};
  unit = {};
  items.clear();
  given.clear();
  rows.clear();
  pinned.clear();
  blocked.clear();
  k = 0;
  mode.reset();
  skip_missing = false;
  min_version = 0;
  context = {};
}

std::unique_ptr<RankingScratch, void (*)(RankingScratch*)> Service::make_scratch() const {
  return {new RankingScratch, [](RankingScratch* scratch) { delete scratch; }};
}

namespace {

// Says that a list is not on its way any more, unless it is released.
struct LeaveFlight {
  std::uint64_t number = 0;
  void operator()(NumbersInFlight* numbers) const { numbers->remove(number); }
};

struct MadeList {
  std::uint64_t number = 0;   // of the impression
  std::uint64_t version = 0;  // of the model
  std::int64_t node = 0;      // whose number it is, if there are several
  std::unique_ptr<NumbersInFlight, LeaveFlight> on_its_way{};
};

Error score_not_finite() {
  return {ErrorCode::kInvalid, "a score is not finite; the features are too large for the model",
          "items"};
}

ListOrder order_of(Mode mode) {
  if (mode == Mode::kExploit || mode == Mode::kInterleaved) return ListOrder::kSorted;
  return mode == Mode::kGiven ? ListOrder::kAsGiven : ListOrder::kSampled;
}

// Scores the candidates that are not pinned by both arms: 0 is the baseline.
void score_teams(const Model& model, const Experiment& experiment, RankingScratch& scratch) {
  std::vector<Doc>& free = scratch.free;
  free.clear();
  const auto candidates = static_cast<std::uint32_t>(scratch.candidates.size());
  for (std::uint32_t doc = 0; doc < candidates; ++doc) {
    const bool pinned = std::any_of(scratch.pins.begin(), scratch.pins.end(),
                                    [doc](const Pin& pin) { return index(pin.doc) == doc; });
    if (!pinned) free.push_back(Doc{doc});
  }
  scratch.teams.resize(2, static_cast<std::uint32_t>(free.size()));
  const FeatureView docs(scratch.rows.data(), candidates, model.spec.ranker.feature_count);
  const std::uint32_t baseline = experiment.spec.baseline;
  for (std::uint32_t team = 0; team < 2; ++team) {
    const std::uint32_t arm = team == 0 ? baseline : 1 - baseline;
    const auto row = scratch.teams.row(team);
    if (experiment.spec.arms[arm].mode == Mode::kGiven) {
      for (std::size_t at = 0; at < free.size(); ++at) row[at] = -static_cast<float>(at);
      continue;
    }
    const Model& maker = experiment.makers[arm] == nullptr ? model : *experiment.makers[arm];
    scratch.team_scores.resize(candidates);
    copy_of(maker, scratch).ranker->score(docs, scratch.team_scores);
    for (std::size_t at = 0; at < free.size(); ++at) row[at] = scratch.team_scores[index(free[at])];
    if (!all_finite(row)) throw Failed{score_not_finite()};
  }
}

// Puts documents of both teams, drafted in turns, on the places that are not pinned.
void draft(double temperature, Rng rng, RankingScratch& scratch) {
  std::vector<PlacedList::Place>& places = scratch.list.places;
  scratch.owners.assign(places.size(), '-');
  scratch.drafted.resize(places.size() - scratch.pins.size());
  if (scratch.drafted.empty()) return;
  scratch.team_draft.show(scratch.teams, rng, scratch.drafted);
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (places[rank].pinned) continue;
    places[rank].doc = scratch.free[index(scratch.drafted[next])];
    places[rank].score = scratch.scores[index(places[rank].doc)] / temperature;
    scratch.owners[rank] = scratch.team_draft.owners()[next] == 0 ? '0' : '1';
    ++next;
  }
}

// Makes scratch.list for a request.
std::optional<MadeList> make_list(Model& model, const Plan& plan, const RankRequest& request,
                                  RankingScratch& scratch) {
  Model& maker = *plan.maker;
  if (!request.id.empty() && is_service_name(request.id)) {
    throw Failed{
        {ErrorCode::kInvalid,
         fmt::format("\"{}\"; ids of the form i-NUMBER are given by the service", request.id),
         "id"}};
  }
  if (request.k > kMaxShown) {
    throw Failed{
        {ErrorCode::kInvalid, fmt::format("{}; it is 1 to {}", request.k, kMaxShown), "k"}};
  }
  if (request.mode == Mode::kGiven &&
      (!request.pinned.empty() ||
       std::find(request.blocked.begin(), request.blocked.end(), 1) != request.blocked.end())) {
    throw Failed{{ErrorCode::kInvalid,
                  "a given order has no pinned and no blocked items; send the order that is shown",
                  "mode"}};
  }
  gather(model, maker, request, scratch);
  const auto candidates = static_cast<std::uint32_t>(scratch.candidates.size());
  if (candidates == 0) {
    throw Failed{{ErrorCode::kInvalid,
                  "no item to rank; send at least one that is not blocked and has features",
                  "items"}};
  }
  // A given order is the caller's page, all of it.
  const std::uint32_t all = request.mode == Mode::kGiven ? kMaxShown : model.spec.shown;
  const std::uint32_t places = std::min(request.k == 0 ? all : request.k, candidates);
  read_pins(request, places, scratch);
  scratch.scores.resize(candidates);
  const RankingScratch::Copy& copy = copy_of(maker, scratch);
  const std::uint64_t version = copy.version->number;
  const auto& ranker = plan.mode == Mode::kExplore ? copy.explorer : copy.ranker;
  ranker->score(FeatureView(scratch.rows.data(), candidates, model.spec.ranker.feature_count),
                scratch.scores);
  if (!scratch.lists.set(scratch.scores, {.places = places,
                                          .temperature = static_cast<float>(maker.spec.temperature),
                                          .order = order_of(plan.mode),
                                          .pins = scratch.pins})) {
    throw Failed{score_not_finite()};
  }
  if (plan.mode == Mode::kInterleaved) score_teams(model, *plan.experiment, scratch);
  const auto number = maker.take_number();
  if (!number && maker.shared) return std::nullopt;
  if (!number) {
    throw Failed{
        {ErrorCode::kBusy, "the store is behind in numbering impressions; try again later"}};
  }
  MadeList made{number->first, version, number->second, {&maker.in_flight, {number->first}}};
  const Rng rng({maker.spec.seed, 0, made.number, Purpose::kRanking});
  scratch.lists.make(rng, scratch.list);
  if (plan.mode == Mode::kInterleaved) draft(maker.spec.temperature, rng, scratch);
  return made;
}

// Adds the candidates that were not shown. Those that are stored keep a reference where that takes
// fewer bytes, unless another model makes the list: the items are the first one's to drop.
void add_others(const Model& model, const Model& maker, const RankRequest& request,
                RankingScratch& scratch) {
  Impression& impression = scratch.impression;
  const std::size_t stride = model.items.stride();
  std::vector<std::uint8_t>& is_shown = scratch.is_shown;
  is_shown.assign(scratch.candidates.size(), 0);
  for (const PlacedList::Place& place : scratch.list.places) is_shown[index(place.doc)] = 1;
  std::size_t stored = 0;
  for (std::uint32_t doc = 0; doc < scratch.candidates.size(); ++doc) {
    if (is_shown[doc] != 0) continue;
    const std::uint32_t item = scratch.candidates[doc];
    impression.others.push_back(
        {std::string(request.items[item]), scratch.scores[doc], scratch.versions[item]});
    const float* row = scratch.rows.data() + doc * stride;
    impression.other_rows.insert(impression.other_rows.end(), row, row + stride);
    if (scratch.versions[item] != 0) ++stored;
  }
  const std::size_t width = impression.feature_count;
  const bool refer = &model == &maker && stored > 0 && stored * width > scratch.bounds.size();
  for (OtherItem& other : impression.others) {
    if (!refer) other.version = 0;
    if (other.version != 0) other.id.clear();  // the version has it
  }
  if (refer) impression.bounds = scratch.bounds;
}

// What the store keeps of the list.
const Impression& impression_of(const Model& model, const Plan& plan, const RankRequest& request,
                                std::uint64_t number, RankingScratch& scratch) {
  const PlacedList& list = scratch.list;
  Impression& impression = scratch.impression;
  impression.mode = plan.mode;
  impression.rest = list.rest;
  impression.log_probability = list.log_probability;
  impression.entropy = list.entropy;
  impression.context = request.context;
  impression.feature_count = model.spec.ranker.feature_count;
  impression.keep = scratch.keep;
  Rng rng({plan.maker->spec.seed, 0, number, Purpose::kKeep});
  impression.kept = impression.keep > 0 && rng.uniform() < impression.keep;
  impression.shown.resize(list.places.size());
  impression.rows.clear();
  impression.others.clear();
  impression.other_rows.clear();
  impression.bounds.clear();
  const std::size_t stride = model.items.stride();
  const auto add_rows = [&](bool pinned) {
    for (const PlacedList::Place& place : list.places) {
      if (place.pinned != pinned) continue;
      const float* row = scratch.rows.data() + index(place.doc) * stride;
      impression.rows.insert(impression.rows.end(), row, row + stride);
    }
  };
  for (std::size_t rank = 0; rank < list.places.size(); ++rank) {
    const PlacedList::Place& place = list.places[rank];
    const std::uint32_t doc = index(place.doc);
    ShownItem& shown = impression.shown[rank];
    shown.id = request.items[scratch.candidates[doc]];
    shown.score = scratch.scores[doc];
    shown.sampled_score = place.score;
    shown.pinned = place.pinned;
  }
  if (impression.kept || plan.mode == Mode::kExplore) add_rows(false);
  if (!impression.kept) return impression;
  add_rows(true);
  add_others(model, *plan.maker, request, scratch);
  return impression;
}

// The job that stores the impression, which `maker` made for `asked`, and answers with the ranking.
Job keep_job(ServiceParts& parts, const ModelHandle& asked, const ModelHandle& maker,
             ImpressionRow row, std::int64_t node, Ranked ranked, Done<Ranked> done) {
  struct State {
    ImpressionRow row;
    std::int64_t node;  // whose number it has
    Ranked ranked;
  };
  auto state = std::make_shared<State>(State{std::move(row), node, std::move(ranked)});
  const ModelHandle& model = maker;
  Touched touched;
  if (model->shared && !state->row.given.empty()) {
    add_touched(touched, *asked, state->row.given);
  }
  return {
      .apply =
          [&parts, asked, model, state](Transaction& transaction) {
            if (asked->removed || model->removed) throw Failed{model_removed()};
            // Who reads the lists in order has passed the numbers of a node that was ended.
            if (model->shared && state->node != transaction.store.node()) {
              model->drop_numbers_of_others(transaction.store.node());
              throw Failed{{ErrorCode::kBusy,
                            "this node was ended by the others and has joined again; try again",
                            Hint::kRefresh}};
            }
            ImpressionRow& kept = state->row;
            StoreReader& read = transaction.store.read();
            if (!kept.given.empty() && (take(find_impression(read, *asked, kept.given)) ||
                                        take(read.given_id(model->id, kept.given)))) {
              throw Failed{{ErrorCode::kConflict,
                            fmt::format("impression \"{}\" exists; ids are used once", kept.given),
                            "id"}};
            }
            kept.shown_at = transaction.now;
            transaction.use(model);
            transaction.use(asked);
            take(transaction.store.insert_impression(kept));
            // The store may have refused its id: another node was faster.
            SeriesRow& series = transaction.series(model->id);
            ++series.impressions;
            series.entropies += state->ranked.entropy;
            if (!model->shared) {
              model->shown_marks.add(ImpressionKey::of(kept.id).number + 1, transaction.elapsed);
            }
            if (const auto* running = counting(parts, transaction, kept.in.experiment)) {
              count_list(transaction, *running, kept);
            }
          },
      .committed =
          [&parts, model] {
            ++model->shown;
            ++model->open;
            ++parts.ranked;
          },
      .answer =
          [model, state, done = std::move(done)](const Result<void>& settled) {
            model->in_flight.remove(ImpressionKey::of(state->row.id).number);
            done(settled ? Result<Ranked>(std::move(state->ranked)) : settled.error());
          },
      .touched = std::move(touched)};
}

}  // namespace

bool Service::knows_items(const Model& model, const RankRequest& request) const {
  for (std::size_t item = 0; item < request.items.size(); ++item) {
    if (request.given[item] == 0 && !model.items.has(request.items[item])) return false;
  }
  return true;
}

bool Service::is_prepared(const Model& model, std::uint64_t min_version) const {
  if (min_version > 0 && model.publication.latest()->number < min_version) return false;
  if (!model.shared) return true;
  if (!model.has_numbers()) return false;
  const ExperimentHandle experiment = model.experiment.get();
  return experiment == nullptr ||
         std::all_of(experiment->makers.begin(), experiment->makers.end(),
                     [](const ModelHandle& maker) { return !maker || maker->has_numbers(); });
}

namespace {

// Reserves numbers for the models that have none.
void reserve_numbers(ServiceParts& parts, std::vector<ModelHandle> makers, Done<void> done) {
  std::erase_if(makers,
                [](const ModelHandle& maker) { return !maker->shared || maker->has_numbers(); });
  if (makers.empty()) return done({});
  Touched touched;
  for (const ModelHandle& maker : makers) {
    ++maker->numbers_asked;
    touched.models.push_back(maker->id);
  }
  auto blocks = std::make_shared<std::vector<NumberBlock>>();
  parts.writer->submit(
      {.apply =
           [makers, blocks](Transaction& transaction) {
             blocks->clear();
             for (const ModelHandle& maker : makers) {
               NumberBlock& block = blocks->emplace_back();
               if (maker->has_numbers() || !transaction.numbered.insert(maker).second) continue;
               // For all that wait, and those that come next.
               const std::uint64_t wanted =
                   std::max(maker->block, Model::kLeastBlock) + maker->numbers_asked;
               auto reserved = transaction.store.reserve_numbers(
                   maker->id, std::min(wanted, Model::kMostBlock));
               if (!reserved && reserved.error().code == ErrorCode::kNotFound) {
                 throw Failed{model_removed()};
               }
               block = take(std::move(reserved));
             }
           },
       .committed =
           [&parts, makers, blocks] {
             for (std::size_t at = 0; at < makers.size(); ++at) {
               const NumberBlock& block = (*blocks)[at];
               if (block.begin == block.end) continue;
               Model& maker = *makers[at];
               maker.block = std::max(maker.block, Model::kLeastBlock);
               maker.add_numbers(block, parts.options.steady());
               maker.numbers_seen_at = parts.options.steady();  // they are used in a moment
             }
           },
       .answer =
           [makers, done = std::move(done)](const Result<void>& reserved) {
             for (const ModelHandle& maker : makers) {
               --maker->numbers_asked;
               // They may be reserved all the same: upkeep says that they are not used.
               if (!reserved) maker->numbers_are_in_doubt = true;
             }
             done(reserved);
           },
       .touched = std::move(touched)});
}

}  // namespace

void Service::prepare(const ModelHandle& model, std::uint64_t min_version, Done<void> done) {
  constexpr std::chrono::seconds kMost{2};
  std::vector<ModelHandle> makers{model};
  if (const ExperimentHandle experiment = model->experiment.get()) {
    for (const ModelHandle& maker : experiment->makers) {
      if (maker != nullptr) makers.push_back(maker);
    }
  }
  // The version first: the writer may be late.
  const auto reserve = [this, makers = std::move(makers), done](const Result<void>& is_here) {
    if (!is_here) return done(is_here.error());
    reserve_numbers(*parts_, makers, done);
  };
  if (model->publication.latest()->number >= min_version) return reserve({});
  parts_->waiters.add(model, min_version, std::chrono::steady_clock::now() + kMost, reserve);
}

void Service::rank(const ModelHandle& model, const RankRequest& request, RankingScratch& scratch,
                   Done<Ranked> done) const {
  assert(request.given.size() == request.items.size() &&
         request.blocked.size() == request.items.size());
  const Plan plan = plan_of(model, request, scratch);
  const ModelHandle& maker = plan.maker;
  auto made = attempt([&] { return make_list(*model, plan, request, scratch); });
  if (!made) return done(made.error());
  if (!*made) return done(Ranked{.is_unnumbered = true});
  MadeList& list = **made;
  const Impression& impression = impression_of(*model, plan, request, list.number, scratch);
  maker->entropy.store(impression.entropy, std::memory_order_relaxed);
  Ranked ranked;
  if (!request.id.empty()) {
    ranked.impression = request.id;
  } else {
    ranked.impression =
        maker == model ? impression_name(list.number) : arm_impression_name(list.number, *maker);
  }
  ranked.model_version = list.version;
  ranked.log_probability = impression.log_probability;
  ranked.entropy = impression.entropy;
  for (std::size_t rank = 0; rank < impression.shown.size(); ++rank) {
    const ShownItem& shown = impression.shown[rank];
    const std::uint32_t item = scratch.candidates[index(scratch.list.places[rank].doc)];
    ranked.items.push_back({item, shown.id, shown.score, shown.pinned});
  }
  ranked.skipped = std::move(scratch.skipped);
  ImpressionRow row = pack(impression);
  row.id = ImpressionKey{maker->id, list.number}.id();
  row.version = ranked.model_version;
  row.given = request.id;
  row.unit = request.unit;
  if (plan.experiment != nullptr) {
    row.in.experiment = plan.experiment->id;
    if (plan.arm != Experiment::kNone) row.in.arm = plan.experiment->spec.arms[plan.arm].name;
    if (plan.mode == Mode::kInterleaved) row.in.teams = scratch.owners;
    ranked.experiment = plan.experiment->spec.name;
    ranked.arm = row.in.arm;
  }
  parts_->writer->submit(keep_job(*parts_, model, maker, std::move(row), list.node,
                                  std::move(ranked), std::move(done)));
  (void)list.on_its_way.release();  // the job's answer removes it
}

}  // namespace plackett::serving
