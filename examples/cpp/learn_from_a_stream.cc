// A shop that learns while it is open. Visitors come, each sees a ranking sampled from what the
// model thinks, some click, and clicks arrive late and out of order. The items stay where the shop
// keeps them: the engine reads the features in place and copies nothing.
#include <plackett/plackett.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <vector>

namespace {

constexpr std::uint32_t kFeatures = 5;
constexpr std::uint32_t kShelves = 200;       // a query: one shelf of the shop
constexpr std::uint32_t kItemsOnAShelf = 20;  // its candidates
constexpr std::uint64_t kVisits = 20'000;
constexpr std::size_t kVisitsBeforeAnswer = 50;  // clicks come this many visits later

// An item as the shop stores it: the features are among other data. So rows are
// sizeof(Item) / sizeof(float) floats apart, and what is between them is never read.
struct Item {
  std::uint32_t article_number;
  float features[kFeatures];  // price, rating, freshness, delivery, chance: all in [0, 1)
  bool in_stock;
};
constexpr std::size_t kStride = sizeof(Item) / sizeof(float);
static_assert(sizeof(Item) % sizeof(float) == 0);

// What visitors really like. The engine never sees it.
constexpr std::array<float, kFeatures> kTaste = {-2.0F, 3.0F, 1.0F, 1.5F, 0.0F};

float liking(const Item& item) {
  float sum = 0;
  for (std::size_t at = 0; at < kFeatures; ++at) sum += kTaste[at] * item.features[at];
  return sum;
}

// One shelf's candidates, borrowed. The shop's memory must outlive the view.
plackett::FeatureView view_of(const std::vector<Item>& shop, std::uint32_t shelf) {
  const Item& first = shop[std::size_t{shelf} * kItemsOnAShelf];
  return plackett::FeatureView::of(first.features, kItemsOnAShelf, kFeatures, kStride);
}

// An impression that waits for its clicks: learning later needs only what was shown and its scores
// at that time, however much the model has changed since.
struct OpenImpression {
  std::uint32_t shelf = 0;
  plackett::Ranking ranking;
  std::vector<std::uint8_t> clicks;  // by rank
};

// A visitor reads from the top, clicks what pleases, and often leaves after a click.
void look_and_click(const std::vector<Item>& shop, plackett::Rng& rng, OpenImpression& seen) {
  seen.clicks.assign(seen.ranking.shown.size(), 0);
  for (std::size_t rank = 0; rank < seen.ranking.shown.size(); ++rank) {
    const std::size_t item = index(seen.ranking.shown[rank]);
    const float pleasure = liking(shop[std::size_t{seen.shelf} * kItemsOnAShelf + item]) - 2.5F;
    if (rng.uniform() > 1.0 / (1.0 + std::exp(-4.0 * double{pleasure}))) continue;
    seen.clicks[rank] = 1;
    if (rng.uniform() < 0.5) return;
  }
}

}  // namespace

int main() {
  std::vector<Item> shop(std::size_t{kShelves} * kItemsOnAShelf);
  plackett::Rng stocking({.seed = 1});
  for (std::uint32_t number = 0; number < shop.size(); ++number) {
    shop[number].article_number = 0xFFFFFFFF;  // as a float it would be NaN
    for (float& feature : shop[number].features) feature = static_cast<float>(stocking.uniform());
    shop[number].in_stock = true;
  }

  // Only to measure: labels from 0 to 4 by true preference, over the same memory.
  std::vector<std::uint8_t> labels;
  std::vector<std::uint64_t> shelf_begin = {0};
  for (const Item& item : shop) {
    labels.push_back(static_cast<std::uint8_t>(std::fmin(4, std::fmax(0, liking(item)))));
  }
  for (std::uint32_t shelf = 1; shelf <= kShelves; ++shelf) {
    shelf_begin.push_back(std::uint64_t{shelf} * kItemsOnAShelf);
  }
  const plackett::Split judged = plackett::wrap_split({.rows = shop.front().features,
                                                       .stride = kStride,
                                                       .feature_count = kFeatures,
                                                       .labels = labels,
                                                       .query_begin = shelf_begin,
                                                       .owner = nullptr})
                                     .value();
  const auto ndcg = [&](plackett::Ranker& ranker) {
    return plackett::evaluate(ranker, judged, 4).value().means()[plackett::Metric::kNdcg10];
  };

  const plackett::RankerSpec spec{.kind = plackett::RankerKind::kLinear,
                                  .feature_count = kFeatures};
  plackett::Rng initial({.seed = 1, .purpose = plackett::Purpose::kInitialise});
  plackett::Pdgd pdgd(plackett::make_ranker(spec, initial).value(), {.learning_rate = 0.01});
  const double untrained = ndcg(pdgd.ranker());
  std::printf("%8s  %8s\n%8d  %8.3f\n", "visits", "NDCG@10", 0, untrained);

  std::deque<OpenImpression> open;
  std::uint64_t next_line = 10;
  for (std::uint64_t visit = 1; visit <= kVisits; ++visit) {
    plackett::Rng chance({.seed = 2, .impression = visit});
    OpenImpression& seen = open.emplace_back();
    seen.shelf = chance.below(kShelves);
    if (!pdgd.rank(view_of(shop, seen.shelf), chance, seen.ranking)) return 1;
    look_and_click(shop, chance, seen);
    if (open.size() > kVisitsBeforeAnswer) {
      const std::size_t any = chance.below(kVisitsBeforeAnswer);
      const OpenImpression& answered = open[any];
      pdgd.learn(view_of(shop, answered.shelf), answered.ranking, answered.clicks);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(any));
    }
    if (visit == next_line) {
      std::printf("%8llu  %8.3f\n", static_cast<unsigned long long>(visit), ndcg(pdgd.ranker()));
      next_line *= visit == 10'000 ? 2 : 10;
    }
  }
  const double learned = ndcg(pdgd.ranker());

  // Closing time: save the model and the learner's state in one file.
  plackett::SavedModel model{.ranker = spec,
                             .feature_ids = {1, 2, 3, 4, 5},
                             .scaling = "none",
                             .parameters = std::vector<float>(kFeatures),
                             .learner = pdgd.state()};
  pdgd.ranker().get_parameters(model.parameters);
  model.learner.impressions = kVisits;
  const std::filesystem::path path = "shop.plk";
  plackett::save_model(model, path).value();

  // The next morning.
  const plackett::SavedModel read = plackett::load_model(path).value();
  std::filesystem::remove(path);
  plackett::Pdgd next_day(plackett::restore_ranker(read).value(), {.learning_rate = 0.01});
  next_day.restore(read.learner);
  const double restored = ndcg(next_day.ranker());

  std::printf("\nwhat visitors like, and what the shop learned of it:\n");
  const char* names[kFeatures] = {"price", "rating", "freshness", "delivery", "chance"};
  for (std::size_t at = 0; at < kFeatures; ++at) {
    std::printf("  %-10s %5.1f %7.2f\n", names[at], double{kTaste[at]},
                double{read.parameters[at]});
  }
  std::printf("saved after %llu updates, loaded, and it ranks as it did: NDCG@10 %.3f\n",
              static_cast<unsigned long long>(read.learner.updates), restored);
  const bool good = untrained < 0.8 && learned > 0.95 && restored == learned;
  if (!good) std::fprintf(stderr, "NDCG@10 should have gone from below 0.8 to above 0.95\n");
  return good ? 0 : 1;
}
