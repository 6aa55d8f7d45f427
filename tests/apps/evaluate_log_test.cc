// plackett evaluate --log and plackett learn as a user meets them. What it estimates is tested in
// tests/offpolicy and tests/serving/logged_lists_test.cc.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>

#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::run_command;

class EvaluateLog : public ::testing::Test {
 protected:
  // A store of version 1, which needs no server to be made, and has no candidates.
  void SetUp() override {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(db_.c_str(), &handle), SQLITE_OK);
    const std::string sql =
        testing::slurp(std::string(PLACKETT_SOURCE_DIR) + "/tests/golden/store_v1.sql");
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }
  // What the command says on standard error. It must fail.
  std::string error(const std::string& arguments) const {
    const auto done = run_command("evaluate --log '" + db_ + "' " + arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments;
    return done.err;
  }
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }

  testing::TemporaryFolder folder_;
  std::string db_ = folder_ / "old.db";
};

TEST_F(EvaluateLog, SaysWhatIsWrong) {
  EXPECT_THAT(error("--model shop"), HasSubstr("--policy: name at least one"));
  EXPECT_THAT(error("--model none --policy logged"), HasSubstr("no model \"none\""));
  EXPECT_THAT(error("--model shop --policy snapshot:77"), HasSubstr("has no snapshot 77"));
  EXPECT_THAT(error("--model shop --policy no.plk"), HasSubstr("no.plk"));
  EXPECT_THAT(error("--model shop --policy logged --metric joy"), HasSubstr("\"joy\"; expected"));
  EXPECT_THAT(error("--model shop --policy logged --data x"), HasSubstr("give --data or --log"));
  EXPECT_THAT(error("--model shop --policy logged --fold 1"), HasSubstr("--fold is for --data"));
  EXPECT_THAT(run_command("evaluate --model m.plk").err, HasSubstr("give --data or --log"));
  EXPECT_THAT(run_command("evaluate --model m.plk --data d --level 0.9").err,
              HasSubstr("--level is for --log"));
  EXPECT_THAT(error("--model shop --policy logged --from x"),
              HasSubstr("--from x: expected an impression, as in i-41"));
  EXPECT_THAT(run_command("evaluate --model m.plk --data d --from i-1").err,
              HasSubstr("--from is for --log"));
  EXPECT_THAT(error("--model shop --policy current@hot"), HasSubstr("after @ comes a temperature"));
  EXPECT_THAT(error("--model shop --policy current@1e99"),
              HasSubstr("after @ comes a temperature"));
  EXPECT_THAT(error("--model shop --policy logged --level 1"), HasSubstr("from 0.5 to 0.9999;"));
  EXPECT_THAT(error("--model shop --policy logged --level 0.999"),
              HasSubstr("--level 0.999 needs at least 2000 resampled logs: --bootstraps 2000"));
  EXPECT_THAT(error("--model shop --policy logged --estimators guess"), HasSubstr("\"guess\""));
  EXPECT_THAT(error("--model shop --policy '" + file("text.plk", "hello") + "'"),
              HasSubstr("text.plk"));
}

TEST_F(EvaluateLog, RefusesFilesThatAreNoStore) {
  const std::string text = file("text.db", std::string(5000, 'x'));
  for (const std::string command :
       {"evaluate --policy logged --log ", "learn --save-model new.plk --log "}) {
    const auto missing = run_command(command + "none.db");
    EXPECT_EQ(missing.exit_code, 2) << command;
    EXPECT_THAT(missing.err, HasSubstr("none.db: can't open"));
    const auto other = run_command(command + "'" + text + "'");
    EXPECT_EQ(other.exit_code, 2) << command;
    EXPECT_THAT(other.err, HasSubstr("text.db: the store fails: file is not a database"));
    for (const std::string& said : {missing.err, other.err}) {
      EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    }
  }
}

TEST_F(EvaluateLog, LearnSaysWhatIsWrong) {
  const auto learn_error = [&](const std::string& arguments) {
    const auto done = run_command("learn --log '" + db_ + "' --save-model '" +
                                  std::string(folder_ / "new.plk") + "' " + arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    return done.err;
  };
  EXPECT_THAT(learn_error("--model none"), HasSubstr("no model \"none\""));
  EXPECT_THAT(learn_error("--model shop"), HasSubstr("lists"));
  EXPECT_THAT(learn_error("--model shop --ranker tree"), HasSubstr("tree"));
  EXPECT_THAT(learn_error("--model shop --learner magic"), HasSubstr("magic"));
  // An online method is not one to learn from a log by, and the error says why.
  EXPECT_THAT(learn_error("--model shop --method pdgd"),
              HasSubstr("lists that they sampled themselves"));
  EXPECT_THAT(learn_error("--model shop --held-out 1"), HasSubstr("held-out"));
}

TEST_F(EvaluateLog, RefusesALogWithoutCandidates) {
  EXPECT_THAT(error("--model shop --policy logged"), HasSubstr("no sampled list"));
}

TEST_F(EvaluateLog, SaysWhichPoliciesThereAre) {
  for (const char* policy : {"CURRENT", "currentx", ""}) {
    EXPECT_THAT(error(std::string("--model shop --policy '") + policy + "'"),
                HasSubstr("expected snapshot:ID, current, logged, order:FILE or a model file"))
        << policy;
  }
}

TEST_F(EvaluateLog, ReadsOrdersAndRefusesBadOnes) {
  EXPECT_THAT(error("--model shop --policy 'order:" + file("none.jsonl", "") + "x'"),
              HasSubstr("can't open"));
  EXPECT_THAT(error("--model shop --policy 'order:" + file("empty.jsonl", "") + "'"),
              HasSubstr("empty.jsonl: no order; expected one line per list"));
  EXPECT_THAT(error("--model shop --policy 'order:" + file("text.jsonl", "\nhello\n") + "'"),
              HasSubstr("text.jsonl:2: not an object"));
  EXPECT_THAT(error("--model shop --policy 'order:" +
                    file("ids.jsonl", "{\"impression\": \"i-1\", \"items\": [1]}\n") + "'"),
              HasSubstr("ids.jsonl:1: an id is not a string"));
  EXPECT_THAT(
      error("--model shop --policy 'order:" +
            file("same.jsonl", "{\"impression\": \"i-1\", \"items\": [\"a\", \"b\", \"a\"]}\n") +
            "'"),
      HasSubstr("same.jsonl:1: the id \"a\" is twice in the order"));
  const std::string one = "{\"impression\": \"i-1\", \"items\": [\"a\"]}\n";
  EXPECT_THAT(error("--model shop --policy 'order:" + file("two.jsonl", one + one) + "'"),
              HasSubstr("two.jsonl:2: this impression has an order already"));
}

}  // namespace
}  // namespace plackett
