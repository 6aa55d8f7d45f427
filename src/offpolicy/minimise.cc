#include "offpolicy/minimise.h"

#include <lbfgs.h>

#include <cmath>
#include <exception>
#include <limits>

namespace plackett {
namespace {

constexpr int kSteps = 10;          // that the curvature is taken from
constexpr double kGradient = 1e-6;  // of a minimum, relative to the point's length
constexpr int kPast = 10;           // over so many iterations ...
constexpr double kDecrease = 1e-6;  // ... the value falls at least by this share
constexpr int kMostSearch = 40;     // values that the search for a step's length may take

// What libLBFGS calls. An exception must not pass through its C code: it is kept until that ends.
struct Search {
  const Minimiser& minimiser;
  std::exception_ptr thrown = nullptr;
  std::uint32_t iterations = 0;
  bool ended = false;  // stepped() said so

  static double evaluate(void* self, const double* point, double* gradient, int size,
                         double /*step*/) {
    auto& search = *static_cast<Search*>(self);
    const auto count = static_cast<std::size_t>(size);
    // Infinite values make a backtracking search take a shorter step, until it gives up.
    double value = std::numeric_limits<double>::infinity();
    if (search.thrown != nullptr) return value;
    try {
      value = search.minimiser.function({point, count}, {gradient, count});
    } catch (...) {
      search.thrown = std::current_exception();
    }
    return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
  }

  static int progress(void* self, const double* point, const double* /*gradient*/, double /*value*/,
                      double /*length*/, double /*slope*/, double /*step*/, int size,
                      int /*iteration*/, int /*evaluations*/) {
    auto& search = *static_cast<Search*>(self);
    ++search.iterations;
    if (search.thrown != nullptr) return 1;
    try {
      search.ended = !search.minimiser.stepped({point, static_cast<std::size_t>(size)});
    } catch (...) {
      search.thrown = std::current_exception();
    }
    return search.ended || search.thrown != nullptr ? 1 : 0;
  }
};

}  // namespace

Minimum minimise(const Minimiser& minimiser, std::vector<double>& point) {
  lbfgs_parameter_t rules;
  lbfgs_parameter_init(&rules);
  rules.m = kSteps;
  rules.epsilon = kGradient;
  rules.past = kPast;
  rules.delta = kDecrease;
  rules.max_linesearch = kMostSearch;
  rules.linesearch = LBFGS_LINESEARCH_BACKTRACKING_WOLFE;

  Search search{minimiser};
  while (search.iterations < minimiser.iterations) {
    const std::uint32_t before = search.iterations;
    rules.max_iterations = static_cast<int>(minimiser.iterations - before);
    const int code = lbfgs(static_cast<int>(point.size()), point.data(), nullptr, Search::evaluate,
                           Search::progress, &search, &rules);
    if (search.thrown != nullptr) std::rethrow_exception(search.thrown);
    if (code == LBFGSERR_OUTOFMEMORY) throw std::bad_alloc();
    if (search.ended || code >= 0) return {search.iterations, true};
    // No step's length was good enough: starts again from the steepest direction, unless that was
    // it. Rounding leaves nothing to gain then.
    if (search.iterations == before) return {search.iterations, true};
  }
  return {search.iterations, false};
}

}  // namespace plackett
