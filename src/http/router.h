// Which handler answers what.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"
#include "http/tokens.h"

namespace plackett::http {

class Exchange;

struct Route {
  Verb verb = Verb::get;
  std::string_view pattern;  // "/models/{m}/rank": braces stand for any one segment
  Role role = Role::kNone;
  void (*handle)(Exchange& exchange) = nullptr;
};

struct Match {
  const Route* route = nullptr;  // null: none has this path, or this method
  std::size_t index = 0;         // of the route
  std::string allow;             // the methods of the path where the method is the trouble
};

// Never changes once made. HEAD finds what GET finds.
class Router {
 public:
  // `routes` must outlive it.
  explicit Router(std::span<const Route> routes);

  [[nodiscard]] Match find(Verb verb, std::span<const std::string> segments) const;
  [[nodiscard]] std::span<const Route> routes() const { return routes_; }

 private:
  // The segments of a pattern; empty: any one.
  std::vector<std::vector<std::string_view>> patterns_;
  std::span<const Route> routes_;
};

}  // namespace plackett::http
