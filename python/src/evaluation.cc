// How good a ranking is if labels are known.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "background.h"
#include "handles.h"
#include "plackett/evaluate.h"
#include "plackett/metrics.h"
#include "plackett/ndcg.h"
#include "plackett/split_evaluator.h"

namespace plackett::python {
namespace {

std::span<const std::uint8_t> some_labels(py::handle labels, std::vector<std::uint8_t>& copied) {
  const auto known = labels_in(labels, copied);
  if (known.empty()) bad_value("labels: none; expected at least 1");
  return known;
}

double ndcg(Given ranking, Given labels, Given k) {
  std::vector<std::uint8_t> copied;
  const auto known = some_labels(labels, copied);
  const std::vector<Doc> docs = ranked_docs(ranking, known.size(), "labels");
  const std::array<std::uint64_t, 2> begin{0, known.size()};
  const Split split({.query_count = 1, .labels = known.data(), .query_begin = begin.data()});
  const NdcgTable table(split, integer32(k, "k", {1, 1'000'000}));
  return table.ndcg(Query{0}, Judgments(known), docs);
}

py::dict named(const MetricSet& values) {
  py::dict result;
  for (std::size_t at = 0; at < kMetricCount; ++at) {
    result[py::str(std::string(metric_names()[at]))] = values.values()[at];
  }
  return result;
}

py::dict metrics_of(Given ranking, Given labels, Given max_label) {
  std::vector<std::uint8_t> copied;
  const auto known = some_labels(labels, copied);
  const std::vector<Doc> docs = ranked_docs(ranking, known.size(), "labels");
  if (docs.size() != known.size()) {
    bad_value("ranking: {} of {} documents; metrics need all of them", docs.size(), known.size());
  }
  const std::uint32_t highest = *std::max_element(known.begin(), known.end());
  const std::uint32_t most =
      max_label.is_none() ? highest : integer32(max_label, "max_label", {highest, kMaxLabel});
  return named(metrics(docs, Judgments(known), most));
}

struct Evaluation {
  const SplitHandle& split;
  EvaluateOptions options;

  template <typename Score>
  [[nodiscard]] MetricSet by(const Score& score) const {
    SplitEvaluator evaluator(split.split, {.no_relevant = options.no_relevant});
    Rng rng({.seed = options.seed, .purpose = Purpose::kTieBreak});
    return evaluator.mean_metrics(score, split.max_label, rng).means();
  }

  // Fails if a score is not finite. Documents are numbered as in the split.
  template <typename T>
  void require_finite(const std::vector<T>& scores, const FeatureView& docs, std::string_view whose,
                      std::string_view rule) const {
    for (std::size_t doc = 0; doc < scores.size(); ++doc) {
      if (std::isfinite(scores[doc])) continue;
      const auto before = static_cast<std::size_t>(docs.data() - split.split.storage().rows);
      bad_value("{}: {} at document {}; {}", whose, scores[doc],
                before / split.split.row_stride() + doc, rule);
    }
  }
};

struct Stopped {};

MetricSet evaluate_ranker(const Ranker& ranker, const Evaluation& wanted) {
  const Split& split = wanted.split.split;
  if (split.feature_count() != ranker.feature_count()) {
    bad_value("split: {} features; the ranker reads {}", split.feature_count(),
              ranker.feature_count());
  }
  const std::unique_ptr<Ranker> own = ranker.clone();  // another thread may use the first
  const auto work = [&](const Watch& watch) {
    std::vector<float> scores;
    return wanted.by([&](const FeatureView& docs) {
      if (watch.stop()) throw Stopped();
      scores.resize(docs.doc_count());
      own->score(docs, scores);
      wanted.require_finite(scores, docs, "ranker: a score",
                            "scores must be finite; was it learned on data of another scale?");
      return std::span<const float>(scores);
    });
  };
  return in_background(work);
}

// Floats in the same order as `given`, equal where those are: successive ones from 1 on.
// Requires: finite.
std::vector<float> in_same_order(const std::vector<double>& given) {
  std::vector<double> distinct = given;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<float> scores;
  for (const double value : given) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin();
    scores.push_back(
        std::bit_cast<float>(std::bit_cast<std::uint32_t>(1.0F) + static_cast<std::uint32_t>(at)));
  }
  return scores;
}

// `score` is any Python function from features to scores.
MetricSet evaluate_function(Given score, const Evaluation& wanted) {
  std::vector<float> scores;
  return wanted.by([&](const FeatureView& docs) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const auto given = real_numbers(score(features_array(docs)), "scores");
    if (given.size() != docs.doc_count()) {
      bad_value("scores: {} for {} documents; expected one each", given.size(), docs.doc_count());
    }
    wanted.require_finite(given, docs, "scores", "scores must be finite");
    scores = in_same_order(given);
    return std::span<const float>(scores);
  });
}

py::dict evaluate_any(Given ranker, Given split, Given no_relevant, Given seed) {
  if (!py::isinstance<SplitHandle>(split)) {
    bad_type("split: {}; expected a plackett.Split", shown_value(split));
  }
  const Evaluation wanted{py::cast<const SplitHandle&>(split),
                          {.no_relevant = take(parse_no_relevant(text(no_relevant, "no_relevant"))),
                           .seed = integer(seed, "seed")}};
  if (py::isinstance<RankerHandle>(ranker)) {
    return named(evaluate_ranker(*engine_ranker(ranker).ranker, wanted));
  }
  if (py::isinstance<LearnerHandle>(ranker)) {
    return named(evaluate_ranker(*py::cast<const LearnerHandle&>(ranker).ranker().ranker, wanted));
  }
  if (PyCallable_Check(ranker.ptr()) == 0) {
    bad_type("ranker: {}; expected a Ranker, a Learner or a function from features to scores",
             shown_value(ranker));
  }
  return named(evaluate_function(ranker, wanted));
}

}  // namespace

void bind_evaluation(py::module_& module) {
  const EvaluateOptions defaults;
  add(module, "ndcg", ndcg, with("ranking"_a, "labels"_a, "k"_a = EvaluationOptions{}.k),
      R"(NDCG at k of documents from the top, or of an Impression.

The gain is 2^label - 1, the discount 1 / log2(rank + 1) with ranks from 1. `labels` are those of
all candidates; 0 if none is above 0.

>>> plackett.ndcg([1, 0], labels=[0, 1])
1.0)");
  add(module, "metrics", metrics_of, with("ranking"_a, "labels"_a, "max_label"_a = py::none()),
      R"(The metrics of a ranking of all documents: a dict.

NDCG@1, NDCG@3, NDCG@5, NDCG@10, MRR, MAP and ERR@10. `max_label` is the highest possible label, for
ERR@10; if None, the highest of these.

>>> plackett.metrics([1, 0], labels=[1, 0])["MRR"]
0.5)");
  add(module, "evaluate", evaluate_any,
      with("ranker"_a, "split"_a, py::kw_only(), "no_relevant"_a = name_of(defaults.no_relevant),
           "seed"_a = defaults.seed),
      R"(Every metric's mean over a split's queries: a dict.

`ranker` is a Ranker, a Learner, or any function from features (documents x features) to scores,
which are compared as float64. Queries without a relevant document are left out ("skip"), or count
as "zero" or "one"; `seed` orders equal scores.

>>> test = plackett.load("synthetic").folds[0].test
>>> means = plackett.evaluate(lambda features: features[:, 0], test)
>>> 0 < means["NDCG@10"] < 1
True)");
}

}  // namespace plackett::python
