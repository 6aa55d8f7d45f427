#include "store_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "serving/experiment.h"
#include "serving/experiment_spec.h"
#include "serving/impression.h"
#include "serving/logged.h"
#include "serving/model.h"
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
    {"more impressions than the series counts",
     "SELECT (SELECT count(*) FROM impressions) > "
     "(SELECT coalesce(sum(impressions), 0) FROM series)"},
    {"clicks that the series counts otherwise",
     "SELECT (SELECT count(*) FROM events WHERE kind = 0) <> "
     "(SELECT coalesce(sum(clicks), 0) FROM series)"},
    {"snapshots of a log that is not there",
     "SELECT count(*) FROM snapshots WHERE log > (SELECT max(coalesce((SELECT max(seq) FROM log), "
     "0), coalesce((SELECT max(dropped_log) FROM models), 0)))"},
    {"models of which two experiments run",
     "SELECT count(*) FROM (SELECT model FROM experiments WHERE ended_at = 0 GROUP BY model HAVING "
     "count(*) > 1)"},
    {"experiments without their model",
     "SELECT count(*) FROM experiments WHERE model NOT IN (SELECT id FROM models)"},
    // Totals of units go later.
    {"sums of no experiment",
     "SELECT (SELECT count(*) FROM experiment_arms WHERE experiment NOT IN (SELECT id FROM "
     "experiments)) + (SELECT count(*) FROM experiment_points WHERE experiment NOT IN (SELECT id "
     "FROM experiments))"},
    {"lists of an arm without their experiment's number",
     "SELECT count(*) FROM impressions WHERE experiment IS NULL AND (arm IS NOT NULL OR teams IS "
     "NOT NULL) OR experiment IS NOT NULL AND (arm IS NULL) = (teams IS NULL)"},
};

// The same, if no impression was dropped.
constexpr std::pair<const char*, const char*> kHalvesWithoutDrops[] = {
    {"impressions that the series counts otherwise",
     "SELECT (SELECT count(*) FROM impressions) <> "
     "(SELECT coalesce(sum(impressions), 0) FROM series)"},
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
    check_logging();
    check_experiments();
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
    const auto experiments = *(*store)->experiments();
    for (const auto& [name, unit] : story_.forgotten) {
      // Also by the models of its experiments' arms.
      for (const auto& [maker, id] : ids) {
        if ((*store)->of_unit(id, unit, 0, 1)->empty()) continue;
        say(found_.remembered, name + ": " + maker + " remembers " + unit);
      }
      for (const auto& row : experiments) {
        if (row.model != ids[name]) continue;
        const auto key = static_cast<std::int64_t>(serving::unit_key(row.id, unit));
        if (*(*store)->unit_totals(row.id, key) == UnitTotals{}) continue;
        say(found_.remembered, name + ": experiment " + row.name + " remembers " + unit);
      }
    }
  }

  void say(std::uint64_t& count, std::string line) {
    ++count;
    found_.said.push_back(std::move(line));
  }

  // The list as its maker knows it: the model that was asked knows those of others only as long as
  // the experiment is there. The model is null if the list is not there.
  std::pair<ModelHandle, std::string> resolve(const std::string& name,
                                              const std::string& impression) {
    const auto knows = [this](const ModelHandle& model, const std::string& id) {
      return model != nullptr && service_->impression(*model, id).ok();
    };
    const std::size_t at = impression.find('@');
    if (at != std::string::npos) {
      const ModelHandle maker = service_->find(impression.substr(at + 1));
      const std::string id = impression.substr(0, at);
      return {knows(maker, id) ? maker : nullptr, id};
    }
    if (const ModelHandle model = service_->find(name); knows(model, impression)) {
      return {model, impression};
    }
    if (serving::impression_number(impression)) return {nullptr, impression};
    for (const auto& info : service_->models()) {
      const ModelHandle model = service_->find(info.spec.name);
      if (knows(model, impression)) return {model, impression};
    }
    return {nullptr, impression};
  }

  bool has(const std::string& name, const std::string& impression) {
    return resolve(name, impression).first != nullptr;
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
    const auto expect_none = [&](const auto& halves) {
      for (const auto& [what, sql] : halves) {
        const auto count = database->integer(sql);
        if (!count) {
          say(found_.half, fmt::format("can't count {}", what));
        } else if (*count != 0) {
          say(found_.half, fmt::format("{}: {}", what, *count));
        }
      }
    };
    expect_none(kHalves);
    if (!options_.drops) expect_none(kHalvesWithoutDrops);
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
      if (trainer->version()->serves != service_->info(*service_->find(row.name)).serves) {
        say(found_.different, row.name + " does not serve what its log says");
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
    for (const auto& [name, loads] : story_.loads) {
      std::uint64_t there = 0;
      if (const ModelHandle model = service_->find(name)) {
        const auto listed = service_->snapshots(*model);
        for (const auto& row : *listed) {
          // The other imported ones have notes: they keep what was there before a load.
          if (row.kind == serving::SnapshotKind::kImported && row.note.empty()) ++there;
        }
      }
      if (there < loads)
        say(found_.lost_snapshots, fmt::format("{}: lost {} loads", name, loads - there));
    }
  }

  // That no answered change of candidates and events was undone.
  void check_logging() {
    for (const auto& info : service_->models()) {
      const serving::LogSettings logging = service_->find(info.spec.name)->logging();
      for (const auto& event : logging.events) {
        if (!story_.replaced_kinds.contains({info.spec.name, event.name})) continue;
        say(found_.lost_models,
            info.spec.name + " knows events again that were replaced: " + event.name);
      }
    }
  }

  // What was answered about experiments is so, and their sums are those of their lists.
  void check_experiments() {
    const ToldExperiments& told = story_.experiments;
    std::map<ExperimentName, serving::ExperimentInfo> there;
    for (const auto& model : service_->models()) {
      auto all = service_->experiments(*service_->find(model.spec.name));
      if (!all) return say(found_.experiments, all.error().message);
      for (auto& one : *all) there.emplace(ExperimentName(model.spec.name, one.spec.name), one);
      const bool runs = !model.experiment.empty();
      if (runs != std::any_of(all->begin(), all->end(),
                              [](const auto& one) { return one.ended_at == 0; })) {
        say(found_.experiments, model.spec.name + ": the running one is not the stored one");
      }
    }
    const auto wrong = [&](const ExperimentName& which, const std::string& what) {
      say(found_.experiments, which.first + ": experiment " + which.second + " " + what);
    };
    for (const ExperimentName& which : told.started) {
      if (!told.deleting.contains(which) && !there.contains(which)) wrong(which, "is lost");
    }
    for (const ExperimentName& which : told.deleted) {
      if (there.contains(which)) wrong(which, "was deleted");
    }
    for (const auto& [which, info] : there) {
      if (told.ended.contains(which) && info.ended_at == 0) wrong(which, "had ended");
      std::uint64_t undone = 0;
      for (std::size_t at = 0; (at = info.ended_because.find(" undone", at)) != std::string::npos;
           ++at) {
        ++undone;
      }
      const auto times = [&](const auto& counts) {
        const auto found = counts.find(which);
        return found == counts.end() ? 0 : found->second;
      };
      if (undone < times(told.undone)) wrong(which, "has lost that a promotion was undone");
      if (undone + (info.promoted.empty() ? 0 : 1) < times(told.promoted)) {
        wrong(which, "has lost a promotion");
      }
    }
    if (!options_.drops) check_sums();  // else lists are gone that were counted
  }

  // Of one arm, or of both if interleaved.
  struct PlainSums {
    std::uint64_t impressions = 0;
    std::uint64_t clicks[2] = {0, 0};  // by team; the second only if interleaved
    std::map<std::string, UnitTotals> units;
    bool some_forgotten = false;  // lists of units that nobody can tell apart
  };

  // Adds a list and its feedback, by the plain rules.
  static void add_plain(const serving::ExperimentSpec& spec, const serving::StoredImpression& list,
                        const serving::ResponseRow& response,
                        const std::vector<serving::StoreReader::NamedEvent>& named,
                        PlainSums& sums) {
    const bool split = spec.design == serving::Design::kSplit;
    ++sums.impressions;
    if (list.impression.shown.front().id.empty()) sums.some_forgotten = true;
    UnitTotals& unit =
        sums.units[list.unit.empty() ? "\nlist " + std::to_string(list.id) : list.unit];
    if (split) unit.x += 1;
    const auto add = [&](std::size_t rank, double value) {
      const bool challenger = split || list.in.teams[rank] == '1';
      (challenger ? unit.y : unit.x) += value;
    };
    for (std::size_t rank = 0; rank < response.clicked.size(); ++rank) {
      if (response.clicked[rank] == std::byte{0}) continue;
      ++sums.clicks[!split && list.in.teams[rank] == '1' ? 1 : 0];
      if (spec.metric == ValueMetric::kDcg) {
        add(rank, 1 / std::log2(static_cast<double>(rank) + 2));
      } else if (spec.metric != ValueMetric::kClickThrough) {
        add(rank, 1);
      }
    }
    if (spec.metric != ValueMetric::kEvents) return;
    for (const auto& [rank, name] : named) add(rank, 10);  // a purchase
  }

  static bool near(const RatioSums& one, const RatioSums& other) {
    const auto close = [](double left, double right) {
      return std::abs(left - right) <= 1e-9 * (1 + std::abs(left));
    };
    return one.units == other.units && one.x_units == other.x_units &&
           one.y_units == other.y_units && close(one.x, other.x) && close(one.y, other.y) &&
           close(one.xx, other.xx) && close(one.xy, other.xy) && close(one.yy, other.yy) &&
           close(one.v, other.v) && close(one.vv, other.vv);
  }

  void check_sums() {
    auto opened = store::read_sqlite(options_.db, options_.vfs);
    if (!opened) return;  // reported above
    serving::StoreReader& store = **opened;
    // By experiment and arm; "" if interleaved.
    std::map<std::pair<std::int64_t, std::string>, PlainSums> plain;
    std::map<std::int64_t, serving::ExperimentSpec> specs;
    const auto rows = *store.experiments();
    for (const auto& row : rows) specs[row.id] = *serving::parse_experiment_spec(row.spec);
    const auto models = *store.models();
    for (const serving::ModelRow& model : models) {
      const auto lists = *store.from(model.id, 0, 1'000'000);
      for (const std::int64_t id : lists) {
        const auto kept = serving::read_impression(store, id, serving::Rows::kSkip);
        if (!kept || !*kept || !specs.contains((*kept)->in.experiment)) continue;
        const auto response = store.response(id)->value_or(serving::ResponseRow{});
        add_plain(specs[(*kept)->in.experiment], **kept, response, *store.named_events(id),
                  plain[{(*kept)->in.experiment, (*kept)->in.arm}]);
      }
    }
    for (const auto& row : rows) {
      const serving::ExperimentSpec& spec = specs[row.id];
      const auto sums = *store.arm_sums(row.id);
      const bool split = spec.design == serving::Design::kSplit;
      for (std::uint32_t arm = 0; arm < spec.arms.size(); ++arm) {
        const serving::ArmSums counted = arm < sums.size() ? sums[arm] : serving::ArmSums{};
        const PlainSums& all = plain[{row.id, split ? spec.arms[arm].name : ""}];
        const std::uint64_t clicks = all.clicks[!split && arm != spec.baseline ? 1 : 0];
        // What came after the end is not counted.
        bool right = row.ended_at == 0
                         ? counted.impressions == all.impressions && counted.clicks == clicks
                         : counted.impressions <= all.impressions && counted.clicks <= clicks;
        if (row.ended_at == 0 && !all.some_forgotten && (split || arm != spec.baseline) &&
            spec.metric != ValueMetric::kClickThrough) {
          RatioSums units;
          for (const auto& [unit, totals] : all.units) units.change({}, totals);
          right = right && near(counted.units, units);
        }
        if (right) continue;
        say(found_.experiments,
            fmt::format("experiment {}, {}: {} lists and {} clicks are stored, {} and {} counted",
                        row.name, spec.arms[arm].name, all.impressions, clicks, counted.impressions,
                        counted.clicks));
      }
    }
  }

  // Sent again, stored events are duplicates. This comes last, since lost events would be accepted.
  void check_feedback() {
    for (const Told& told : story_.acknowledged) {
      bool there = true;
      for (const FeedbackEvent& event : told.events) {
        there = there && event_ids_.contains(event.event_id);
      }
      if (!there) say(found_.lost_feedback, "lost " + told.events.front().event_id);
    }
    std::map<ModelHandle, std::vector<FeedbackEvent>> again;
    for (const Told& told : story_.acknowledged) {
      const auto [maker, name] = resolve(told.model, told.events.front().impression);
      if (maker == nullptr) {
        say(found_.lost_feedback, told.model + ": lost " + told.events.front().impression);
        continue;
      }
      for (FeedbackEvent event : told.events) {
        event.impression = name;
        again[maker].push_back(std::move(event));
      }
    }
    for (auto& [model, events] : again) {
      const auto statuses = serving::wait_for<serving::FeedbackAnswer>(
          [&](auto done) { service_->feedback(model, events, done); });
      for (std::size_t at = 0; statuses && at < events.size(); ++at) {
        if (statuses->statuses[at] != FeedbackStatus::kDuplicate) {
          say(found_.lost_feedback,
              fmt::format("{} is {}", events[at].event_id, name_of(statuses->statuses[at])));
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
