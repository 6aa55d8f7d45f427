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
#include <string>
#include <thread>
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
  std::map<std::string, std::vector<std::string>> shown;  // by impression: ids by rank
  std::vector<Json> feedback;                             // events of answered requests

  void add(Told&& other) {
    shown.merge(other.shown);
    feedback.insert(feedback.end(), other.feedback.begin(), other.feedback.end());
  }
};

// Ranks and sends clicks until the server is gone. Ids start with `name`.
Told use(std::uint16_t port, const std::string& name, std::uint64_t seed) {
  Told told;
  Rng rng({seed, 0, 0, Purpose::kTest});
  HttpClient client(port);
  std::vector<std::string> open;
  try {
    for (int step = 0;; ++step) {
      const std::string id = name + "-" + std::to_string(step);
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
        std::vector<std::string>& shown = told.shown[impression];
        for (const Json& item : ranking["items"]) shown.push_back(item["id"]);
        open.push_back(impression);
        continue;
      }
      const std::size_t at = rng.below(static_cast<std::uint32_t>(open.size()));
      const std::string impression = open[at];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      const std::vector<std::string>& shown = told.shown[impression];
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
  [[nodiscard]] std::uint64_t all() const { return ranks + feedback; }
};

// What clients were told and the server no longer has.
Losses losses(HttpClient& client, const Told& told) {
  Losses lost;
  for (const auto& [impression, shown] : told.shown) {
    const Answer answer = client.get("/models/m/impressions/" + impression);
    bool same = answer.status == 200;
    if (same) {
      std::vector<std::string> kept;
      const Json seen = answer.json();
      for (const Json& item : seen["items"]) kept.push_back(item["id"]);
      same = kept == shown;
    }
    if (!same) ++lost.ranks;
  }
  constexpr std::size_t kAtOnce = 200;
  for (std::size_t from = 0; from < told.feedback.size(); from += kAtOnce) {
    Json events = Json::array();
    for (std::size_t at = from; at < std::min(told.feedback.size(), from + kAtOnce); ++at) {
      events.push_back(told.feedback[at]);
    }
    const Json answer = client.post("/models/m/feedback", events).json();
    lost.feedback += events.size() - answer["duplicate"].get<std::size_t>();
  }
  return lost;
}

void make_model(HttpClient& client) {
  const Answer made = client.put("/models/m", {{"features", 3},
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
    all.add(std::move(told));
  }
  // Everything is still there after all kills.
  HttpClient client = server.client();
  const Losses lost = losses(client, all);
  EXPECT_EQ(lost.ranks, 0U);
  EXPECT_EQ(lost.feedback, 0U);
  EXPECT_EQ(all.shown.size(), ranks) << "no impression's name was given twice";
  std::printf("%d kills, %d clock steps, %d links, %d ranks and %d events answered; lost %d\n",
              killed, steps, links, static_cast<int>(ranks), static_cast<int>(events),
              static_cast<int>(lost.all()));
  EXPECT_GT(ranks, static_cast<std::uint64_t>(killed));
  EXPECT_GT(events, static_cast<std::uint64_t>(killed));

  // A replay of the log gives the model that it serves. Frozen, or lists that expire meanwhile
  // would teach it more.
  ASSERT_EQ(client.post("/models/m/freeze", Json::object()).status, 200);
  const Answer served = client.get("/models/m/export");
  ASSERT_EQ(served.status, 200);
  const auto replay = [&](const std::string& file) {
    const TemporaryFolder folder;
    const CommandResult replayed = run_command("replay --db '" + server.db() +
                                               "' --model m --save-model '" + folder / file + "'");
    EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
    return slurp(folder / file);
  };
  EXPECT_TRUE(replay("model") == served.body);
  EXPECT_EQ(server.stop(), 0);
  EXPECT_TRUE(replay("model") == served.body);
}

TEST(Kill, CheckRejectsWhatWasNeverAnswered) {
  Server server;
  HttpClient client = server.client();
  make_model(client);
  Told told = load_and_kill(server, "k", 1, std::chrono::milliseconds(60));
  server.start();
  client = server.client();
  EXPECT_EQ(losses(client, told).all(), 0U);
  ASSERT_FALSE(told.shown.empty());
  told.shown.emplace("never-shown", std::vector<std::string>{"1"});
  std::swap(told.shown.begin()->second[0], told.shown.begin()->second[1]);
  EXPECT_EQ(losses(client, told).ranks, 2U);
  told.feedback.push_back({{"impression", told.shown.begin()->first},
                           {"event", "view"},
                           {"item", told.shown.begin()->second[0]},
                           {"event_id", "never-told"}});
  EXPECT_EQ(losses(client, told).feedback, 1U);
}

}  // namespace
}  // namespace plackett::testing
