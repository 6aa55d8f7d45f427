// plackett explain: what PDGD infers from shown rankings and their clicks.
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

Result<Impression> read_impression(const Json& line) {
  if (!line.is_object()) return Error{"not a JSON object"};
  for (const char* key : {"scores", "ranking", "clicks"}) {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_array()) {
      return Error{fmt::format("\"{}\" is missing or not an array", key)};
    }
  }
  Impression impression;
  for (const Json& score : line["scores"]) {
    if (!score.is_number() || !std::isfinite(score.get<double>())) {
      return Error{fmt::format("score {}; scores are finite numbers", score.dump())};
    }
    impression.scores.push_back(score.get<double>());
  }
  std::vector<std::uint32_t> shown;
  for (const Json& doc : line["ranking"]) {
    if (!doc.is_number_unsigned() || doc.get<std::uint64_t>() >= impression.scores.size()) {
      return Error{fmt::format("document {} in the ranking; documents are 0 to {}", doc.dump(),
                               static_cast<std::int64_t>(impression.scores.size()) - 1)};
    }
    shown.push_back(doc.get<std::uint32_t>());
  }
  for (const Json& click : line["clicks"]) {
    const bool flag =
        click.is_boolean() || (click.is_number_integer() && (click == 0U || click == 1U));
    if (!flag) {
      return Error{fmt::format("click {}; a click is 0 or 1", click.dump())};
    }
    impression.clicks.push_back(click == true || click == 1U ? 1 : 0);
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
    // A line is an object of arrays; deeper values are dropped while parsing, so that deep nesting
    // costs no stack.
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
    print_json(explanation(line, *impression, inference));
  }
  if (any_wrong) throw Exit(kNegative, "");
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "JSON lines {scores, ranking, clicks} on stdin -> pairs, rho, weights on stdout");
  command->callback([] { explain(); });
}

}  // namespace plackett::command
