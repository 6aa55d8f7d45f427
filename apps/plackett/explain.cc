// plackett explain: what PDGD would make of shown rankings and their clicks.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "plackett/document_weights.h"
#include "plackett/pairs.h"
#include "plackett/plackett_luce.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;

struct Impression {
  std::vector<double> scores;
  Ranking ranking;
  std::vector<std::uint8_t> clicks;
};

const Json* find_array(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found == line.end() || !found->is_array() ? nullptr : &*found;
}

Result<Impression> read_impression(const Json& line) {
  if (!line.is_object()) return Error{"not a JSON object"};
  for (const char* key : {"scores", "ranking", "clicks"}) {
    if (find_array(line, key) == nullptr) {
      return Error{fmt::format("\"{}\" is missing or not an array", key)};
    }
  }
  Impression impression;
  for (const Json& score : *find_array(line, "scores")) {
    if (!score.is_number() || !std::isfinite(score.get<double>())) {
      return Error{fmt::format("score {}; scores are finite numbers", score.dump())};
    }
    impression.scores.push_back(score.get<double>());
  }
  std::vector<std::uint32_t> shown;
  for (const Json& doc : *find_array(line, "ranking")) {
    const bool known = doc.is_number_integer() && doc.get<std::int64_t>() >= 0 &&
                       doc.get<std::uint64_t>() < impression.scores.size();
    if (!known) {
      return Error{fmt::format("document {} in the ranking; documents are 0 to {}", doc.dump(),
                               static_cast<std::int64_t>(impression.scores.size()) - 1)};
    }
    shown.push_back(doc.get<std::uint32_t>());
  }
  for (const Json& click : *find_array(line, "clicks")) {
    const bool flag =
        click.is_boolean() || (click.is_number_integer() && (click == 0 || click == 1));
    if (!flag) return Error{fmt::format("click {}; a click is 0 or 1", click.dump())};
    impression.clicks.push_back(click.is_boolean() ? (click.get<bool>() ? 1 : 0)
                                                   : click.get<std::uint8_t>());
  }
  auto ranking =
      make_ranking({.scores = impression.scores, .ranking = shown, .clicks = impression.clicks});
  if (!ranking) return ranking.error();
  impression.ranking = std::move(ranking).value();
  return impression;
}

Json explanation(const Json& line, const Impression& impression, PairInference& inference) {
  Json answer = Json::object();
  if (const auto name = line.find("name"); name != line.end() && name->is_string()) {
    answer["name"] = *name;
  }
  for (const char* key : {"scores", "ranking", "clicks"}) answer[key] = line[key];
  const Ranking& ranking = impression.ranking;
  answer["log_probability"] =
      ranking.shown.empty() ? 0.0 : log_probability(ranking.scores, ranking.rest);

  const auto pairs = inference.infer(ranking, impression.clicks);
  answer["pairs"] = Json::array();
  for (const WeightedPair& pair : pairs) {
    answer["pairs"].push_back({{"winner_rank", pair.winner_rank},
                               {"loser_rank", pair.loser_rank},
                               {"rho", pair.rho},
                               {"weight", pair.weight}});
  }
  std::vector<double> by_rank(ranking.shown.size());
  sum_by_rank(pairs, by_rank);
  std::vector<double> by_doc(impression.scores.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    by_doc[index(ranking.shown[rank])] = by_rank[rank];
  }
  answer["document_weight"] = by_doc;
  return answer;
}

void explain() {
  std::ios::sync_with_stdio(false);
  PairInference inference;
  std::string text;
  bool any_wrong = false;
  for (std::uint64_t number = 1; std::getline(std::cin, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    // A line is an object of arrays; whatever lies deeper is dropped while it is read, so that
    // no depth of nesting costs stack.
    constexpr int kDepth = 3;
    const Json line = Json::parse(
        text, [](int depth, Json::parse_event_t, Json&) { return depth < kDepth; },
        /*allow_exceptions=*/false);
    Result<Impression> impression =
        line.is_discarded() ? Result<Impression>(Error{"not valid JSON"}) : read_impression(line);
    if (!impression) {
      fmt::print(stderr, "line {}: {}\n", number, impression.error().message);
      any_wrong = true;
      continue;
    }
    // A name with bytes that are no UTF-8 is replaced, never a reason to stop.
    std::cout << explanation(line, *impression, inference)
                     .dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
  }
  std::cout.flush();
  if (!std::cout) fail(Error{"standard output: can't write"});
  if (any_wrong) throw Exit(kNegative, "");
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "JSON lines {scores, ranking, clicks} on stdin -> pairs, rho, weights on stdout");
  command->callback([] { explain(); });
}

}  // namespace plackett::command
