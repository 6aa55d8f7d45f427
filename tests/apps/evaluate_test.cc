#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "plackett/rng.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::run_command;

TEST(Evaluate, GivesTheOfflineFigureOfTheRunThatTheModelCameFrom) {
  const testing::TemporaryFolder folder;
  for (const std::string ranker : {"linear", "neural", "linear+neural"}) {
    const std::string model = folder / ranker;
    const auto simulated = run_command("simulate --runs 1 --impressions 2000 --json --ranker " +
                                       ranker + " --save-model " + model);
    ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
    const auto evaluated = run_command("evaluate --json --data synthetic --model " + model);
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
    const Json answer = Json::parse(evaluated.out);
    ASSERT_EQ(answer["folds"].size(), 5U);
    // Run 0 learns on the first fold.
    EXPECT_NEAR(answer["folds"][0]["NDCG@10"].get<double>(),
                Json::parse(simulated.out)["offline"]["mean"].get<double>(), 1e-9);
    for (const char* metric : {"NDCG@1", "NDCG@3", "NDCG@5", "MRR", "MAP", "ERR@10"}) {
      EXPECT_GT(answer["folds"][0][metric].get<double>(), 0);
      EXPECT_LE(answer["folds"][0][metric].get<double>(), 1);
    }
  }
}

TEST(Evaluate, PrintsATableWithoutJson) {
  const testing::TemporaryFolder folder;
  const std::string model = folder / "m";
  ASSERT_EQ(run_command("simulate --runs 1 --impressions 100 --save-model " + model).exit_code, 0);
  const auto result = run_command("evaluate --data synthetic --model " + model);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("NDCG@10"));
  EXPECT_THAT(result.out, HasSubstr("Fold5"));
}

TEST(Evaluate, RefusesDataWithFewerFeaturesThanTheModelReads) {
  const testing::TemporaryFolder folder;
  const std::string model = folder / "m";
  ASSERT_EQ(run_command("simulate --runs 1 --impressions 100 --save-model " + model).exit_code, 0);
  for (const char* name : {"train.txt", "test.txt"}) {
    std::ofstream(folder / name) << "1 qid:1 1:0.5 2:1\n0 qid:1 1:1 2:0\n";
  }
  const auto result =
      run_command("evaluate --data " + folder.path().string() + " --model " + model);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("it was learned on other data"));
}

TEST(Evaluate, RefusesAFileThatIsNoModel) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "junk") << "not a model at all, but long enough to hold a header";
  const auto result = run_command("evaluate --data synthetic --model " + folder / "junk");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("junk: not a plackett model; one starts with PLKMODEL"));
}

// A dataset with ids of documents, equal rows (so equal scores) and a query without a relevant
// document.
void put_data(const testing::TemporaryFolder& folder, bool with_ids) {
  Rng rng({.seed = 4});
  for (const char* name : {"train.txt", "vali.txt", "test.txt"}) {
    std::filesystem::create_directory(folder.path() / "data");
    std::ofstream file(folder.path() / "data" / name);
    for (int query = 0; query < 40; ++query) {
      const std::uint32_t docs = 3 + rng.below(20);
      for (std::uint32_t doc = 0; doc < docs; ++doc) {
        const std::uint32_t label = query == 7 ? 0 : doc == 2 ? 1 : rng.below(3);
        file << label << " qid:" << 100 - query << " 1:" << rng.below(3) + label
             << " 2:" << rng.below(2);
        if (with_ids && doc != 1) file << " #docid = GX" << doc << "-" << rng.below(1000);
        file << "\n";
      }
    }
  }
}

std::string learn(const testing::TemporaryFolder& folder, const std::string& name, int seed) {
  const auto result =
      run_command("simulate --runs 1 --impressions 30 --seed " + std::to_string(seed) + " --data " +
                  folder / "data" + " --save-model " + folder / name);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return folder / name;
}

TEST(Evaluate, WritesEachOutputToAFileOfItsOwn) {
  const testing::TemporaryFolder folder;
  put_data(folder, true);
  const std::string model = learn(folder, "m", 1);
  const std::string before = testing::slurp(model);
  const std::string start =
      "evaluate --data " + folder / "data" + " --model " + model + " --run-file ";
  std::filesystem::create_symlink("z", folder.path() / "link");
  std::filesystem::create_symlink("m", folder.path() / "model");
  for (const auto& [run, qrels, said] :
       {std::tuple{"z", "z", "z: --run-file and --qrels are the same file"},
        std::tuple{"link", "data/../z", "z: --run-file and --qrels are the same file"},
        std::tuple{"model", "z", "model: --model and --run-file are the same file"}}) {
    const auto result = run_command(start + folder / run + " --qrels " + folder / qrels);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(said));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "z"));
  EXPECT_EQ(testing::slurp(model), before);
}

TEST(Evaluate, WritesIntoPipesAndStandardOutput) {
  const testing::TemporaryFolder folder;
  put_data(folder, true);
  const std::string start =
      "evaluate --data " + folder / "data" + " --model " + learn(folder, "m", 1);
  ASSERT_EQ(run_command(start + " --per-query " + folder / "plain").exit_code, 0);
  const std::string expected = testing::slurp(folder / "plain");

  // Links to what /dev/stdout and /dev/null are, which a faulty command may replace.
  std::filesystem::create_symlink("/proc/self/fd/1", folder.path() / "stdout");
  const auto shown = run_command(start + " --per-query " + folder / "stdout");
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, ::testing::AllOf(HasSubstr(expected), HasSubstr("fold        queries")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "stdout"));

  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader(
      [&] { (void)std::system(("timeout 60 cat " + pipe + " >" + folder / "copy").c_str()); });
  const auto piped =
      run_command(start + " --run-file " + pipe + " --qrels " + pipe + " --per-query " + pipe);
  reader.join();
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_THAT(testing::slurp(folder / "copy"), HasSubstr(expected));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

using Fields = std::vector<std::string>;
std::vector<Fields> lines_of(const std::filesystem::path& path, char separator) {
  std::vector<Fields> lines;
  std::istringstream text(testing::slurp(path));
  for (std::string line; std::getline(text, line);) {
    Fields& fields = lines.emplace_back();
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, separator);) fields.push_back(field);
    if (line.ends_with(separator)) fields.emplace_back();
  }
  return lines;
}

// What trec_eval does: documents ordered by score as floats, labels from the qrels by name.
struct TrecQuery {
  std::map<std::string, int> labels;
  std::vector<std::pair<float, std::string>> run;

  [[nodiscard]] std::vector<int> ranked() const {
    auto sorted = run;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());  // ties by name, as trec_eval
    std::vector<int> ranked;
    for (const auto& [score, name] : sorted) ranked.push_back(labels.at(name));
    return ranked;
  }
};

std::map<std::string, TrecQuery> read_trec(const std::string& run, const std::string& qrels) {
  std::map<std::string, TrecQuery> queries;
  for (const Fields& fields : lines_of(qrels, ' ')) {
    EXPECT_EQ(fields.size(), 4U);
    EXPECT_EQ(fields[1], "0");
    EXPECT_TRUE(queries[fields[0]].labels.try_emplace(fields[2], std::stoi(fields[3])).second);
  }
  for (const Fields& fields : lines_of(run, ' ')) {
    EXPECT_EQ(fields.size(), 6U);
    EXPECT_EQ(fields[1], "Q0");
    EXPECT_EQ(fields[5], "plackett");
    TrecQuery& query = queries.at(fields[0]);
    query.run.emplace_back(std::strtof(fields[4].c_str(), nullptr), fields[2]);
    EXPECT_EQ(std::stoul(fields[3]), query.run.size());
    if (query.run.size() == 1) continue;
    EXPECT_LT(query.run.back().first, query.run[query.run.size() - 2].first);
  }
  return queries;
}

double plain_dcg(const std::vector<int>& labels, std::size_t k) {
  double dcg = 0;
  for (std::size_t at = 0; at < std::min(k, labels.size()); ++at) {
    dcg += (std::pow(2, labels[at]) - 1) / std::log2(static_cast<double>(at) + 2);
  }
  return dcg;
}

// MRR, MAP and NDCG@10 by name, from the labels in ranked order.
std::map<std::string, double> plain_metrics(const std::vector<int>& ranked) {
  std::vector<int> ideal = ranked;
  std::sort(ideal.begin(), ideal.end(), std::greater<>());
  double found = 0;
  std::map<std::string, double> values{
      {"NDCG@10", plain_dcg(ranked, 10) / plain_dcg(ideal, 10)}, {"MRR", 0}, {"MAP", 0}};
  for (std::size_t at = 0; at < ranked.size(); ++at) {
    if (ranked[at] == 0) continue;
    found += 1;
    if (found == 1) values["MRR"] = 1 / static_cast<double>(at + 1);
    values["MAP"] += found / static_cast<double>(at + 1);
  }
  values["MAP"] /= found;
  return values;
}

TEST(EvaluateFiles, ARunFileAndItsQrelsGiveTheMetricsOfEachQueryAgain) {
  for (const bool with_ids : {true, false}) {
    const testing::TemporaryFolder folder;
    put_data(folder, with_ids);
    const std::string arguments = "evaluate --data " + folder / "data" + " --model " +
                                  learn(folder, "m", 1) + " --split validation --json";
    const auto result =
        run_command(arguments + " --per-query " + folder / "q.csv" + " --run-file " +
                    folder / "run" + " --qrels " + folder / "qrels");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, run_command(arguments).out);

    const auto queries = read_trec(folder / "run", folder / "qrels");
    ASSERT_EQ(queries.size(), 40U);
    const auto rows = lines_of(folder / "q.csv", ',');
    ASSERT_EQ(rows.size(), 41U);
    EXPECT_EQ(rows[0], (Fields{"fold", "query", "documents", "relevant", "NDCG@1", "NDCG@3",
                               "NDCG@5", "NDCG@10", "MRR", "MAP", "ERR@10"}));
    std::map<std::string, double> sums;
    for (std::size_t at = 1; at < rows.size(); ++at) {
      const Fields& row = rows[at];
      EXPECT_EQ(row[0], "data");
      EXPECT_EQ(row[1], std::to_string(101 - at));
      const TrecQuery& query = queries.at(row[1]);
      const std::vector<int> ranked = query.ranked();
      EXPECT_EQ(std::stoul(row[2]), ranked.size());
      EXPECT_EQ(query.labels.size(), ranked.size());
      EXPECT_EQ(std::stol(row[3]),
                std::count_if(ranked.begin(), ranked.end(), [](int label) { return label > 0; }));
      if (row[3] == "0") {
        EXPECT_EQ(Fields(row.begin() + 4, row.end()), Fields(7));
        continue;
      }
      const auto plain = plain_metrics(ranked);
      for (std::size_t column = 4; column < row.size(); ++column) {
        sums[rows[0][column]] += std::stod(row[column]);
        if (!plain.contains(rows[0][column])) continue;
        EXPECT_NEAR(std::stod(row[column]), plain.at(rows[0][column]), 1e-12) << row[1];
      }
    }
    const Json fold = Json::parse(result.out)["folds"][0];
    EXPECT_EQ(fold["queries"], 39);
    for (const auto& [name, sum] : sums) {
      EXPECT_NEAR(fold[name].get<double>(), sum / 39, 1e-12) << name;
    }
    // Documents have their own ids, or ones made from their query and their place in it.
    const auto& names = queries.at("100").labels;
    EXPECT_TRUE(names.contains("100-2"));
    EXPECT_EQ(names.contains("100-1"), !with_ids);
  }
}

TEST(EvaluateFiles, ATieIsWrittenInTheOrderThatWasMeasured) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "data");
  for (const char* name : {"train.txt", "test.txt"}) {
    std::ofstream file(folder.path() / "data" / name);
    for (int doc = 0; doc < 30; ++doc) {
      file << doc % 2 << " qid:1 1:" << doc / 29 << " #docid = d" << doc << "\n";
    }
  }
  const std::string model = learn(folder, "m", 1);
  for (const char* seed : {"1", "2"}) {
    const auto result = run_command("evaluate --json --seed " + std::string(seed) + " --data " +
                                    folder / "data" + " --model " + model + " --run-file " +
                                    folder / "run" + " --qrels " + folder / "qrels");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto plain = plain_metrics(read_trec(folder / "run", folder / "qrels").at("1").ranked());
    const Json fold = Json::parse(result.out)["folds"][0];
    EXPECT_NEAR(fold["MAP"].get<double>(), plain.at("MAP"), 1e-12);
  }
}

TEST(EvaluateFiles, AQueryThatIsInTwoFoldsNeedsAFold) {
  const testing::TemporaryFolder folder;
  const std::string model = folder / "m";
  ASSERT_EQ(run_command("simulate --runs 1 --impressions 100 --save-model " + model).exit_code, 0);
  const std::string arguments =
      "evaluate --data synthetic --split train --model " + model + " --run-file " + folder / "run";
  const auto refused = run_command(arguments);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("is in Fold1 and in Fold2; run and qrels files hold a query "
                                     "once; --fold chooses a fold"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  const auto one = run_command(arguments + " --json --fold Fold2");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  ASSERT_EQ(Json::parse(one.out)["folds"].size(), 1U);
  EXPECT_EQ(Json::parse(one.out)["folds"][0]["fold"], "Fold2");
  EXPECT_TRUE(std::filesystem::exists(folder / "run"));
  EXPECT_THAT(run_command(arguments + " --fold Fold9").err,
              HasSubstr("no fold \"Fold9\"; synthetic has Fold1, Fold2, Fold3, Fold4, Fold5"));
}

TEST(EvaluateFiles, TwoDocumentsOfOneIdAreRefusedByARunFileOnly) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "data");
  for (const char* name : {"train.txt", "test.txt"}) {
    std::ofstream(folder.path() / "data" / name)
        << "1 qid:1 1:0.5 2:1 #docid = same\n0 qid:1 1:1 2:0 #docid = same\n";
  }
  const std::string arguments =
      "evaluate --data " + folder / "data" + " --model " + learn(folder, "m", 1);
  EXPECT_EQ(run_command(arguments + " --per-query " + folder / "q.csv").exit_code, 0);
  const auto refused = run_command(arguments + " --qrels " + folder / "qrels");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("query 1 has two documents with the id same"));
}

TEST(Evaluate, RefusesASplitThatTheDataLacks) {
  const testing::TemporaryFolder folder;
  put_data(folder, false);
  const std::string model = learn(folder, "m", 1);
  std::filesystem::remove(folder.path() / "data" / "vali.txt");
  const auto result =
      run_command("evaluate --split validation --data " + folder / "data" + " --model " + model);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("data: no validation file"));
}

TEST(EvaluateAgainst, TestsTheDifferencesOfTheQueries) {
  const testing::TemporaryFolder folder;
  put_data(folder, true);
  const std::string data = "evaluate --json --data " + folder / "data" + " --model ";
  std::vector<std::vector<Fields>> rows;
  for (const std::string name : {"one", "two"}) {
    const auto result = run_command(data + learn(folder, name, name == "one" ? 1 : 9) +
                                    " --per-query " + folder / (name + ".csv"));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    rows.push_back(lines_of(folder / (name + ".csv"), ','));
  }
  const auto result = run_command(data + folder / "one" + " --against " + folder / "two");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json answer = Json::parse(result.out);
  EXPECT_EQ(answer["against"]["model"], folder / "two");
  bool differ = false;
  for (std::size_t column = 4; column < rows[0][0].size(); ++column) {
    double sum = 0;
    double squares = 0;
    std::map<int, int> signs;
    for (std::size_t at = 1; at < rows[0].size(); ++at) {
      if (rows[0][at][3] == "0") continue;
      const double difference = std::stod(rows[0][at][column]) - std::stod(rows[1][at][column]);
      sum += difference;
      squares += difference * difference;
      ++signs[(difference > 0 ? 1 : 0) - (difference < 0 ? 1 : 0)];
    }
    const Json found = answer["folds"][0]["against"][rows[0][0][column]];
    EXPECT_NEAR(found["difference"].get<double>(), sum / 39, 1e-12);
    EXPECT_EQ(found["wins"], signs[1]);
    EXPECT_EQ(found["ties"], signs[0]);
    EXPECT_EQ(found["losses"], signs[-1]);
    EXPECT_EQ(found["degrees"], 38);
    EXPECT_NEAR(answer["folds"][0][rows[0][0][column]].get<double>() - found["mean"].get<double>(),
                sum / 39, 1e-12);
    if (squares == 0) continue;
    differ = true;
    const double error = std::sqrt((squares - sum * sum / 39) / 38 / 39);
    EXPECT_NEAR(found["t"].get<double>(), sum / 39 / error, 1e-9);
    constexpr double kReach = 2.02439416391197;  // t's 97.5 % quantile for 38 degrees
    EXPECT_NEAR(found["interval"][0].get<double>(), sum / 39 - kReach * error, 1e-9);
    EXPECT_NEAR(found["interval"][1].get<double>(), sum / 39 + kReach * error, 1e-9);
  }
  EXPECT_TRUE(differ);
}

TEST(EvaluateAgainst, ModelsOfDifferentFeaturesAreEachGivenTheirOwn) {
  const testing::TemporaryFolder folder;
  put_data(folder, true);
  const std::string one = learn(folder, "one", 1);
  const std::string arguments = "simulate --runs 1 --impressions 30 --scaling none --data " +
                                folder / "data" + " --save-model " + folder / "two";
  ASSERT_EQ(run_command(arguments).exit_code, 0);
  const std::string data = "evaluate --json --data " + folder / "data" + " --model ";
  const Json alone = Json::parse(run_command(data + folder / "two").out);
  const Json both = Json::parse(run_command(data + one + " --against " + folder / "two").out);
  EXPECT_EQ(both["folds"][0]["against"]["MAP"]["mean"], alone["folds"][0]["MAP"]);
}

TEST(EvaluateAgainst, PrintsATable) {
  const testing::TemporaryFolder folder;
  put_data(folder, true);
  const std::string model = learn(folder, "m", 1);
  const auto result = run_command("evaluate --data " + folder / "data" + " --model " + model +
                                  " --against " + model);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("95 % interval"));
  EXPECT_THAT(result.out, HasSubstr("+0.0000 to +0.0000"));
}

TEST(EvaluateAgainst, PrintsPValuesAsReportsDo) {
  const testing::TemporaryFolder folder;
  put_data(folder, true);
  const std::string arguments = "evaluate --data " + folder / "data" + " --model " +
                                learn(folder, "one", 1) + " --against " + learn(folder, "two", 2);
  const std::string table = run_command(arguments).out;
  const Json folds = Json::parse(run_command(arguments + " --json").out)["folds"];
  for (const auto& [metric, test] : folds[0]["against"].items()) {
    EXPECT_THAT(table, HasSubstr(fmt::format("  {:.2g}  ", test["p"].get<double>()))) << metric;
  }
}

}  // namespace
}  // namespace plackett
