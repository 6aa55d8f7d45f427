// What answers each route. All are called on the connection's thread, with the path matched and
// the token checked. They fill the exchange's response, or throw Refused.
#pragma once

#include "http/awaitable.h"

namespace plackett::http {

struct Exchange;

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
Awaitable<void> put_model(Exchange& exchange);
Awaitable<void> delete_model(Exchange& exchange);
void get_weights(Exchange& exchange);
void get_export(Exchange& exchange);
Awaitable<void> post_import(Exchange& exchange);
void get_snapshots(Exchange& exchange);
Awaitable<void> post_snapshot(Exchange& exchange);
Awaitable<void> post_rollback(Exchange& exchange);
Awaitable<void> post_freeze(Exchange& exchange);
Awaitable<void> post_resume(Exchange& exchange);
Awaitable<void> put_items(Exchange& exchange);
void get_item(Exchange& exchange);
Awaitable<void> delete_item(Exchange& exchange);

// handle_impressions.cc
Awaitable<void> post_rank(Exchange& exchange);
Awaitable<void> post_feedback(Exchange& exchange);
void get_stats(Exchange& exchange);
void get_impressions(Exchange& exchange);
void get_impression(Exchange& exchange);

}  // namespace plackett::http
