// The paper's Theorem 1, checked: every ranking and every click pattern of a small case is
// enumerated, and the sign of each pair's expected weight alpha is held against the user's
// preference. Written straight from the paper's equations and sharing nothing with the fast code
// of sampling and learner, so that it can judge it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plackett/index.h"
#include "plackett/rng.h"
#include "plackett/user.h"

namespace plackett::audit {

// Every ranking times every click pattern: 720 * 64 at this many documents.
inline constexpr std::uint32_t kMaxDocs = 6;

// alpha counts as 0 up to this share of the pair's gross weight: far above the rounding of a
// sum of 46,080 terms, far below any real preference.
inline constexpr double kTolerance = 1e-12;

struct Case {
  std::vector<double> scores;        // a document; finite
  std::vector<std::uint8_t> labels;  // a document
  std::uint32_t k = 0;               // how many are shown; 2 <= k <= documents <= kMaxDocs
};

enum class Weight : std::uint8_t {
  kRho,   // eq. 5
  kNone,  // 1 for every pair: biased, and so the check's own check
};

// One unordered pair of documents, first < second.
struct Pair {
  Doc first{};
  Doc second{};
  double alpha = 0;  // expected weight of (first over second); minus that of (second over first)
  double gross = 0;  // the same with every sign made plus
  double share = 0;  // alpha / gross, also where scores lie so far apart that both come out as 0
  int expected = 0;  // the sign that alpha should have: 1, 0 or -1
  // Rankings that show both, and those among them that speak against the expected sign: where
  // P(first over second | R) - P(second over first | R*), which the proof holds to have it in
  // every ranking, is of another sign and not 0.
  std::uint32_t rankings = 0;
  std::uint32_t step_failures = 0;

  // alpha as a share of gross, towards the expected sign (or its size where that is 0).
  [[nodiscard]] double margin() const;
  [[nodiscard]] bool holds() const;
};

// Every pair's alpha, exact but for rounding. The expected sign is the labels', except where the
// user treats both labels alike: then no click can tell them apart, and it is 0.
// Requires: a sound case, labels below user.grade_count(). Cost: O(n! 2^n n^2).
std::vector<Pair> audit_case(const Case& sound_case, const User& user, Weight weight);

// What random cases are drawn from; whatever is set is kept, the rest is drawn.
struct CaseOptions {
  std::uint32_t max_docs = 4;
  std::optional<std::uint32_t> k = {};  // cut to the number of documents
  std::optional<std::vector<double>> scores = {};
  std::optional<std::vector<std::uint8_t>> labels = {};
};

// Draws 2..max_docs documents (as many as the scores or labels that are set), 2..n shown, labels
// uniformly below grade_count, and scores normal with a standard deviation that is itself drawn
// from 0, 0.5, 2 and 5.
Case draw_case(const CaseOptions& options, std::uint32_t grade_count, Rng& rng);

struct Violation {
  Case found;
  std::vector<Pair> pairs;  // of that case: all of them
};

struct Summary {
  std::uint64_t cases = 0;
  std::uint64_t pairs = 0;
  std::uint64_t violations = 0;                 // pairs
  double smallest_margin = 1;                   // over pairs with a preference
  double largest_imbalance = 0;                 // over pairs without one: |alpha| / gross
  std::uint64_t rankings = 0;                   // of pairs with a preference; see Pair
  std::uint64_t step_failures = 0;              // likewise
  std::optional<Violation> smallest_violation;  // fewest documents, then fewest shown, then first

  void add(const Case& audited, std::vector<Pair> audited_pairs);
};

// The definitions, for tests that compare the fast code with them.

// A preference of the document at winner_rank over the one at loser_rank.
struct RankPair {
  std::uint32_t winner_rank = 0;
  std::uint32_t loser_rank = 0;

  bool operator==(const RankPair&) const = default;
};

// The paper's section 3.1: what stands above a click was seen, and the first document below the
// last click; each clicked document is preferred to each that was seen and not clicked. By
// winner, then by loser.
std::vector<RankPair> inferred_pairs(std::span<const std::uint8_t> clicks);

// log P(R) (eq. 2). Requires: ranking holds distinct docs of `scores`.
double log_probability(std::span<const double> scores, std::span<const Doc> ranking);

// log of rho (eq. 5) of the documents at two ranks.
double log_rho(std::span<const double> scores, std::span<const Doc> ranking, const RankPair& pair);

}  // namespace plackett::audit
