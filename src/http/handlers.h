// What answers each route. All are called on the connection's thread, with the path matched and
// the token checked; see Exchange for how they answer.
#pragma once

namespace plackett::http {

class Exchange;

// handle_pages.cc
void get_health(Exchange& exchange);
void get_ready(Exchange& exchange);
void get_dashboard(Exchange& exchange);
void get_demo(Exchange& exchange);
void get_web_file(Exchange& exchange);
void get_openapi(Exchange& exchange);
void get_metrics(Exchange& exchange);

// handle_models.cc
void get_models(Exchange& exchange);
void get_model(Exchange& exchange);
void put_model(Exchange& exchange);
void delete_model(Exchange& exchange);

// handle_items.cc
void put_items(Exchange& exchange);
void get_item(Exchange& exchange);
void delete_item(Exchange& exchange);

void post_rank(Exchange& exchange);      // handle_rank.cc
void post_feedback(Exchange& exchange);  // handle_feedback.cc

// handle_learning.cc
void get_snapshots(Exchange& exchange);
void post_snapshot(Exchange& exchange);
void post_rollback(Exchange& exchange);
void post_freeze(Exchange& exchange);
void post_resume(Exchange& exchange);
void get_weights(Exchange& exchange);
void get_export(Exchange& exchange);
void post_import(Exchange& exchange);

// handle_seeing.cc
void get_stats(Exchange& exchange);
void get_impressions(Exchange& exchange);
void get_impression(Exchange& exchange);

}  // namespace plackett::http
