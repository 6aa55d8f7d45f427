#include "http/router.h"

#include <algorithm>

namespace plackett::http {
namespace {

std::vector<std::string_view> split(std::string_view pattern) {
  std::vector<std::string_view> segments;
  while (pattern.size() > 1) {
    pattern.remove_prefix(1);
    const std::string_view segment = pattern.substr(0, pattern.find('/'));
    pattern.remove_prefix(segment.size());
    segments.push_back(segment.starts_with('{') ? std::string_view() : segment);
  }
  return segments;
}

bool matches(std::span<const std::string_view> pattern, std::span<const std::string> segments) {
  return std::equal(pattern.begin(), pattern.end(), segments.begin(), segments.end(),
                    [](std::string_view wanted, const std::string& segment) {
                      return wanted.empty() ? !segment.empty() : wanted == segment;
                    });
}

}  // namespace

Router::Router(std::span<const Route> routes) : routes_(routes) {
  for (const Route& route : routes) patterns_.push_back(split(route.pattern));
}

Match Router::find(Verb verb, std::span<const std::string> segments) const {
  const Verb wanted = verb == Verb::head ? Verb::get : verb;
  Match match;
  for (std::size_t at = 0; at < routes_.size(); ++at) {
    if (!matches(patterns_[at], segments)) continue;
    if (routes_[at].verb == wanted) return {&routes_[at], at, {}};
    if (!match.allow.empty()) match.allow += ", ";
    const auto name = boost::beast::http::to_string(routes_[at].verb);
    match.allow.append(name.data(), name.size());
    if (routes_[at].verb == Verb::get) match.allow += ", HEAD";
  }
  if (!match.allow.empty()) match.allow += ", OPTIONS";
  return match;
}

}  // namespace plackett::http
