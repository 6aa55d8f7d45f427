// The command itself, killed at random moments under load and started again on the same store.
// PLACKETT_KILLS: how often; default 200.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plackett/rng.h"
#include "support/http_client.h"
#include "support/run_command.h"
#include "support/server.h"

namespace plackett::testing {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kClients = 3;
constexpr auto kMostTime = std::chrono::minutes(30);

// What clients were told before the kill.
struct Told {
  struct Shown {
    std::string maker;               // the model that made the list
    std::vector<std::string> ids{};  // by rank
  };
  std::map<std::string, Shown> shown;  // by impression
  std::vector<Json> feedback;          // events of answered requests
  // Experiments: answers that stay true, whatever other clients ask for later.
  std::set<std::string> started;
  std::set<std::string> ended;
  std::set<std::string> deleting;       // it was tried: they may be gone
  std::map<std::string, int> promoted;  // how often
  std::map<std::string, int> undone;

  void add(Told&& other) {
    shown.merge(other.shown);
    feedback.insert(feedback.end(), other.feedback.begin(), other.feedback.end());
    started.merge(other.started);
    ended.merge(other.ended);
    deleting.merge(other.deleting);
    for (const auto& [name, times] : other.promoted) promoted[name] += times;
    for (const auto& [name, times] : other.undone) undone[name] += times;
  }
};

// Who makes the lists of the arm "new", by the first letter of the experiment's name.
std::string maker_of(const Json& ranking) {
  if (ranking.value("arm", "") != "new") return "m";
  const std::string experiment = ranking["experiment"];
  if (experiment[0] == 'o') return "other";
  return experiment[0] == 'f' ? "m." + experiment + ".new" : "m";
}

// Starts an experiment, or changes one that is there, whoever started it.
void change_experiments(HttpClient& client, const std::string& id, Rng& rng, Told& told) {
  const std::string path = "/models/m/experiments";
  const Json all = client.get(path).json()["experiments"];
  if (all.empty() || (all[0]["state"] == "ended" && rng.below(2) == 0)) {
    // Of the caller's order, another model or, now and then, a snapshot. Those cost a model each.
    const std::uint32_t what = rng.below(20);
    std::string policy = what < 12 ? "given" : "model:other";
    if (what == 19) {
      const Answer taken = client.post("/models/m/snapshots", Json::object());
      policy = "snapshot:" + taken.json()["id"].dump();
    }
    const std::string name = (what < 12 ? "g" : what < 19 ? "o" : "f") + id;
    Json body = {
        {"arms", {{{"name", "old"}, {"policy", "model"}}, {{"name", "new"}, {"policy", policy}}}}};
    if (rng.below(4) == 0) {
      body["design"] = "interleave";
    } else {
      for (Json& arm : body["arms"]) arm["share"] = 0.5;
    }
    if (client.put(path + "/" + name, body).status == 201) told.started.insert(name);
    return;
  }
  const std::string name =
      all[rng.below(std::min<std::uint32_t>(2, static_cast<std::uint32_t>(all.size())))]["name"];
  const auto ask = [&](const std::string& action, const Json& body) {
    return client.post(path + "/" + name + "/" + action, body).status == 200;
  };
  switch (rng.below(5)) {
    case 0:
    case 1:
      if (!ask("promote", {{"arm", rng.below(2) == 0 ? "old" : "new"}})) return;
      told.ended.insert(name);
      ++told.promoted[name];
      return;
    case 2:
      if (ask("undo", Json::object())) ++told.undone[name];
      return;
    case 3:
      if (ask("stop", Json::object())) told.ended.insert(name);
      return;
    default:
      // A snapshot's model goes with its experiment, and takes lists that were answered along.
      if (name[0] == 'f') return;
      told.deleting.insert(name);
      client.remove(path + "/" + name);
  }
}

// Ranks and sends clicks until the server is gone. Ids start with `name`.
Told use(std::uint16_t port, const std::string& name, std::uint64_t seed) {
  Told told;
  Rng rng({seed, 0, 0, Purpose::kTest});
  HttpClient client(port);
  std::vector<std::string> open;
  try {
    for (int step = 0;; ++step) {
      const std::string id = name + "-" + std::to_string(step);
      if (rng.below(20) == 0) {
        change_experiments(client, id, rng, told);
        continue;
      }
      if (open.empty() || rng.below(2) == 0) {
        Json items = Json::array();
        for (int item = 0; item < 8; ++item) {
          items.push_back({{"id", std::to_string(item)},
                           {"features", {rng.uniform(), rng.uniform(), item / 8.0}}});
        }
        Json body = {{"items", items}};
        if (rng.below(3) == 0) body["id"] = id;
        if (rng.below(2) == 0) body["unit"] = "unit of " + name;
        if (rng.below(6) == 0) body["mode"] = "given";
        const Answer answer = client.post("/models/m/rank", body);
        if (answer.status != 200) continue;  // a full queue
        const Json ranking = answer.json();
        const std::string impression = ranking["impression"];
        Told::Shown& shown = told.shown[impression];
        shown.maker = maker_of(ranking);
        for (const Json& item : ranking["items"]) shown.ids.push_back(item["id"]);
        open.push_back(impression);
        continue;
      }
      const std::size_t at = rng.below(static_cast<std::uint32_t>(open.size()));
      const std::string impression = open[at];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      const std::vector<std::string>& shown = told.shown[impression].ids;
      Json events = Json::array();
      events.push_back({{"impression", impression},
                        {"event", "click"},
                        {"item", shown[rng.below(static_cast<std::uint32_t>(shown.size()))]},
                        {"event_id", id + "-click"}});
      if (rng.below(4) == 0) {
        events.push_back({{"impression", impression},
                          {"event", "purchase"},
                          {"item", shown.back()},
                          {"event_id", id + "-purchase"}});
      }
      if (rng.below(4) != 0) {
        events.push_back(
            {{"impression", impression}, {"event", "close"}, {"event_id", id + "-close"}});
      }
      const Answer answer = client.post("/models/m/feedback", events);
      if (answer.status != 200) continue;
      if (answer.json()["accepted"] != events.size()) {
        ADD_FAILURE() << events.dump() << ": " << answer.body;
      }
      told.feedback.insert(told.feedback.end(), events.begin(), events.end());
    }
  } catch (const NoAnswer&) {  // killed
  }
  return told;
}

struct Losses {
  std::uint64_t ranks = 0;
  std::uint64_t feedback = 0;
  std::uint64_t experiments = 0;
  [[nodiscard]] std::uint64_t all() const { return ranks + feedback + experiments; }
};

// How many experiments are not as clients were told.
std::uint64_t lost_experiments(HttpClient& client, const Told& told) {
  std::uint64_t lost = 0;
  std::map<std::string, Json> there;
  std::uint64_t running = 0;
  const Json all = client.get("/models/m/experiments").json()["experiments"];
  for (const Json& one : all) {
    there[one["name"]] = one;
    running += one["state"] == "running" ? 1 : 0;
  }
  if (running > 1) ++lost;
  if (client.get("/models/m").json()["experiment"].is_null() != (running == 0)) ++lost;
  for (const std::string& name : told.started) {
    if (!told.deleting.contains(name) && !there.contains(name)) ++lost;
  }
  for (const std::string& name : told.ended) {
    if (there.contains(name) && there[name]["state"] != "ended") ++lost;
  }
  for (const auto& [name, times] : told.promoted) {
    if (!there.contains(name)) continue;
    const Json& why = there[name]["ended_because"];
    const std::string text = why.is_null() ? "" : why.get<std::string>();
    int undone = 0;
    for (std::size_t at = 0; (at = text.find(" undone", at)) != std::string::npos; ++at) ++undone;
    const auto asked = told.undone.find(name);
    if (undone < (asked == told.undone.end() ? 0 : asked->second)) ++lost;
    if (undone + (there[name]["promoted"].is_null() ? 0 : 1) < times) ++lost;
  }
  return lost;
}

// What clients were told and the server no longer has.
Losses losses(HttpClient& client, const Told& told) {
  Losses lost;
  lost.experiments = lost_experiments(client, told);
  // Lists of an experiment that was deleted are known to the model that made them alone.
  const auto own_name = [](const std::string& impression) {
    return impression.substr(0, impression.find('@'));
  };
  for (const auto& [impression, shown] : told.shown) {
    const Answer answer =
        client.get("/models/" + shown.maker + "/impressions/" + own_name(impression));
    bool same = answer.status == 200;
    if (same) {
      std::vector<std::string> kept;
      const Json seen = answer.json();
      for (const Json& item : seen["items"]) kept.push_back(item["id"]);
      same = kept == shown.ids;
    }
    if (!same) ++lost.ranks;
  }
  constexpr std::size_t kAtOnce = 200;
  std::map<std::string, Json> waiting;  // by maker
  const auto send = [&](const std::string& maker) {
    const Json events = std::exchange(waiting[maker], Json::array());
    if (events.empty()) return;
    const Json answer = client.post("/models/" + maker + "/feedback", events).json();
    lost.feedback += events.size() - answer.value("duplicate", std::size_t{0});
  };
  for (Json event : told.feedback) {
    const std::string maker = told.shown.at(event["impression"]).maker;
    event["impression"] = own_name(event["impression"]);
    waiting[maker].push_back(std::move(event));
    if (waiting[maker].size() == kAtOnce) send(maker);
  }
  for (const auto& [maker, events] : waiting) {
    if (!events.empty()) send(maker);
  }
  return lost;
}

void make_model(HttpClient& client, const std::string& name = "m") {
  const Answer made = client.put("/models/" + name, {{"features", 3},
                                                     {"learner", "pdgd"},
                                                     {"candidates", 0.5},
                                                     {"events", {{"purchase", 10}}},
                                                     {"ranker", "linear+neural"},
                                                     {"hidden", {4}},
                                                     {"settings", {{"steps", "adagrad"}}},
                                                     {"k", 5}});
  ASSERT_TRUE(made.status == 201 || made.status == 200) << made.body;
}

// Load from a few clients, and the kill.
Told load_and_kill(Server& server, const std::string& name, std::uint64_t seed,
                   std::chrono::microseconds until) {
  std::vector<Told> parts(kClients);
  std::vector<std::thread> clients;
  for (int one = 0; one < kClients; ++one) {
    clients.emplace_back([&, one, port = server.port()] {
      parts[static_cast<std::size_t>(one)] =
          use(port, name + "-" + std::to_string(one), seed * kClients + static_cast<unsigned>(one));
    });
  }
  std::this_thread::sleep_for(until);
  server.kill();
  for (std::thread& client : clients) client.join();
  Told told;
  for (Told& part : parts) told.add(std::move(part));
  return told;
}

int kills_asked_for() {
  const char* text = std::getenv("PLACKETT_KILLS");
  return text == nullptr ? 200 : std::min(std::atoi(text), 100'000);
}

// Steps the system's clock of all commands that are started while it lives. Sanitizers must be the
// first library of a process, so there it does nothing.
class SteppedClock {
 public:
  SteppedClock() {
    step_to(0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ::setenv("LD_PRELOAD", PLACKETT_CLOCK_SHIM, 1);
    ::setenv("PLACKETT_TEST_CLOCK", path_.c_str(), 1);
#endif
  }
  SteppedClock(const SteppedClock&) = delete;
  SteppedClock& operator=(const SteppedClock&) = delete;
  ~SteppedClock() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("PLACKETT_TEST_CLOCK");
  }
  [[nodiscard]] bool works() const { return std::getenv("PLACKETT_TEST_CLOCK") != nullptr; }
  void step_to(std::int64_t seconds) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    if (!file) file.open(path_, std::ios::out | std::ios::binary);
    file.write(reinterpret_cast<const char*>(&seconds), sizeof seconds);
  }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "clock";
};

// A second server must not get the store by any name.
void try_links(const std::string& db, bool hard) {
  const std::string link = db + (hard ? ".hard" : ".soft");
  std::filesystem::remove(link);
  if (hard) {
    std::filesystem::create_hard_link(db, link);
  } else {
    std::filesystem::create_symlink(db, link);
  }
  const CommandResult second = run_command("serve --port 0 --db '" + link + "'");
  EXPECT_EQ(second.exit_code, 2) << second.out;
  EXPECT_NE(second.err.find("another plackett serves this store"), std::string::npos) << second.err;
}

TEST(Kill, WhatWasAnsweredIsThereAfterEveryKill) {
  const int kills = kills_asked_for();
  const auto end = Clock::now() + kMostTime;
  Rng rng({1, 0, 0, Purpose::kTest});
  SteppedClock clock;
  int steps = 0;
  int links = 0;
  Server server;
  {
    HttpClient client = server.client();
    clock.step_to(86'400);
    make_model(client);
    make_model(client, "other");
    const double ahead = client.get("/models/m").json()["created_at"].get<double>() / 1000 -
                         static_cast<double>(std::time(nullptr));
    EXPECT_NEAR(ahead, clock.works() ? 86'400 : 0, 60) << "the server's clock follows";
  }
  Told all;
  int killed = 0;
  std::uint64_t ranks = 0;
  std::uint64_t events = 0;
  while (killed < kills && Clock::now() < end) {
    // A clock up to two days off, before the load or between kill and restart; links, some of which
    // stay through the kill.
    const bool steps_now = rng.below(4) == 0;
    if (steps_now) clock.step_to(std::int64_t{rng.below(345'600)} - 172'800);
    steps += steps_now ? 1 : 0;
    if (rng.below(16) == 0) {
      try_links(server.db(), rng.below(2) == 0);
      ++links;
    }
    const auto until = std::chrono::microseconds(rng.below(60'000));
    Told told = load_and_kill(server, "k" + std::to_string(killed),
                              static_cast<std::uint64_t>(killed) + 1, until);
    ++killed;
    if (rng.below(8) == 0) clock.step_to(0);
    // Some restarts are killed too, before or after they are ready.
    if (rng.below(8) == 0) {
      server.launch();
      std::this_thread::sleep_for(std::chrono::microseconds(rng.below(30'000)));
      server.kill();
      ++killed;
    }
    server.start();
    HttpClient client = server.client();
    ranks += told.shown.size();
    events += told.feedback.size();
    const Losses lost = losses(client, told);
    ASSERT_EQ(lost.ranks, 0U) << "after kill " << killed;
    ASSERT_EQ(lost.feedback, 0U) << "after kill " << killed;
    ASSERT_EQ(lost.experiments, 0U) << "after kill " << killed;
    all.add(std::move(told));
  }
  // Everything is still there after all kills.
  HttpClient client = server.client();
  const Losses lost = losses(client, all);
  EXPECT_EQ(lost.ranks, 0U);
  EXPECT_EQ(lost.feedback, 0U);
  EXPECT_EQ(lost.experiments, 0U);
  EXPECT_EQ(all.shown.size(), ranks) << "no impression's name was given twice";
  std::printf(
      "%d kills, %d clock steps, %d links, %d ranks and %d events answered, %d experiments "
      "started, "
      "%d promoted, %d undone; lost %d\n",
      killed, steps, links, static_cast<int>(ranks), static_cast<int>(events),
      static_cast<int>(all.started.size()), static_cast<int>(all.promoted.size()),
      static_cast<int>(all.undone.size()), static_cast<int>(lost.all()));
  EXPECT_TRUE(!all.promoted.empty() || killed < 100);
  EXPECT_GT(ranks, static_cast<std::uint64_t>(killed));
  EXPECT_GT(events, static_cast<std::uint64_t>(killed));

  // A replay of the log gives the model that it serves. Frozen, or lists that expire meanwhile
  // would teach it more.
  std::map<std::string, std::string> served;
  const Json models = client.get("/models").json()["models"];
  for (const Json& model : models) {
    const std::string name = model["name"];
    ASSERT_EQ(client.post("/models/" + name + "/freeze", Json::object()).status, 200);
    served[name] = client.get("/models/" + name + "/export").body;
  }
  const auto replay = [&](const std::string& model) {
    const TemporaryFolder folder;
    const CommandResult replayed = run_command("replay --db '" + server.db() + "' --model " +
                                               model + " --save-model '" + folder / "file" + "'");
    EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
    return slurp(folder / "file");
  };
  for (const auto& [name, file] : served) EXPECT_TRUE(replay(name) == file) << name;
  EXPECT_EQ(server.stop(), 0);
  for (const auto& [name, file] : served) EXPECT_TRUE(replay(name) == file) << name;
}

TEST(Kill, CheckRejectsWhatWasNeverAnswered) {
  Server server;
  HttpClient client = server.client();
  make_model(client);
  make_model(client, "other");
  Told told = load_and_kill(server, "k", 1, std::chrono::milliseconds(60));
  server.start();
  client = server.client();
  EXPECT_EQ(losses(client, told).all(), 0U);
  ASSERT_FALSE(told.shown.empty());
  told.shown.emplace("never-shown", Told::Shown{"m", {"1"}});
  std::swap(told.shown.begin()->second.ids[0], told.shown.begin()->second.ids[1]);
  EXPECT_EQ(losses(client, told).ranks, 2U);
  told.feedback.push_back({{"impression", told.shown.begin()->first},
                           {"event", "view"},
                           {"item", told.shown.begin()->second.ids[0]},
                           {"event_id", "never-told"}});
  EXPECT_EQ(losses(client, told).feedback, 1U);
  told.started.insert("never-started");
  EXPECT_EQ(losses(client, told).experiments, 1U);
}

}  // namespace
}  // namespace plackett::testing
