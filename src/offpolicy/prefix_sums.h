// Sums over lists of the weights of their ranks, also where lists differ in length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plackett {

// Over lists with their candidates; p is the probability to be kept.
struct RankSums {
  double lists = 0;
  double weight = 0;          // W / p
  double squared_weight = 0;  // (W / p)^2
  double gain = 0;            // of W / p times the gain
  double logged = 0;          // of the gain / p
  double keep = 0;            // 1 / p
  double squared_keep = 0;    // 1 / p^2
  double cross = 0;           // W / p^2

  void add(double w, double p, double gained);
  void merge(const RankSums& other);
  // 0 where there is no weight, or where squares of weights overflow: then one list decides.
  [[nodiscard]] double effective_lists() const;
  // The mean of W over lists. Its expectation is 1: less means that the log lacks some of what the
  // policy would show.
  [[nodiscard]] double mean() const { return keep > 0 ? weight / keep : 0.0; }
  // The standard error of the mean if it is expected to be 1, from how far each W is from that: of
  // few lists, whose weights may be alike by chance, it is never small beside what the mean lacks.
  [[nodiscard]] double mean_error() const;
};

// By rank, of lists that may differ in length. In memory that grows with the longest list, and
// without work for ranks that a list does not have.
class PrefixSums {
 public:
  // Of one list. Requires: one weight and one gain per rank.
  void add(std::span<const double> weights, double p, std::span<const double> gains);
  void merge(const PrefixSums& other);

  [[nodiscard]] std::size_t ranks() const { return longer_.size(); }  // of the longest list
  [[nodiscard]] double lists() const { return lists_; }
  // Over lists that have the rank.
  [[nodiscard]] RankSums with_rank(std::size_t rank) const;
  // Over all lists, by rank. A list that ends above a rank is known to be worth nothing there, so
  // nothing is left to chance: it has the weight of its last rank, W of min(rank, length), whose
  // expectation is 1 as well.
  [[nodiscard]] std::vector<RankSums> of_all() const;
  // Those of lists that have the rank, over their share of all lists: as many as all would amount
  // to if they had it. All lists, if each W is 1, and at least 1 / share.
  [[nodiscard]] double effective_lists(std::size_t rank) const;

 private:
  void grow(std::size_t ranks);

  // A list is in ended_[its ranks] with its last weight (1 without a rank), and in longer_[rank]
  // for each rank above.
  double lists_ = 0;
  std::vector<RankSums> ended_{1};
  std::vector<RankSums> longer_;
};

// Which ranks lists have, and what they were worth there, whether their candidates are known or
// not.
class ShownRanks {
 public:
  void grow(std::size_t ranks);
  // Of one list, one gain per rank.
  void add(std::span<const double> gains);
  void merge(const ShownRanks& other);

  [[nodiscard]] std::size_t ranks() const { return ranks_.size(); }  // of the longest list
  // By rank, how much is at stake there: the share of lists that have it, or of what all were worth
  // that it and those below it have, if that is more. From 0 to 1; no rank has more than one above.
  [[nodiscard]] std::vector<double> stakes() const;

 private:
  struct Rank {
    double lists = 0;
    double gains = 0;  // their sizes
  };
  double lists_ = 0;
  std::vector<Rank> ranks_;
};

// What is at stake at most where a policy shows what the log lacks, and a value is given all the
// same.
inline constexpr double kNegligibleStake = 0.01;

}  // namespace plackett
