// The learners by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "learner/learner.h"

namespace plackett {

struct MethodOptions {
  std::optional<double> learning_rate;  // the method's own where absent
  double learning_rate_decay = 1.0;     // factor after each update
  std::uint32_t shown = 10;             // k
};

std::span<const std::string_view> method_names();

// A learner around `ranker`. Fails on an unknown name, and on options that make no sense.
Result<std::unique_ptr<Learner>> make_learner(std::string_view method,
                                              std::unique_ptr<Ranker> ranker,
                                              const MethodOptions& options);

}  // namespace plackett
