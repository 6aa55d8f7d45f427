// What answers each route. All are called on the connection's thread, with the path matched and
// the token checked. They fill the exchange's response, or throw Failed.
#pragma once

#include "http/awaitable.h"

namespace plackett::http {

struct Exchange;
using AtOnce = void(Exchange& exchange);
using Waiting = Awaitable<void>(Exchange& exchange);

// handle_pages.cc
AtOnce get_health, get_ready, get_dashboard, get_demo, get_web_file, get_openapi, get_metrics;

// handle_models.cc
AtOnce get_models, get_model, get_weights, get_export, get_snapshots, get_item;
Waiting put_model, delete_model, post_import, post_snapshot, post_rollback, post_freeze,
    post_resume, put_items, delete_item;

// handle_impressions.cc
Waiting post_rank, post_feedback;
AtOnce get_stats, get_impressions, get_impression;

}  // namespace plackett::http
