#include "learner/method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <utility>

#include "learner/pdgd.h"

namespace plackett {
namespace {

using Make = std::unique_ptr<Learner> (*)(std::unique_ptr<Ranker>, const MethodOptions&);

std::unique_ptr<Learner> make_pdgd(std::unique_ptr<Ranker> ranker, const MethodOptions& options) {
  PdgdOptions pdgd;
  pdgd.learning_rate = options.learning_rate.value_or(pdgd.learning_rate);
  pdgd.learning_rate_decay = options.learning_rate_decay;
  pdgd.shown = options.shown;
  return std::make_unique<Pdgd>(std::move(ranker), pdgd);
}

// A new method: its file in this folder, and a line in both of these.
constexpr std::array<std::string_view, 1> kNames{"pdgd"};
constexpr std::array<Make, 1> kMakers{make_pdgd};

}  // namespace

std::span<const std::string_view> method_names() { return kNames; }

Result<std::unique_ptr<Learner>> make_learner(std::string_view method,
                                              std::unique_ptr<Ranker> ranker,
                                              const MethodOptions& options) {
  if (options.shown == 0) return Error{"0 documents shown; show at least 1"};
  if (options.learning_rate &&
      !(std::isfinite(static_cast<float>(*options.learning_rate)) && *options.learning_rate > 0)) {
    return Error{
        fmt::format("learning rate {}; it must be finite and above 0", *options.learning_rate)};
  }
  for (std::size_t at = 0; at < kNames.size(); ++at) {
    if (kNames[at] == method) return kMakers[at](std::move(ranker), options);
  }
  return Error{fmt::format("unknown method \"{}\"; known: {}", method, fmt::join(kNames, ", "))};
}

}  // namespace plackett
