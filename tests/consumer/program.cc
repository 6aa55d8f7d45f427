// A user's program: ranks, learns, has its own ranker and catches what is thrown.
#include <plackett/plackett.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

// One weight for all features: enough to show that a user's class works in the library.
class SumRanker final : public plackett::Ranker {
 public:
  explicit SumRanker(std::uint32_t feature_count) : feature_count_(feature_count) {}

  std::unique_ptr<Ranker> clone() const override { return std::make_unique<SumRanker>(*this); }
  std::uint32_t feature_count() const override { return feature_count_; }
  bool is_linear() const override { return true; }
  std::size_t parameter_count() const override { return 1; }
  void get_parameters(std::span<float> out) const override { out[0] = weight_; }
  void set_parameters(std::span<const float> parameters) override { weight_ = parameters[0]; }

  void score(const plackett::FeatureView& docs, std::span<float> scores) override {
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      scores[doc] = weight_ * sum(docs, plackett::Doc{doc});
    }
  }
  void gradient(const plackett::FeatureView& docs, std::span<const plackett::DocWeight> weights,
                std::span<float> out) override {
    out[0] = 0;
    for (const auto& [doc, weight] : weights) out[0] += weight * sum(docs, doc);
  }

 private:
  static float sum(const plackett::FeatureView& docs, plackett::Doc doc) {
    float total = 0;
    for (const float feature : docs.row(doc)) total += feature;
    return total;
  }

  std::uint32_t feature_count_;
  float weight_ = 0;
};

bool expect(bool holds, const char* claim) {
  if (!holds) std::fprintf(stderr, "failed: %s\n", claim);
  return holds;
}

}  // namespace

int main() {
  bool good = true;

  const auto data = plackett::load_dataset("synthetic", {});
  good &= expect(data.ok(), "the embedded data loads");
  if (!data) return 1;
  plackett::SimulationSpec spec;
  spec.runs = 1;
  spec.impressions = 500;
  const auto learned = plackett::simulate(*data, spec, {.threads = 1});
  good &= expect(learned.ok() && learned->summary.offline.mean > 0.5, "it learns");

  // Rows that are not padded: three features, rows four floats apart.
  const std::vector<float> rows = {0, 0, 0, -1, 1, 1, 1, -1, 0, 1, 0, -1};
  const auto docs = plackett::FeatureView::of(rows.data(), 3, 3, 4);
  plackett::Pdgd pdgd(std::make_unique<SumRanker>(3), {});
  plackett::Ranking ranking;
  for (std::uint64_t impression = 0; impression < 100; ++impression) {
    plackett::Rng rng({.seed = 1, .impression = impression});
    good &= expect(pdgd.rank(docs, rng, ranking), "scores are finite");
    std::vector<std::uint8_t> clicks;
    for (const plackett::Doc doc : ranking.shown) clicks.push_back(doc == plackett::Doc{1});
    pdgd.learn(docs, ranking, clicks);
  }
  float weight = 0;
  pdgd.ranker().get_parameters({&weight, 1});
  good &= expect(weight > 0.1F, "a user's ranker learns");
  good &= expect(dynamic_cast<SumRanker*>(&pdgd.ranker()) != nullptr, "types match the library's");

  bool caught = false;
  try {
    (void)plackett::find_method("no-such-method").value();
  } catch (const plackett::BadResult& error) {
    caught = true;
  }
  good &= expect(caught, "exceptions of the library are caught by type");

  if (!good) return 1;
  std::printf("plackett %.*s: NDCG@10 %.3f after 500 impressions\n",
              static_cast<int>(plackett::version().size()), plackett::version().data(),
              learned->summary.offline.mean);
}
