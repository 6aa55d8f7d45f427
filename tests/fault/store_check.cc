#include "store_check.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "serving/logged.h"
#include "serving/model_spec.h"
#include "serving/recover.h"
#include "serving/served.h"
#include "store/sqlite/database.h"

namespace plackett::testing {
namespace {

using serving::FeedbackEvent;
using serving::FeedbackStatus;
using serving::ModelHandle;
using serving::Service;

// Each counts rows that must not exist.
constexpr std::pair<const char*, const char*> kHalves[] = {
    {"events without their impression",
     "SELECT count(*) FROM events WHERE impression NOT IN (SELECT id FROM impressions)"},
    {"responses without their impression",
     "SELECT count(*) FROM responses WHERE impression NOT IN (SELECT id FROM impressions)"},
    {"responses with other clicks than their events",
     "SELECT count(*) FROM responses WHERE length(replace(hex(clicked), '0', '')) <> "
     "(SELECT count(*) FROM events WHERE events.impression = responses.impression AND kind = 0)"},
    {"responses closed otherwise than their events say",
     "SELECT count(*) FROM responses WHERE (closed <> 0) <> "
     "(SELECT count(*) FROM events WHERE events.impression = responses.impression AND kind = 2) "
     // A unit that is being dropped: closed, and not gone yet.
     "AND NOT (closed = 3 AND EXISTS(SELECT 1 FROM impressions WHERE id = impression AND unit IS "
     "NOT NULL))"},
    {"events without a response",
     "SELECT count(*) FROM events WHERE kind <> 3 AND impression NOT IN (SELECT impression FROM "
     "responses)"},
    {"items without their version, or versions without their item",
     "SELECT (SELECT count(*) FROM items) <> (SELECT count(*) FROM items JOIN item_versions AS v "
     "USING(version) WHERE v.model = items.model AND v.id = items.id AND v.until IS NULL) OR "
     "(SELECT count(*) FROM items) <> (SELECT count(*) FROM item_versions WHERE until IS NULL)"},
    {"closed impressions that are not in the log once",
     "SELECT count(*) FROM responses WHERE closed = 1 AND impression >> 40 NOT IN "
     "(SELECT id FROM models WHERE dropped_log > 0) AND "
     "(SELECT count(*) FROM log WHERE kind = 1 AND argument = impression) <> 1"},
    {"entries of the log about open impressions",
     "SELECT count(*) FROM log WHERE kind = 1 AND argument NOT IN "
     "(SELECT impression FROM responses WHERE closed <> 0)"},
    {"given ids without their impression",
     "SELECT (SELECT count(*) FROM given_ids) <> "
     "(SELECT count(*) FROM given_ids JOIN impressions ON impressions.id = given_ids.impression "
     "AND impressions.given = given_ids.given)"},
    {"impressions without their given id",
     "SELECT (SELECT count(*) FROM given_ids) <> "
     "(SELECT count(*) FROM impressions WHERE given IS NOT NULL)"},
    {"impressions that the series counts otherwise",
     "SELECT (SELECT count(*) FROM impressions) <> "
     "(SELECT coalesce(sum(impressions), 0) FROM series) AND "
     "(SELECT max(dropped_log) FROM models) = 0"},
    {"more impressions than the series counts",
     "SELECT (SELECT count(*) FROM impressions) > "
     "(SELECT coalesce(sum(impressions), 0) FROM series)"},
    {"clicks that the series counts otherwise",
     "SELECT (SELECT count(*) FROM events WHERE kind = 0) <> "
     "(SELECT coalesce(sum(clicks), 0) FROM series)"},
    {"snapshots of a log that is not there",
     "SELECT count(*) FROM snapshots WHERE log > (SELECT max(coalesce((SELECT max(seq) FROM log), "
     "0), coalesce((SELECT max(dropped_log) FROM models), 0)))"},
};

class Check {
 public:
  Check(const CheckOptions& options, const Story& story) : options_(options), story_(story) {}

  Findings run() {
    auto opened = open_service({.path = options_.db, .vfs = options_.vfs});
    if (!opened) {
      found_.said.push_back("it does not open: " + opened.error().message);
      return found_;
    }
    service_ = std::move(opened).value();
    for (const std::string& name : story_.models) {
      if (service_->find(name) == nullptr) say(found_.lost_models, "lost " + name);
    }
    check_wholeness();
    check_replays();
    for (const auto& [name, impression] : story_.answered) {
      if (options_.ranks_survive && !has(name, impression)) {
        say(found_.lost_ranks, name + ": lost " + impression);
      }
    }
    if (options_.refused_are_none) check_refused();
    check_snapshots();
    check_feedback();
    check_log();
    return found_;
  }

 private:
  // That forgotten units stay so, and that every impression can be read with all its candidates.
  void check_log() {
    auto store = store::read_sqlite(options_.db, options_.vfs);
    if (!store) return say(found_.half, store.error().message);
    std::map<std::string, std::int64_t> ids;
    const auto models = serving::logged_models(**store, "");
    if (!models) return say(found_.half, models.error().message);
    for (const auto& model : *models) {
      ids[model.row.name] = model.row.id;
      const auto damaged = serving::each_logged(**store, model, {.rows = serving::Rows::kRead},
                                                [](const auto&) { return Result<void>(); });
      if (!damaged || *damaged > 0) say(found_.half, model.row.name + ": damaged impressions");
    }
    for (const auto& [name, unit] : story_.forgotten) {
      if (!(*store)->of_unit(ids[name], unit, 0, 1)->empty()) {
        say(found_.remembered, name + ": remembers " + unit);
      }
    }
  }

  void say(std::uint64_t& count, std::string line) {
    ++count;
    found_.said.push_back(std::move(line));
  }

  bool has(const std::string& name, const std::string& impression) {
    const ModelHandle model = service_->find(name);
    return model != nullptr && service_->impression(*model, impression).ok();
  }

  void check_wholeness() {
    auto database =
        store::Database::open(options_.db, store::Database::Access::kRead, options_.vfs);
    if (!database) {
      say(found_.half, database.error().message);
      return;
    }
    const auto integrity =
        database->first("PRAGMA integrity_check",
                        [](const store::Statement& row) { return std::string(row.text(0)); });
    if (!integrity || *integrity != "ok") {
      say(found_.half, "SQLite finds the file damaged");
      return;
    }
    for (const auto& [what, sql] : kHalves) {
      const auto count = database->integer(sql);
      if (!count) {
        say(found_.half, fmt::format("can't count {}", what));
      } else if (*count != 0) {
        say(found_.half, fmt::format("{}: {}", what, *count));
      }
    }
    // Requests are stored completely or not at all.
    std::map<std::string, std::uint64_t> counts;
    const auto read = database->each("SELECT event_id FROM events WHERE event_id IS NOT NULL",
                                     [&](const store::Statement& row) {
                                       const std::string id(row.text(0));
                                       event_ids_.insert(id);
                                       ++counts[id.substr(0, id.rfind('/'))];
                                     });
    if (!read) say(found_.half, read.error().message);
    for (const auto& [request, count] : counts) {
      const std::string size = request.substr(request.find('/') + 1);
      if (std::to_string(count) != size) {
        say(found_.half, fmt::format("{} of {} events of {}", count, size, request));
      }
    }
  }

  void check_replays() {
    const auto reader = store::read_sqlite(options_.db, options_.vfs);
    if (!reader) return;  // reported above
    const auto rows = (*reader)->models();
    if (!rows) return;
    for (const serving::ModelRow& row : *rows) {
      serving::ReplayReport report;
      const auto trainer = replay(*serving::parse_spec(row.spec), row, **reader, report);
      if (!trainer) {
        say(found_.different, trainer.error().message);
        continue;
      }
      if (serialise_model(trainer->saved()) != service_->export_file(*service_->find(row.name))) {
        say(found_.different, row.name + " is not its log");
      }
      if (report.different > 0) {
        say(found_.different, fmt::format("{}: {} of {} snapshots are not their log", row.name,
                                          report.different, report.compared));
      }
    }
  }

  void check_refused() {
    for (const auto& [name, impression] : story_.refused_ranks) {
      if (has(name, impression)) say(found_.refused_but_there, name + ": " + impression);
    }
    for (const Told& told : story_.refused) {
      for (const FeedbackEvent& event : told.events) {
        if (event_ids_.contains(event.event_id)) say(found_.refused_but_there, event.event_id);
      }
    }
  }

  void check_snapshots() {
    for (const auto& [name, id] : story_.snapshots) {
      const ModelHandle model = service_->find(name);
      bool there = false;
      if (model != nullptr) {
        const auto listed = service_->snapshots(*model);
        for (const auto& snapshot : *listed) there = there || snapshot.id == id;
      }
      if (!there) say(found_.lost_snapshots, fmt::format("{}: lost snapshot {}", name, id));
    }
  }

  // Sent again, stored events are duplicates. This comes last, since lost events would be accepted.
  void check_feedback() {
    for (const Told& told : story_.acknowledged) {
      const ModelHandle model = service_->find(told.model);
      bool there = model != nullptr;
      for (const FeedbackEvent& event : told.events) {
        there = there && event_ids_.contains(event.event_id);
      }
      if (!there) say(found_.lost_feedback, "lost " + told.events.front().event_id);
    }
    std::map<std::string, std::vector<FeedbackEvent>> again;
    for (const Told& told : story_.acknowledged) {
      auto& events = again[told.model];
      events.insert(events.end(), told.events.begin(), told.events.end());
    }
    for (auto& [name, events] : again) {
      const ModelHandle model = service_->find(name);
      if (model == nullptr || events.empty()) continue;
      const auto statuses = serving::wait_for<std::vector<FeedbackStatus>>(
          [&](auto done) { service_->feedback(model, events, done); });
      for (std::size_t at = 0; statuses && at < events.size(); ++at) {
        if ((*statuses)[at] != FeedbackStatus::kDuplicate) {
          say(found_.lost_feedback,
              fmt::format("{} is {}", events[at].event_id, name_of((*statuses)[at])));
        }
      }
      if (!statuses) say(found_.lost_feedback, statuses.error().message);
    }
  }

  const CheckOptions& options_;
  const Story& story_;
  Findings found_;
  std::unique_ptr<Service> service_;
  std::set<std::string> event_ids_;
};

}  // namespace

std::string Findings::text() const {
  std::string all;
  for (const std::string& line : said) {
    all += line + "\n";
    if (all.size() > 2000) return all + fmt::format("... {} lines\n", said.size());
  }
  return all;
}

Findings check_store(const CheckOptions& options, const Story& story) {
  return Check(options, story).run();
}

}  // namespace plackett::testing
