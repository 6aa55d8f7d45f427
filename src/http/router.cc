#include "http/router.h"

#include <algorithm>
#include <vector>

namespace plackett::http {
namespace {

// A handler that waits for nothing.
template <void (*kHandle)(Exchange&)>
Awaitable<void> at_once(Exchange& exchange) {
  kHandle(exchange);
  co_return;
}

// Searched in order: the most frequent come first.
constexpr Route kRoutes[] = {
    {Verb::post, "/models/{m}/rank", Role::kFeedback, post_rank},
    {Verb::post, "/models/{m}/feedback", Role::kFeedback, post_feedback},
    {Verb::get, "/health", Role::kNone, at_once<get_health>},
    {Verb::get, "/ready", Role::kNone, at_once<get_ready>},
    {Verb::get, "/metrics", Role::kRead, at_once<get_metrics>},
    {Verb::get, "/nodes", Role::kRead, at_once<get_nodes>},
    {Verb::get, "/models", Role::kRead, at_once<get_models>},
    {Verb::get, "/models/{m}", Role::kRead, at_once<get_model>},
    {Verb::put, "/models/{m}", Role::kAdmin, put_model},
    {Verb::delete_, "/models/{m}", Role::kAdmin, delete_model},
    {Verb::put, "/models/{m}/items", Role::kAdmin, put_items},
    {Verb::get, "/models/{m}/items/{id}", Role::kRead, at_once<get_item>},
    {Verb::delete_, "/models/{m}/items/{id}", Role::kAdmin, delete_item},
    {Verb::get, "/models/{m}/snapshots", Role::kRead, get_snapshots},
    {Verb::post, "/models/{m}/snapshots", Role::kAdmin, post_snapshot},
    {Verb::post, "/models/{m}/rollback", Role::kAdmin, post_rollback},
    {Verb::post, "/models/{m}/freeze", Role::kAdmin, post_freeze},
    {Verb::post, "/models/{m}/resume", Role::kAdmin, post_resume},
    {Verb::get, "/models/{m}/weights", Role::kRead, at_once<get_weights>},
    {Verb::put, "/models/{m}/weights", Role::kAdmin, put_weights},
    {Verb::delete_, "/models/{m}/units/{unit}", Role::kAdmin, delete_unit},
    {Verb::get, "/models/{m}/export", Role::kRead, at_once<get_export>},
    {Verb::post, "/models/{m}/import", Role::kAdmin, post_import},
    {Verb::get, "/models/{m}/stats", Role::kRead, get_stats},
    {Verb::get, "/models/{m}/impressions", Role::kRead, get_impressions},
    {Verb::get, "/models/{m}/impressions/{id}", Role::kRead, get_impression},
    {Verb::get, "/models/{m}/experiments", Role::kRead, get_experiments},
    {Verb::get, "/models/{m}/experiments/{e}", Role::kRead, get_experiment},
    {Verb::put, "/models/{m}/experiments/{e}", Role::kAdmin, put_experiment},
    {Verb::delete_, "/models/{m}/experiments/{e}", Role::kAdmin, delete_experiment},
    {Verb::post, "/models/{m}/experiments/{e}/stop", Role::kAdmin, post_stop},
    {Verb::post, "/models/{m}/experiments/{e}/promote", Role::kAdmin, post_promote},
    {Verb::post, "/models/{m}/experiments/{e}/undo", Role::kAdmin, post_undo},
    {Verb::get, "/models/{m}/what-if", Role::kRead, get_what_if},
    {Verb::post, "/vacuum", Role::kAdmin, post_vacuum},
    {Verb::get, "/", Role::kNone, at_once<get_dashboard>},
    {Verb::get, "/demo", Role::kNone, at_once<get_demo>},
    {Verb::get, "/web/{file}", Role::kNone, at_once<get_web_file>},
    {Verb::get, "/openapi.json", Role::kNone, at_once<get_openapi>},
};

// The segments of each route's pattern; empty: any one.
const std::vector<std::vector<std::string_view>> kPatterns = [] {
  std::vector<std::vector<std::string_view>> patterns;
  for (const Route& route : kRoutes) {
    auto& segments = patterns.emplace_back();
    for (std::string_view left = route.pattern; left.size() > 1;) {
      left.remove_prefix(1);
      const std::string_view segment = left.substr(0, left.find('/'));
      left.remove_prefix(segment.size());
      segments.push_back(segment.starts_with('{') ? std::string_view() : segment);
    }
  }
  return patterns;
}();

bool matches(std::span<const std::string_view> pattern, std::span<const std::string> segments) {
  return std::equal(pattern.begin(), pattern.end(), segments.begin(), segments.end(),
                    [](std::string_view wanted, const std::string& segment) {
                      return wanted.empty() ? !segment.empty() : wanted == segment;
                    });
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Match find_route(Verb verb, std::span<const std::string> segments) {
  const Verb wanted = verb == Verb::head ? Verb::get : verb;
  Match match{.index = std::size(kRoutes)};
  for (std::size_t at = 0; at < std::size(kRoutes); ++at) {
    if (!matches(kPatterns[at], segments)) continue;
    if (kRoutes[at].verb == wanted) return {&kRoutes[at], at, {}};
    if (!match.allow.empty()) match.allow += ", ";
    const auto name = boost::beast::http::to_string(kRoutes[at].verb);
    match.allow.append(name.data(), name.size());
    if (kRoutes[at].verb == Verb::get) match.allow += ", HEAD";
  }
  if (!match.allow.empty()) match.allow += ", OPTIONS";
  return match;
}

}  // namespace plackett::http
