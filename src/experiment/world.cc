#include "experiment/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "experiment/best_linear.h"
#include "experiment/curve.h"
#include "plackett/simulation.h"

namespace plackett {
namespace {

constexpr std::uint64_t kIdMask = (std::uint64_t{1} << 56) - 1;  // what a stream has room for

constexpr std::uint32_t kRunBits = 20;  // of a stream's run; the drift's index is above them
static_assert(kMaxRuns <= 1U << kRunBits);
constexpr std::size_t kRecentRuns = 2;  // one that is being finished, one that starts

// What a drift draws for a feature or a query.
Rng stream(const Worlds::Source& source, std::size_t drift, std::uint64_t id) {
  return Rng({source.seed, static_cast<std::uint32_t>(drift) << kRunBits | source.run, id & kIdMask,
              Purpose::kDrift});
}

// What the data is like in a world. The first drift of a kind gives the stream that is drawn from.
struct DataState {
  std::optional<std::size_t> intents = {};  // drift that divides relevant documents
  bool second_intent = false;               // whose documents count
  bool reversed = false;
  std::optional<std::size_t> groups = {};  // drift that divides queries
  double share = 0;                        // of the first group
  bool second_group = false;               // whose queries are asked
  std::set<std::uint32_t> dead = {};       // features that are 0, by their ids

  bool operator==(const DataState&) const = default;
};

bool is_listed(const DriftedFeatures& features, std::uint32_t id) {
  return std::find(features.ids.begin(), features.ids.end(), id) != features.ids.end();
}

// A share is of the features that the other does not list.
bool contains(const DriftedFeatures& features, const DriftedFeatures& other, std::uint32_t id,
              double part) {
  if (!features.ids.empty()) return is_listed(features, id);
  return !is_listed(other, id) && part < features.share;
}

bool is_dead(std::span<const Drift> drifts, std::size_t world, std::uint32_t id,
             const Worlds::Source& source) {
  bool dead = false;
  bool is_first = true;
  for (std::size_t at = 0; at < drifts.size(); ++at) {
    const Drift& drift = drifts[at];
    if (drift.of != DriftOf::kFeatures) continue;
    // Shares of the two are taken from opposite ends, so that they don't overlap.
    const double part = stream(source, at, id).uniform();
    const bool dies = contains(drift.dies, drift.appears, id, part);
    const bool appears = contains(drift.appears, drift.dies, id, 1 - part);
    if (!dies && !appears) continue;
    if (is_first) dead = appears;
    is_first = false;
    if (at < world) dead = dies;
  }
  return dead;
}

DataState state_in(std::span<const Drift> drifts, std::size_t world,
                   const std::vector<std::uint32_t>& feature_ids, const Worlds::Source& source) {
  DataState state;
  for (std::size_t at = 0; at < drifts.size(); ++at) {
    const Drift& drift = drifts[at];
    const bool is_past = at < world;
    if (drift.of == DriftOf::kQueries) {
      if (!state.groups) state.share = drift.share;
      state.groups = state.groups.value_or(at);
      state.second_group ^= is_past;
    } else if (drift.of == DriftOf::kLabels && drift.change == LabelChange::kReversed) {
      state.reversed ^= is_past;
    } else if (drift.of == DriftOf::kLabels) {
      state.intents = state.intents.value_or(at);
      state.second_intent ^= is_past;
    }
  }
  for (const std::uint32_t id : feature_ids) {
    if (is_dead(drifts, world, id, source)) state.dead.insert(id);
  }
  return state;
}

// Makes a fold's splits as they are in a state.
class Maker {
 public:
  Maker(const Dataset& dataset, const Fold& fold, const DataState& state,
        const Worlds::Source& source)
      : max_label_(dataset.max_label), state_(state), source_(source) {
    for (const std::uint32_t id : fold.feature_ids) {
      is_dead_.push_back(state.dead.contains(id));
      if (state.intents) direction_.push_back(stream(source, *state.intents, id).normal());
    }
  }

  [[nodiscard]] Split make(const Split& from) const {
    struct Owned {
      std::shared_ptr<const void> source;
      AlignedVector<float> rows;
      std::vector<std::uint8_t> labels;
      std::vector<std::uint64_t> query_begin{0};
    };
    const auto owned = std::make_shared<Owned>();
    Split::Storage storage = from.storage();
    owned->source = storage.owner;
    const bool copies_rows =
        state_.groups || std::find(is_dead_.begin(), is_dead_.end(), true) != is_dead_.end();
    for (std::uint32_t at = 0; at < from.query_count(); ++at) {
      const Query query{at};
      if (!is_asked(from, query)) continue;
      add_labels(from, query, owned->labels);
      owned->query_begin.push_back(owned->labels.size());
      if (copies_rows) add_rows(from.features(query), owned->rows);
    }
    storage.labels = owned->labels.data();
    storage.query_begin = owned->query_begin.data();
    storage.query_count = static_cast<std::uint32_t>(owned->query_begin.size() - 1);
    if (copies_rows) {
      storage.rows = owned->rows.data();
      storage.foreign_stride = 0;
      storage.query_ids = nullptr;  // no run reads ids
      storage.doc_id_begin = nullptr;
      storage.doc_ids = nullptr;
    }
    storage.owner = owned;
    return Split(std::move(storage));
  }

 private:
  [[nodiscard]] bool is_asked(const Split& split, Query query) const {
    if (!state_.groups) return true;
    const std::uint64_t id = split.query_id(query).value_or(index(query));
    const bool second = stream(source_, *state_.groups, id).uniform() >= state_.share;
    return second == state_.second_group;
  }

  void add_rows(const FeatureView& docs, AlignedVector<float>& rows) const {
    const std::size_t width = padded_width(docs.feature_count());
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      const auto row = docs.row(Doc{doc});
      const std::size_t begin = rows.size();
      rows.resize(begin + width, 0.0F);
      for (std::size_t at = 0; at < docs.feature_count(); ++at) {
        if (!is_dead_[at]) rows[begin + at] = row[at];
      }
    }
  }

  void add_labels(const Split& split, Query query, std::vector<std::uint8_t>& labels) const {
    const Judgments judgments = split.judgments(query);
    const std::uint32_t docs = split.features(query).doc_count();
    const std::size_t begin = labels.size();
    for (std::uint32_t doc = 0; doc < docs; ++doc) labels.push_back(judgments.label(Doc{doc}));
    if (state_.intents) keep_one_intent(split.features(query), std::span(labels).subspan(begin));
    if (!state_.reversed) return;
    for (std::size_t at = begin; at < labels.size(); ++at) {
      labels[at] = static_cast<std::uint8_t>(max_label_ - labels[at]);
    }
  }

  // The first intent is the half of the relevant documents that lies lower in the direction. The
  // middle one of an odd number is in it if it lies in the lower half of all documents.
  void keep_one_intent(const FeatureView& docs, std::span<std::uint8_t> labels) const {
    std::vector<std::pair<double, std::uint32_t>> all;  // by place in the direction, then by number
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      const auto row = docs.row(Doc{doc});
      double place = 0;
      for (std::size_t at = 0; at < direction_.size(); ++at) place += direction_[at] * row[at];
      all.emplace_back(place, doc);
    }
    std::sort(all.begin(), all.end());
    std::vector<std::pair<std::uint32_t, bool>> relevant;  // document, whether it is in the half
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (labels[all[at].second] > 0) relevant.emplace_back(all[at].second, 2 * at < all.size());
    }
    std::size_t lower = relevant.size() / 2;
    if (relevant.size() % 2 == 1 && relevant[lower].second) ++lower;
    for (std::size_t at = 0; at < relevant.size(); ++at) {
      const bool second = at >= lower;
      if (second != state_.second_intent) labels[relevant[at].first] = 0;
    }
  }

  std::uint32_t max_label_;
  const DataState& state_;
  Worlds::Source source_;
  std::vector<bool> is_dead_;      // by column
  std::vector<double> direction_;  // likewise
};

}  // namespace

// Features that are constant in a fold may have been left out of it.
Result<void> check_feature_ids(const Dataset& dataset, std::span<const Drift> drifts) {
  for (std::size_t at = 0; at < drifts.size(); ++at) {
    for (const auto* features : {&drifts[at].dies, &drifts[at].appears}) {
      for (const std::uint32_t id : features->ids) {
        for (const Fold& fold : dataset.folds) {
          const auto in = [id](const std::vector<std::uint32_t>& ids) {
            return std::find(ids.begin(), ids.end(), id) != ids.end();
          };
          if (in(fold.feature_ids) || in(fold.constant_feature_ids)) continue;
          return Error{fmt::format("drift {}: {} has no feature {}", at + 1, dataset.name, id)};
        }
      }
    }
  }
  return {};
}

bool is_drawn(std::span<const Drift> drifts) {
  return std::any_of(drifts.begin(), drifts.end(), [](const Drift& drift) {
    switch (drift.of) {
      case DriftOf::kLabels:
        return drift.change == LabelChange::kIntents;
      case DriftOf::kFeatures:
        return drift.dies.share > 0 || drift.appears.share > 0;
      default:
        return drift.of == DriftOf::kQueries;
    }
  });
}

Result<std::shared_ptr<const Worlds>> Worlds::make(const Dataset& dataset,
                                                   std::span<const Drift> drifts,
                                                   const Source& source) {
  const Fold& from = dataset.folds[source.run % dataset.folds.size()];
  const std::shared_ptr<Worlds> made(new Worlds);
  made->drifts_.assign(drifts.begin(), drifts.end());
  std::vector<DataState> states;
  for (std::size_t world = 0; world <= drifts.size(); ++world) {
    const DataState state = state_in(drifts, world, from.feature_ids, source);
    const auto found = std::find(states.begin(), states.end(), state);
    made->state_of_.push_back(static_cast<std::size_t>(found - states.begin()));
    if (found == states.end()) states.push_back(state);
  }
  for (const DataState& state : states) {
    Fold fold = from;
    if (state != DataState{}) {
      const Maker maker(dataset, from, state, source);
      fold.train = maker.make(from.train);
      fold.test = maker.make(from.test);
      if (from.validation) fold.validation = maker.make(*from.validation);
    }
    if (state.groups && (fold.train.query_count() == 0 || fold.test.query_count() == 0 ||
                         (fold.validation && fold.validation->query_count() == 0))) {
      return Error{fmt::format("drift {}: share {} leaves {} {} without queries in run {}",
                               *state.groups + 1, state.share, dataset.name, from.name,
                               source.run)};
    }
    NdcgTable ndcg(fold.train, kNdcgCut);
    std::vector<double> best;
    if (!drifts.empty()) best = best_linear(fold.train, ndcg, source.seed);
    made->states_.push_back({std::move(fold), std::move(ndcg), std::move(best)});
  }
  return std::shared_ptr<const Worlds>(made);
}

void Worlds::weigh(std::uint64_t impression, std::span<double> weights) const {
  std::fill(weights.begin(), weights.end(), 0.0);
  double rest = 1;
  for (std::size_t world = drifts_.size(); world > 0; --world) {
    const double weight = drift_weight(drifts_[world - 1], impression);
    weights[state_of_[world]] += rest * weight;
    rest *= 1 - weight;
  }
  weights[state_of_[0]] += rest;
}

std::size_t Worlds::draw(Rng& rng, std::uint64_t impression) const {
  std::size_t world = drifts_.size();
  while (world > 0 && rng.uniform() >= drift_weight(drifts_[world - 1], impression)) --world;
  return world;
}

WorldsByRun::WorldsByRun(Dataset dataset, std::span<const Drift> drifts, std::uint64_t seed)
    : dataset_(std::move(dataset)),
      drifts_(drifts.begin(), drifts.end()),
      seed_(seed),
      is_drawn_(is_drawn(drifts)) {}

std::shared_ptr<WorldsByRun::Entry> WorldsByRun::entry_of(std::uint32_t key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry> entry = entries_[key].lock();
  if (entry == nullptr) entry = std::make_shared<Entry>();
  entries_[key] = entry;
  std::erase(recent_, entry);
  recent_.push_back(entry);
  if (recent_.size() > (is_drawn_ ? kRecentRuns : dataset_.folds.size())) recent_.pop_front();
  return entry;
}

Result<std::shared_ptr<const Worlds>> WorldsByRun::of(std::uint32_t run) {
  const auto folds = static_cast<std::uint32_t>(dataset_.folds.size());
  const std::uint32_t key = is_drawn_ ? run : run % folds;
  const std::shared_ptr<Entry> entry = entry_of(key);
  const std::lock_guard lock(entry->mutex);
  if (entry->worlds == nullptr) {
    auto made = Worlds::make(dataset_, drifts_, {seed_, key});
    if (!made) return made.error();
    entry->worlds = std::move(made).value();
  }
  // Who holds the worlds holds the entry.
  return std::shared_ptr<const Worlds>(entry, entry->worlds.get());
}

}  // namespace plackett
