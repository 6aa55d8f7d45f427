// How good a ranking is where labels are known.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "arguments.h"
#include "arrays.h"
#include "background.h"
#include "bindings.h"
#include "data.h"
#include "failure.h"
#include "impression.h"
#include "model.h"
#include "plackett/evaluate.h"
#include "plackett/metrics.h"
#include "plackett/ndcg.h"
#include "plackett/split_evaluator.h"
#include "streams.h"

namespace plackett::python {
namespace {

std::vector<std::uint8_t> labels_given(py::handle labels) {
  std::vector<std::uint8_t> values;
  if (py::isinstance<QueryHandle>(labels)) {
    const auto known = py::cast<const QueryHandle&>(labels).judgments().labels();
    values.assign(known.begin(), known.end());
  } else {
    values = labels_of(labels);
  }
  if (values.empty()) bad_value("labels: none; there is at least 1");
  return values;
}

double ndcg(const py::object& ranking, const py::object& labels, const py::object& k) {
  const std::vector<std::uint8_t> known = labels_given(labels);
  const std::vector<Doc> docs = ranked_docs(ranking, {.name = "labels", .count = known.size()});
  const std::uint32_t cut = whole32(k, "k", {.least = 1, .most = 1'000'000});
  const std::array<std::uint64_t, 2> begin{0, known.size()};
  Split::Storage storage;
  storage.query_count = 1;
  storage.labels = known.data();
  storage.query_begin = begin.data();
  const NdcgTable table(Split(std::move(storage)), cut);
  return table.ndcg(Query{0}, Judgments(known), docs);
}

py::dict named(const MetricSet& values) {
  py::dict result;
  const auto names = metric_names();
  for (std::size_t at = 0; at < kMetricCount; ++at) {
    result[py::str(std::string(names[at]))] = values.values()[at];
  }
  return result;
}

py::dict metrics_of(const py::object& ranking, const py::object& labels,
                    const py::object& max_label) {
  const std::vector<std::uint8_t> known = labels_given(labels);
  const std::vector<Doc> docs = ranked_docs(ranking, {.name = "labels", .count = known.size()});
  if (docs.size() != known.size()) {
    bad_value("ranking: {} of {} documents; metrics need all of them in order", docs.size(),
              known.size());
  }
  const std::uint32_t highest = *std::max_element(known.begin(), known.end());
  const std::uint32_t most =
      max_label.is_none() ? highest : whole32(max_label, "max_label", {highest, kMaxLabel});
  return named(metrics(docs, Judgments(known), most));
}

struct Evaluation {
  std::shared_ptr<SplitHandle> split;
  std::uint32_t max_label = 0;
  EvaluateOptions options;
};

// Numbers a query's documents as the split does.
std::size_t doc_number(const Split& split, const FeatureView& docs, std::size_t doc) {
  if (split.row_stride() == 0) return doc;
  return static_cast<std::size_t>(docs.data() - split.storage().rows) / split.row_stride() + doc;
}

// Fails where one is not finite: `whose` scores they are, and why that may be.
template <typename T>
void require_finite(std::span<const T> scores, const Split& split, const FeatureView& docs,
                    std::string_view whose, std::string_view why) {
  for (std::size_t doc = 0; doc < scores.size(); ++doc) {
    if (std::isfinite(scores[doc])) continue;
    bad_value("{}: {} at document {}; {}", whose, scores[doc], doc_number(split, docs, doc), why);
  }
}

struct Stopped {};

MetricSet evaluate_ranker(const Ranker& ranker, const Evaluation& wanted) {
  const Split& split = wanted.split->split;
  if (split.feature_count() != ranker.feature_count()) {
    bad_value("split: {} features; the ranker reads {}", split.feature_count(),
              ranker.feature_count());
  }
  const std::unique_ptr<Ranker> own = ranker.clone();  // another thread may use the first
  const std::function<MetricSet(const Watch&)> work = [&](const Watch& watch) {
    SplitEvaluator evaluator(split, {.no_relevant = wanted.options.no_relevant});
    Rng rng({.seed = wanted.options.seed, .purpose = Purpose::kTieBreak});
    std::vector<float> scores;
    const auto scored = [&](const FeatureView& docs) {
      if (watch.stop && watch.stop()) throw Stopped();
      scores.resize(docs.doc_count());
      own->score(docs, scores);
      require_finite(std::span<const float>(scores), split, docs, "ranker: a score",
                     "scores are finite; was it learned on data of another scale?");
      return std::span<const float>(scores);
    };
    return evaluator.mean_metrics(scored, wanted.max_label, rng).means();
  };
  // A thread costs more than an evaluation of a millisecond.
  constexpr std::uint64_t kSmall = 1'000'000;
  if (split.doc_count() * own->parameter_count() < kSmall) return work({});
  return in_background<MetricSet>(work, {});
}

// Floats that order documents as `given` does and are equal where those are: `given` itself where
// float32 holds it, else neighbouring floats from 1 on. Requires: finite.
void in_same_order(std::span<const double> given, std::vector<float>& scores) {
  scores.resize(given.size());
  bool exact = true;
  for (std::size_t doc = 0; doc < given.size(); ++doc) {
    exact = exact && std::abs(given[doc]) <= std::numeric_limits<float>::max();
    if (!exact) break;
    scores[doc] = static_cast<float>(given[doc]);
    exact = static_cast<double>(scores[doc]) == given[doc];
  }
  if (exact) return;
  std::vector<double> distinct(given.begin(), given.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<float> stands_for(distinct.size(), 1.0F);
  for (std::size_t at = 1; at < distinct.size(); ++at) {
    stands_for[at] = std::nextafter(stands_for[at - 1], std::numeric_limits<float>::max());
  }
  for (std::size_t doc = 0; doc < given.size(); ++doc) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), given[doc]);
    scores[doc] = stands_for[static_cast<std::size_t>(at - distinct.begin())];
  }
}

// `score` is any Python function from features to scores.
MetricSet evaluate_function(const py::object& score, const Evaluation& wanted) {
  const Split& split = wanted.split->split;
  SplitEvaluator evaluator(split, {.no_relevant = wanted.options.no_relevant});
  Rng rng({.seed = wanted.options.seed, .purpose = Purpose::kTieBreak});
  const py::object owner = py::cast(wanted.split);
  constexpr auto kBytes = static_cast<py::ssize_t>(sizeof(float));
  std::vector<float> scores;
  const auto scored = [&](const FeatureView& docs) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const auto features = read_only({static_cast<py::ssize_t>(docs.doc_count()),
                                     static_cast<py::ssize_t>(docs.feature_count())},
                                    {static_cast<py::ssize_t>(split.row_stride()) * kBytes, kBytes},
                                    docs.data(), owner);
    const std::vector<double> given = real_numbers(score(features), "scores");
    if (given.size() != docs.doc_count()) {
      bad_value("scores: {} for {} documents; there is one each", given.size(), docs.doc_count());
    }
    require_finite(std::span<const double>(given), split, docs, "scores", "scores are finite");
    in_same_order(given, scores);
    return std::span<const float>(scores);
  };
  return evaluator.mean_metrics(scored, wanted.max_label, rng).means();
}

py::dict evaluate_any(const py::object& ranker, const py::object& split,
                      const py::object& no_relevant, const py::object& seed) {
  Evaluation wanted;
  if (!py::isinstance<SplitHandle>(split)) {
    bad_type("split: {}; it is a plackett.Split", shown_value(split));
  }
  wanted.split = py::cast<std::shared_ptr<SplitHandle>>(split);
  wanted.max_label = wanted.split->max_label;
  wanted.options.no_relevant = take(parse_no_relevant(text(no_relevant, "no_relevant")));
  wanted.options.seed = whole(seed, "seed", {});
  if (py::isinstance<RankerHandle>(ranker)) {
    return named(evaluate_ranker(*engine_ranker(ranker).ranker, wanted));
  }
  if (py::isinstance<LearnerHandle>(ranker)) {
    return named(evaluate_ranker(*py::cast<const LearnerHandle&>(ranker).ranker().ranker, wanted));
  }
  if (PyCallable_Check(ranker.ptr()) == 0) {
    bad_type("ranker: {}; it is a Ranker, a Learner or a function from features to scores",
             shown_value(ranker));
  }
  return named(evaluate_function(ranker, wanted));
}

}  // namespace

void bind_evaluation(py::module_& module) {
  const EvaluateOptions defaults;
  module.def("ndcg", ndcg, py::arg("ranking"), py::arg("labels"),
             py::arg("k") = EvaluationOptions{}.k,
             (fmt::format("ndcg(ranking, labels, k={})", EvaluationOptions{}.k) + R"(
--

NDCG at k of documents from the top, or of an Impression: gain 2^label - 1, discount 1 / log2(place + 1). `labels` are
those of all candidates; 0 where none is above 0.

>>> import plackett
>>> plackett.ndcg([1, 0], labels=[0, 1])
1.0)")
                 .c_str());
  module.def("metrics", metrics_of, py::arg("ranking"), py::arg("labels"),
             py::arg("max_label") = py::none(), R"(metrics(ranking, labels, max_label=None)
--

NDCG@1, NDCG@3, NDCG@5, NDCG@10, MRR, MAP and ERR@10 of a ranking of all documents: a dict.
`max_label` is the highest that a document can have, for ERR@10; where None, the highest of these.

>>> import plackett
>>> plackett.metrics([1, 0], labels=[1, 0])["MRR"]
0.5)");
  module.def("evaluate", evaluate_any, py::arg("ranker"), py::arg("split"), py::kw_only(),
             py::arg("no_relevant") = name_of(defaults.no_relevant),
             py::arg("seed") = defaults.seed,
             (fmt::format("evaluate(ranker, split, *, no_relevant=\"{}\", seed={})",
                          name_of(defaults.no_relevant), defaults.seed) +
              R"(
--

Every metric's mean over a split's queries: a dict. `ranker` is a Ranker, a Learner, or any function
from features (documents x features) to scores, which are compared as float64. Queries without a
relevant document are left out ("skip"), or count "zero" or "one"; `seed` orders equal scores.

>>> import plackett
>>> test = plackett.load("synthetic").folds[0].test
>>> means = plackett.evaluate(lambda features: features[:, 0], test)
>>> 0 < means["NDCG@10"] < 1
True)")
                 .c_str());
}

}  // namespace plackett::python
