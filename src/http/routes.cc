#include "http/routes.h"

#include "http/handlers.h"

namespace plackett::http {

std::span<const Route> routes() {
  // The ones asked most come first: they are looked through in order.
  static constexpr Route kRoutes[] = {
      {Verb::post, "/models/{m}/rank", Role::kFeedback, post_rank},
      {Verb::post, "/models/{m}/feedback", Role::kFeedback, post_feedback},
      {Verb::get, "/health", Role::kNone, get_health},
      {Verb::get, "/ready", Role::kNone, get_ready},
      {Verb::get, "/metrics", Role::kRead, get_metrics},
      {Verb::get, "/models", Role::kRead, get_models},
      {Verb::get, "/models/{m}", Role::kRead, get_model},
      {Verb::put, "/models/{m}", Role::kAdmin, put_model},
      {Verb::delete_, "/models/{m}", Role::kAdmin, delete_model},
      {Verb::put, "/models/{m}/items", Role::kAdmin, put_items},
      {Verb::get, "/models/{m}/items/{id}", Role::kRead, get_item},
      {Verb::delete_, "/models/{m}/items/{id}", Role::kAdmin, delete_item},
      {Verb::get, "/models/{m}/snapshots", Role::kRead, get_snapshots},
      {Verb::post, "/models/{m}/snapshots", Role::kAdmin, post_snapshot},
      {Verb::post, "/models/{m}/rollback", Role::kAdmin, post_rollback},
      {Verb::post, "/models/{m}/freeze", Role::kAdmin, post_freeze},
      {Verb::post, "/models/{m}/resume", Role::kAdmin, post_resume},
      {Verb::get, "/models/{m}/weights", Role::kRead, get_weights},
      {Verb::get, "/models/{m}/export", Role::kRead, get_export},
      {Verb::post, "/models/{m}/import", Role::kAdmin, post_import},
      {Verb::get, "/models/{m}/stats", Role::kRead, get_stats},
      {Verb::get, "/models/{m}/impressions", Role::kRead, get_impressions},
      {Verb::get, "/models/{m}/impressions/{id}", Role::kRead, get_impression},
      {Verb::get, "/", Role::kNone, get_dashboard},
      {Verb::get, "/demo", Role::kNone, get_demo},
      {Verb::get, "/web/{file}", Role::kNone, get_web_file},
      {Verb::get, "/openapi.json", Role::kNone, get_openapi},
  };
  return kRoutes;
}

}  // namespace plackett::http
