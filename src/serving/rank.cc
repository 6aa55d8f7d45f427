// From a request to a ranking, on the caller's thread.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "plackett/feature_view.h"
#include "plackett/plackett_luce.h"
#include "plackett/rng.h"
#include "serving/impression_to_keep.h"
#include "serving/model.h"
#include "serving/ranking_room.h"
#include "serving/service.h"

namespace plackett::serving {
namespace {

constexpr std::uint32_t kFree = ~std::uint32_t{0};

// The room's own copy of the model's newest version.
RankingRoom::Copy& copy_of(const Model& model, RankingRoom& room) {
  constexpr std::size_t kMostCopies = 256;  // those of models that are gone go too
  if (room.copies.size() > kMostCopies) room.copies.clear();
  RankingRoom::Copy& copy = room.copies[model.id];
  const std::uint64_t serial = model.publication.serial();
  if (copy.version == nullptr || copy.serial != serial) {
    copy.version = model.publication.latest();
    copy.ranker = copy.version->ranker->clone();
    copy.serial = serial;
  }
  return copy;
}

// Entropy, in nats, of who comes first when sampling from these scores.
double first_place_entropy(std::span<const float> scores) {
  if (scores.empty()) return 0;
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  double weighted = 0;
  for (const float score : scores) {
    const double below = score - highest;
    const double mass = std::exp(below);
    sum += mass;
    weighted += mass * below;
  }
  return std::max(0.0, std::log(sum) - weighted / sum);
}

Result<void> check_pins(const RankRequest& request, std::uint32_t places,
                        std::vector<std::uint32_t>& item_at) {
  item_at.assign(places, kFree);
  for (std::size_t at = 0; at < request.pinned.size(); ++at) {
    const RankRequest::Pin pin = request.pinned[at];
    const auto refuse = [&](std::string message) {
      return Error{ErrorCode::kInvalid, std::move(message), fmt::format("pinned[{}]", at)};
    };
    if (pin.rank >= places) {
      return refuse(fmt::format("rank {}; {} items are shown", pin.rank + 1, places));
    }
    if (item_at[pin.rank] != kFree) {
      return refuse(fmt::format("rank {} is taken; an item a rank", pin.rank + 1));
    }
    if (request.blocked[pin.item] != 0) {
      return refuse(fmt::format("\"{}\" is blocked too", request.items[pin.item]));
    }
    if (std::find(item_at.begin(), item_at.end(), pin.item) != item_at.end()) {
      return refuse(fmt::format("\"{}\" is pinned twice", request.items[pin.item]));
    }
    item_at[pin.rank] = pin.item;
  }
  return {};
}

// The rows of the candidates, the blocked ones left out, scaled. The request's order.
Result<void> gather(const Model& model, const RankRequest& request, RankingRoom& room) {
  const std::uint32_t stride = model.items.stride();
  room.rows.resize(request.items.size() * stride);
  const bool stored =
      std::find(request.given.begin(), request.given.end(), 0) != request.given.end();
  for (std::size_t item = 0; item < request.items.size(); ++item) {
    if (request.given[item] == 0) continue;
    std::copy_n(request.rows.begin() + static_cast<std::ptrdiff_t>(item * stride), stride,
                room.rows.begin() + static_cast<std::ptrdiff_t>(item * stride));
  }
  if (stored) {
    const std::size_t missing = model.items.gather(request.items, request.given, room.rows);
    if (missing < request.items.size()) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("\"{}\" has no features and is not stored; give its features or "
                               "store it first",
                               request.items[missing]),
                   fmt::format("items[{}]", missing)};
    }
  }
  room.candidates.clear();
  for (std::uint32_t item = 0; item < request.items.size(); ++item) {
    if (request.blocked[item] != 0) continue;
    const std::size_t to = room.candidates.size();
    if (to != item) {
      std::copy_n(room.rows.begin() + static_cast<std::ptrdiff_t>(std::size_t{item} * stride),
                  stride, room.rows.begin() + static_cast<std::ptrdiff_t>(to * stride));
    }
    room.candidates.push_back(item);
  }
  if (model.scaling == Scaling::kQueryMinMax) {
    scale_query_minmax(room.rows.data(), static_cast<std::uint32_t>(room.candidates.size()),
                       model.spec.ranker.feature_count, stride);
  }
  return {};
}

}  // namespace

void RankRequest::clear() {
  id = {};
  items.clear();
  given.clear();
  rows.clear();
  pinned.clear();
  blocked.clear();
  k = 0;
  exploit = false;
  context = {};
}

std::unique_ptr<RankingRoom, void (*)(RankingRoom*)> Service::make_room() const {
  return {new RankingRoom, [](RankingRoom* room) { delete room; }};
}

Result<Ranked> Service::rank(Model& model, const RankRequest& request, RankingRoom& room) const {
  assert(request.given.size() == request.items.size() &&
         request.blocked.size() == request.items.size());
  if (!request.id.empty() && impression_number(request.id)) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("\"{}\"; ids of the form i-NUMBER are given by the service", request.id), "id"};
  }
  if (request.k > kMaxShown) {
    return Error{ErrorCode::kInvalid, fmt::format("{}; it is 1 to {}", request.k, kMaxShown), "k"};
  }
  if (auto gathered = gather(model, request, room); !gathered) return gathered.error();
  const auto candidate_count = static_cast<std::uint32_t>(room.candidates.size());
  if (candidate_count == 0) {
    return Error{ErrorCode::kInvalid, "no item to rank; send at least one that is not blocked",
                 "items"};
  }
  const std::uint32_t places =
      std::min(request.k == 0 ? model.spec.shown : request.k, candidate_count);
  if (auto sound = check_pins(request, places, room.item_at); !sound) return sound.error();

  RankingRoom::Copy& copy = copy_of(model, room);
  room.scores.resize(candidate_count);
  copy.ranker->score(
      FeatureView(room.rows.data(), candidate_count, model.spec.ranker.feature_count), room.scores);
  const auto temperature = static_cast<float>(model.spec.temperature);
  if (!std::all_of(room.scores.begin(), room.scores.end(), [temperature](float score) {
        return std::isfinite(score) && std::isfinite(score / temperature);
      })) {
    return Error{ErrorCode::kInvalid,
                 "a score is not finite; the features are too large for the model", "items"};
  }

  // Those that are sampled: the candidates that are not pinned.
  room.sampled.clear();
  room.sampled_scores.clear();
  for (std::uint32_t at = 0; at < candidate_count; ++at) {
    const std::uint32_t item = room.candidates[at];
    if (std::find(room.item_at.begin(), room.item_at.end(), item) != room.item_at.end()) continue;
    room.sampled.push_back(at);
    room.sampled_scores.push_back(room.scores[at] / temperature);
  }
  const auto free_places = static_cast<std::uint32_t>(places - request.pinned.size());

  auto keep = std::make_shared<ImpressionToKeep>();
  keep->number = model.next_number.load(std::memory_order_relaxed);
  do {
    if (keep->number >= model.reserved.load(std::memory_order_acquire)) {
      return Error{ErrorCode::kBusy,
                   "the store is behind in numbering impressions; try again later"};
    }
  } while (!model.next_number.compare_exchange_weak(keep->number, keep->number + 1,
                                                    std::memory_order_relaxed));
  keep->version = copy.version->number;
  keep->given = request.id;
  store::Impression& impression = room.impression;
  impression.rest = {};
  impression.log_probability = 0;
  impression.exploit = request.exploit;
  impression.feature_count = model.spec.ranker.feature_count;
  impression.context = request.context;
  impression.entropy = first_place_entropy(room.sampled_scores);
  keep->entropy = impression.entropy;

  room.order.resize(free_places);
  if (request.exploit) {
    room.all.resize(room.sampled.size());
    std::iota(room.all.begin(), room.all.end(), 0U);
    std::partial_sort(room.all.begin(), room.all.begin() + free_places, room.all.end(),
                      [&room](std::uint32_t left, std::uint32_t right) {
                        const float a = room.sampled_scores[left];
                        const float b = room.sampled_scores[right];
                        return a != b ? a > b : left < right;
                      });
    for (std::uint32_t at = 0; at < free_places; ++at) room.order[at] = Doc{room.all[at]};
  } else if (free_places > 0) {
    Rng rng({model.spec.seed, 0, keep->number, Purpose::kRanking});
    impression.rest = sample_ranking(room.sampled_scores, rng, room.sampling, room.order);
    room.shown_scores.clear();
    for (const Doc doc : room.order) room.shown_scores.push_back(room.sampled_scores[index(doc)]);
    impression.log_probability = log_probability(room.shown_scores, impression.rest);
  }

  Ranked ranked;
  ranked.impression = request.id.empty() ? impression_name(keep->number) : std::string(request.id);
  ranked.model_version = keep->version;
  ranked.log_probability = impression.log_probability;
  ranked.entropy = impression.entropy;
  ranked.items.resize(places);
  impression.shown.resize(places);
  const std::uint32_t stride = model.items.stride();
  impression.rows.resize(request.exploit ? 0 : std::size_t{free_places} * stride);
  std::uint32_t next = 0;
  for (std::uint32_t rank = 0; rank < places; ++rank) {
    RankedItem& item = ranked.items[rank];
    store::ShownItem& shown = impression.shown[rank];
    item.pinned = room.item_at[rank] != kFree;
    std::uint32_t at = 0;
    if (item.pinned) {
      item.item = room.item_at[rank];
      at = static_cast<std::uint32_t>(
          std::lower_bound(room.candidates.begin(), room.candidates.end(), item.item) -
          room.candidates.begin());
    } else {
      const std::uint32_t drawn = index(room.order[next]);
      at = room.sampled[drawn];
      item.item = room.candidates[at];
      shown.sampled_score = room.sampled_scores[drawn];
      if (!request.exploit) {
        std::copy_n(
            room.rows.begin() + static_cast<std::ptrdiff_t>(std::size_t{at} * stride), stride,
            impression.rows.begin() + static_cast<std::ptrdiff_t>(std::size_t{next} * stride));
      }
      ++next;
    }
    if (item.pinned) shown.sampled_score = room.scores[at] / temperature;
    item.score = room.scores[at];
    shown.id = request.items[item.item];
    shown.score = room.scores[at];
    shown.pinned = item.pinned;
  }
  keep->data = store::pack(impression);
  model.entropy.store(impression.entropy, std::memory_order_relaxed);
  ranked.record = std::move(keep);
  return ranked;
}

}  // namespace plackett::serving
