#include "plackett/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/attempt.h"
#include "base/declare_option.h"
#include "offpolicy/agreement.h"
#include "offpolicy/minimise.h"
#include "offpolicy/order_likelihood.h"
#include "plackett/rng.h"

namespace plackett {
namespace {

constexpr std::uint32_t kMaxIterations = 1'000'000;
constexpr std::uint64_t kMaxTemperature = 1'000'000;
// A network's fit ends when the lists held out were not more likely for so many iterations.
constexpr std::uint32_t kPatience = 20;

Result<double> parse_held_out(std::string_view text) {
  auto share = option_value::read_number(text, {});
  if (share && *share <= 0.9) return share;
  return Error{fmt::format("\"{}\"; expected a number from 0 to 0.9", text)};
}

struct Parts {
  std::vector<std::size_t> fitted;
  std::vector<std::size_t> held_out;
};

// The lists that say something, in two parts, each in order.
Parts divide(const ObservedOrders& orders, const FitOptions& options) {
  Parts parts;
  std::vector<std::pair<std::uint64_t, std::size_t>> draws;
  for (std::size_t list = 0; list < orders.size(); ++list) {
    if (orders.docs(list).doc_count() < 2) continue;
    Rng rng({.seed = options.seed, .impression = list, .purpose = Purpose::kHeldOut});
    draws.emplace_back(rng.next_u64(), list);
  }
  std::sort(draws.begin(), draws.end());
  const auto held = static_cast<std::size_t>(options.held_out * static_cast<double>(draws.size()));
  for (std::size_t at = 0; at < draws.size(); ++at) {
    (at < held ? parts.held_out : parts.fitted).push_back(draws[at].second);
  }
  std::sort(parts.fitted.begin(), parts.fitted.end());
  std::sort(parts.held_out.begin(), parts.held_out.end());
  return parts;
}

// One fit. The search is in parameters times their spread, so that features of any scale are
// searched alike; the maximum stays where it is.
class Fit {
 public:
  Fit(const ObservedOrders& orders, const Parts& parts, const Ranker& ranker,
      const FitOptions& options)
      : fitted_(orders, parts.fitted, ranker, options.threads),
        held_out_(orders, parts.held_out, ranker, options.threads),
        options_(options),
        stops_early_(!ranker.is_linear() && !parts.held_out.empty()),
        parameters_(ranker.parameter_count()) {
    ranker.get_parameters(parameters_);
    best_ = parameters_;
    scales_.assign(parameters_.size(), 1.0);
    std::vector<double> spread = fitted_.spread(parameters_);
    spread.resize(ranker.linear_count());
    const double widest = spread.empty() ? 0 : *std::max_element(spread.begin(), spread.end());
    constexpr double kNarrowest = 1e-6;  // features that hardly vary
    for (std::size_t at = 0; at < spread.size() && widest > 0; ++at) {
      scales_[at] = std::max(spread[at], kNarrowest * widest);
    }
  }

  // Leaves the best parameters in parameters().
  Minimum run() {
    std::vector<double> point(parameters_.size());
    for (std::size_t at = 0; at < point.size(); ++at) point[at] = parameters_[at] * scales_[at];
    if (!std::isfinite(fitted_.mean(parameters_, {}))) {
      throw Failed{{"a score is not finite at the start; are the features too large?"}};
    }
    const Minimum minimum =
        minimise({.function = [this](auto at, auto gradient) { return loss(at, gradient); },
                  .stepped = [this](auto at) { return keep(at); },
                  .iterations = options_.iterations},
                 point);
    return minimum;
  }
  [[nodiscard]] std::span<const float> parameters() const { return best_; }

 private:
  void set(std::span<const double> point) {
    for (std::size_t at = 0; at < point.size(); ++at) {
      parameters_[at] = static_cast<float>(point[at] / scales_[at]);
    }
  }

  double loss(std::span<const double> point, std::span<double> gradient) {
    if (options_.stop && options_.stop()) {
      throw Failed{{ErrorCode::kStopped, "stopped before the fit was done"}};
    }
    set(point);
    double value = -fitted_.mean(parameters_, gradient);
    for (std::size_t at = 0; at < point.size(); ++at) {
      const double parameter = point[at] / scales_[at];
      value += options_.ridge * parameter * parameter / 2;
      gradient[at] = (options_.ridge * parameter - gradient[at]) / scales_[at];
    }
    return value;
  }

  bool keep(std::span<const double> point) {
    if (options_.stepped) options_.stepped(++iterations_);
    set(point);
    if (!stops_early_) {
      best_ = parameters_;
      return true;
    }
    const double likelihood = held_out_.mean(parameters_, {});
    if (likelihood > best_likelihood_) {
      best_likelihood_ = likelihood;
      best_ = parameters_;
      since_best_ = 0;
      return true;
    }
    return ++since_best_ < kPatience;
  }

  OrderLikelihood fitted_;
  OrderLikelihood held_out_;
  const FitOptions& options_;
  bool stops_early_;
  std::vector<float> parameters_;
  std::vector<float> best_;
  std::vector<double> scales_;
  double best_likelihood_ = -std::numeric_limits<double>::infinity();
  std::uint32_t since_best_ = 0;
  std::uint32_t iterations_ = 0;
};

FitReport fit_parts(const ObservedOrders& orders, const Parts& parts, Ranker& ranker,
                    const FitOptions& options) {
  FitReport report;
  const std::unique_ptr<Ranker> fitted = ranker.clone();
  {
    Fit fit(orders, parts, ranker, options);
    const Minimum minimum = fit.run();
    report.iterations = minimum.iterations;
    report.converged = minimum.converged;
    fitted->set_parameters(fit.parameters());
  }
  if (options.temperature != 1 && !fitted->divide_scores(options.temperature)) {
    throw Failed{
        {fmt::format("temperature {}; this ranker can't divide its scores, so it must be 1",
                     options.temperature)}};
  }
  std::vector<float> parameters(ranker.parameter_count());
  fitted->get_parameters(parameters);
  const bool finite = std::all_of(parameters.begin(), parameters.end(),
                                  [](float value) { return std::isfinite(value); });
  if (!finite || !measure(orders, parts.fitted, *fitted, options.threads, report.fitted) ||
      !measure(orders, parts.held_out, *fitted, options.threads, report.held_out)) {
    throw Failed{{fmt::format("a score is not finite after the division by the temperature {}",
                              options.temperature)}};
  }
  ranker.set_parameters(parameters);
  return report;
}

}  // namespace

std::span<const Option<FitOptions>> fit_options() {
  using Options = FitOptions;
  static const std::array options{
      option<&Options::ridge>("ridge",
                              "keeps parameters small: subtracts ridge * |parameters|^2 / 2 from "
                              "the mean log-likelihood of a list"),
      option<&Options::temperature>("temperature",
                                    "all scores are divided by it after the fit: below 1 sampled "
                                    "lists vary less, above 1 more",
                                    {.most = kMaxTemperature}),
      named_option<parse_held_out, &Options::held_out>(
          "held-out", "share of the lists that is measured on and not fitted, up to 0.9"),
      option<&Options::iterations>("iterations", "at most", {1, kMaxIterations}),
      option<&Options::seed>("seed",
                             "of a network's first parameters and of the choice of the lists that "
                             "are held out",
                             {0, std::numeric_limits<std::uint64_t>::max()}),
      option<&Options::threads>("threads", "0: one per core", {0, 1024, false})};
  return options;
}

Result<FitReport> fit(const ObservedOrders& orders, Ranker& ranker, const FitOptions& options) {
  if (auto valid = check_options(fit_options(), options); !valid) return valid.error();
  if (orders.feature_count() != ranker.feature_count()) {
    return Error{fmt::format("{} features; the ranker reads {}", orders.feature_count(),
                             ranker.feature_count())};
  }
  const Parts parts = divide(orders, options);
  if (parts.fitted.empty()) {
    return Error{fmt::format("{} lists, none with two candidates; at least 1 must have them",
                             orders.size())};
  }
  return attempt([&] { return fit_parts(orders, parts, ranker, options); });
}

}  // namespace plackett
