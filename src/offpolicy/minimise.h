// The minimum of a smooth function, by L-BFGS (libLBFGS; docs/decisions/0013-fit.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace plackett {

struct Minimiser {
  // The value at a point, and its gradient. Not finite where the function has no value: the search
  // then takes a shorter step. Throws to end the search; minimise() rethrows it.
  std::function<double(std::span<const double> point, std::span<double> gradient)> function;
  // Called after each step, which never raises the value; false ends the search.
  std::function<bool(std::span<const double> point)> stepped;
  std::uint32_t iterations = 0;  // at most
};

struct Minimum {
  std::uint32_t iterations = 0;
  bool converged = false;  // or stepped() ended it; otherwise the iterations were used up
};

// Moves `point` to a local minimum. Deterministic. Requires: the value at `point` is finite.
Minimum minimise(const Minimiser& minimiser, std::vector<double>& point);

}  // namespace plackett
