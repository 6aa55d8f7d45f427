// Checks the paper's Theorem 1: enumerates every ranking and every click pattern of a small case
// and compares the sign of each pair's expected weight alpha with the user's preference. Written
// directly from the paper's equations, without the fast code of sampling and learner, so that it
// can check that code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plackett/cascade_user.h"
#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/pairs.h"
#include "plackett/rng.h"
#include "plackett/user.h"

namespace plackett::audit {

// Every ranking times every click pattern: 720 * 64 at this many documents.
inline constexpr std::uint32_t kMaxDocs = 6;

// alpha counts as 0 up to this share of the pair's gross weight: far above the rounding error of a
// sum of 46,080 terms, far below any real preference.
inline constexpr double kTolerance = 1e-12;

// One query.
struct Case {
  std::vector<double> scores = {};        // one per document; finite
  std::vector<std::uint8_t> labels = {};  // one per document
  std::uint32_t k = 0;                    // how many are shown; 2 <= k <= documents <= kMaxDocs
};

// How pairs are weighted.
enum class Weight : std::uint8_t {
  kRho,   // eq. 5
  kNone,  // 1 for every pair: biased, to show that the check can fail
};

// What is audited: the update's parts that the theorem depends on.
struct Rules {
  Weight weight = Weight::kRho;      // of a pair in a ranking
  PairKind pairs = PairKind::kSeen;  // which are inferred from clicks
  double sharpness = 1;              // as PairRules: any weight that is symmetric in a pair will do
};

// One unordered pair of documents, first < second.
struct PLACKETT_EXPORT Pair {
  Doc first{};       // the lower index
  Doc second{};      // the higher index
  double alpha = 0;  // expected weight of (first over second) minus that of (second over first)
  double gross = 0;  // the sum of both
  double share = 0;  // alpha / gross, also if scores are so far apart that both are 0
  int expected = 0;  // the sign that alpha should have: 1, 0 or -1
  // Rankings that show both documents.
  std::uint32_t rankings = 0;
  // Those in which P(first over second | R) - P(second over first | R*) is not 0 and has another
  // sign than expected; the proof claims that there are none.
  std::uint32_t step_failures = 0;

  // alpha as a share of gross, towards the expected sign (or its size if that is 0).
  [[nodiscard]] double margin() const;
  // Whether alpha has the expected sign.
  [[nodiscard]] bool holds() const;
};

// Every pair's alpha, exact up to rounding. The expected sign is that of the labels, or 0 if the
// user treats both labels alike, since no click can tell them apart.
// Requires: a valid case, labels below user.grade_count(). Cost: O(n! 2^n n^2).
PLACKETT_EXPORT std::vector<Pair> audit_case(const Case& audited, const User& user,
                                             const Rules& rules);

// What is set is used, the rest is drawn at random.
struct CaseOptions {
  std::uint32_t max_docs = 4;                            // of random cases
  std::optional<std::uint32_t> k = {};                   // at most the number of documents
  std::optional<std::vector<double>> scores = {};        // one per document
  std::optional<std::vector<std::uint8_t>> labels = {};  // one per document
};

// Draws 2..max_docs documents (as many as the scores or labels that are set), 2..n shown, labels
// uniformly below grade_count, and scores normal with a standard deviation that is itself drawn
// from 0, 0.5, 2 and 5.
PLACKETT_EXPORT Case draw_case(const CaseOptions& options, std::uint32_t grade_count, Rng& rng);

// Kinds of users to draw. Probabilities are uniform, and each one is drawn on its own.
enum class DrawnUser : std::uint8_t {
  kCascade,         // stops after clicks with any probability for each label
  kPositionBased,   // eta from 0 to 3
  kDependentClick,  // reads on after clicks with any probability for each rank
  kUserBrowsing,    // examines with any probability for each rank and last click
  kTrustBias,       // likewise eta; any two probabilities for each rank, the higher if relevant
};
// "drawn-cascade", ...: one name for each, in their order.
PLACKETT_EXPORT std::span<const std::string_view> drawn_user_names();
// A user whose click probabilities are uniform and rise with the label.
// `stop_rule` is a cascade's.
PLACKETT_EXPORT std::unique_ptr<User> draw_user(DrawnUser kind, std::uint32_t grade_count, Rng& rng,
                                                StopRule stop_rule = StopRule::kAfterClick);

// A case in which a pair does not hold.
struct Violation {
  Case found = {};               // the case
  std::vector<Pair> pairs = {};  // all its pairs
};

// The result of many cases.
struct PLACKETT_EXPORT Summary {
  std::uint64_t cases = 0;          // audited
  std::uint64_t pairs = 0;          // in them
  std::uint64_t violations = 0;     // pairs that do not hold
  double smallest_margin = 1;       // over pairs with a preference
  double largest_imbalance = 0;     // over pairs without one: |alpha| / gross
  std::uint64_t rankings = 0;       // of pairs with a preference; see Pair
  std::uint64_t step_failures = 0;  // likewise
  // With the fewest documents, then the fewest shown, then the first.
  std::optional<Violation> smallest_violation = {};

  // Adds a case.
  void add(const Case& audited, std::vector<Pair> audited_pairs);
};

// A preference of the document at winner_rank over the one at loser_rank.
struct RankPair {
  std::uint32_t winner_rank = 0;  // from 0
  std::uint32_t loser_rank = 0;   // from 0

  bool operator==(const RankPair&) const = default;
};

// The paper's section 3.1: documents above a click were seen, and the first one below the last
// click; each clicked document is preferred to each that was seen and not clicked (kSeen), or to
// those of them that are above it (kAbove). By winner, then by loser.
PLACKETT_EXPORT std::vector<RankPair> inferred_pairs(std::span<const std::uint8_t> clicks,
                                                     PairKind kind = PairKind::kSeen);

// log P(R) (eq. 2). Requires: ranking holds distinct docs of `scores`.
PLACKETT_EXPORT double log_probability(std::span<const double> scores,
                                       std::span<const Doc> ranking);

// log of rho (eq. 5) of the documents at two ranks.
PLACKETT_EXPORT double log_rho(std::span<const double> scores, std::span<const Doc> ranking,
                               const RankPair& pair);

}  // namespace plackett::audit
