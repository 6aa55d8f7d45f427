#include <array>
#include <charconv>
#include <chrono>
#include <string>

#include "http/exchange.h"
#include "http/model_text.h"
#include "http/requests.h"
#include "http/router.h"

namespace plackett::http {
namespace {

using serving::FeedbackStatus;
using serving::Service;

constexpr QueryRange kPoints = {.fallback = 200, .least = 1, .most = 5000};
// Each is unpacked while other reads wait.
constexpr QueryRange kLimit = {.fallback = 20, .least = 1, .most = 100};

void write_ranking(JsonWriter json, const serving::Ranked& ranked) {
  const auto write_item = [&, rank = 0](const serving::RankedItem& item) mutable {
    json.object([&] {
      json.fields("id", item.id, "score", item.score, "rank", ++rank);
      if (item.pinned) json.fields("pinned", true);
    });
  };
  json.object([&] {
    json.fields(
        "impression", ranked.impression, "model_version", ranked.model_version,  //
        "items", [&] { json.array(ranked.items, write_item); },                  //
        "log_probability", ranked.log_probability, "entropy", ranked.entropy);
    if (!ranked.skipped.empty()) json.fields("skipped", ranked.skipped);
    if (!ranked.experiment.empty()) {
      json.fields("experiment", ranked.experiment);
      if (!ranked.arm.empty()) json.fields("arm", ranked.arm);
    }
  });
}

void write_feedback(JsonWriter json, const serving::FeedbackAnswer& answer) {
  std::array<std::uint64_t, serving::kFeedbackStatuses> counts{};
  const auto write_status = [&](FeedbackStatus status) {
    ++counts[static_cast<std::size_t>(status)];
    json.object("status", serving::name_of(status));
  };
  json.object([&] {
    json.fields("results", [&] { json.array(answer.statuses, write_status); });
    for (std::size_t at = 0; at < counts.size(); ++at) {
      json.fields(serving::name_of(static_cast<FeedbackStatus>(at)), counts[at]);
    }
    if (answer.version) json.fields("model_version", *answer.version);
  });
}

// "start", or what an answer gave.
std::uint64_t read_cursor(const std::string& text) {
  if (text == "start") return 0;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end && number < serving::ImpressionKey::kNumbers) {
    return number;
  }
  throw Failed{
      {ErrorCode::kInvalid, "expected \"start\" or the cursor of an earlier answer", "cursor"}};
}

}  // namespace

Awaitable<void> post_rank(Exchange& exchange) {
  const auto model = exchange.model();
  Service& service = exchange.site.service;
  // Other requests of the thread use the scratch while this one waits, so it is read again then.
  Scratch& scratch = exchange.scratch;
  const auto read = [&] {
    take(scratch.rank_reader.read(scratch.json, exchange.body(), serving::spec_of(*model),
                                  serving::names_of(*model), exchange.site.options.limits.items,
                                  scratch.rank_request));
  };
  read();
  if (service.is_shared() && !service.knows_items(*model, scratch.rank_request)) {
    // Another node may have stored them a moment ago.
    const bool may_skip = scratch.rank_request.skip_missing;
    try {
      co_await exchange.ask<void>(&Service::refresh_items, model);
    } catch (const Failed&) {
      if (!may_skip) throw;  // those that are not here yet are skipped
    }
    read();
  }
  // Last: numbers that are not used soon are given up.
  constexpr std::chrono::seconds kMost{2};
  const auto until = std::chrono::steady_clock::now() + kMost;
  const std::uint64_t least = scratch.rank_request.min_version;
  bool is_prepared = service.is_prepared(*model, least);
  serving::Ranked ranked;
  do {
    if (!is_prepared) {
      co_await exchange.ask<void>(&Service::prepare, model, least);
      read();
    }
    ranked = co_await exchange.ask<serving::Ranked>(&Service::rank, model, scratch.rank_request,
                                                    *scratch.ranking);
    is_prepared = false;
  } while (ranked.is_unnumbered && std::chrono::steady_clock::now() < until);
  if (ranked.is_unnumbered) {
    throw Failed{{ErrorCode::kBusy, "too many requests wait for numbers; try again later"}};
  }
  write_ranking(exchange.json(), ranked);
}

Awaitable<void> post_feedback(Exchange& exchange) {
  const auto model = exchange.model();
  auto events = take(read_feedback_request(exchange.scratch.json, exchange.body()));
  const auto answer =
      co_await exchange.ask<serving::FeedbackAnswer>(&Service::feedback, model, std::move(events));
  write_feedback(exchange.json(), answer);
}

Awaitable<void> get_stats(Exchange& exchange) {
  const auto model = exchange.model();
  take(check_query(exchange.target, {"points"}));
  const auto points = take(query_number(exchange.target, "points", kPoints));
  const auto read = [&service = exchange.site.service, model, points] {
    return service.stats(*model, points);
  };
  exchange.json().value(co_await exchange.read<serving::Stats>(read));
}

Awaitable<void> get_impressions(Exchange& exchange) {
  const auto model = exchange.model();
  take(check_query(exchange.target, {"limit", "clicked", "cursor"}));
  const auto limit = take(query_number(exchange.target, "limit", kLimit));
  const auto clicked = take(query_flag(exchange.target, "clicked"));
  const Service& service = exchange.site.service;
  if (!has_query(exchange.target, "cursor")) {
    const auto read = [&service, model, limit, clicked] {
      return service.impressions(*model, limit, clicked);
    };
    const auto newest = co_await exchange.read<std::vector<serving::SeenImpression>>(read);
    exchange.json().object("impressions", newest);
    co_return;
  }
  if (clicked) throw Failed{{ErrorCode::kInvalid, "not with a cursor", "clicked"}};
  const std::uint64_t from = read_cursor(query_text(exchange.target, "cursor"));
  const auto read = [&service, model, from, limit] {
    return service.impressions_from(*model, from, limit);
  };
  const auto page = co_await exchange.read<serving::ImpressionPage>(read);
  exchange.json().object("impressions", page.impressions, "cursor", std::to_string(page.next));
}

Awaitable<void> get_impression(Exchange& exchange) {
  const auto read = [&service = exchange.site.service, model = exchange.model(),
                     id = exchange.segment(3)] { return service.impression(*model, id); };
  exchange.json().value(co_await exchange.read<serving::SeenImpression>(read));
}

}  // namespace plackett::http
