// plackett explain: what PDGD infers from shown rankings and their clicks.
#include <fmt/format.h>

#include <iostream>
#include <limits>
#include <memory>
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

// The numbers of an array; make_ranking checks their values.
template <typename Number>
Result<std::vector<Number>> array(const Json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_array()) {
    return Error{fmt::format("\"{}\" is missing or not an array", key)};
  }
  std::vector<Number> numbers;
  for (const Json& element : *found) {
    constexpr bool kReal = std::is_floating_point_v<Number>;
    const bool fits =
        kReal ? element.is_number()
              : (sizeof(Number) == 1 && element.is_boolean()) ||
                    (element.is_number_unsigned() && element <= std::numeric_limits<Number>::max());
    if (!fits) {
      return Error{fmt::format("{}: {}; expected {}", key, element.dump(),
                               kReal ? "numbers" : "integers from 0")};
    }
    numbers.push_back(element.get<Number>());
  }
  return numbers;
}

Result<Json> explanation(const Json& line, const PairRules& rules, PairInference& inference) {
  if (!line.is_object()) return Error{"not a JSON object"};
  const auto scores = array<double>(line, "scores");
  if (!scores) return scores.error();
  const auto shown = array<std::uint32_t>(line, "ranking");
  if (!shown) return shown.error();
  const auto clicks = array<std::uint8_t>(line, "clicks");
  if (!clicks) return clicks.error();
  const ShownList list{.scores = *scores, .ranking = *shown, .clicks = *clicks};
  const auto ranking = make_ranking(list);
  if (!ranking) return ranking.error();

  Json answer = Json::object();
  if (const auto name = line.find("name"); name != line.end() && name->is_string()) {
    answer["name"] = *name;
  }
  for (const char* key : {"scores", "ranking", "clicks"}) answer[key] = line[key];
  answer["log_probability"] =
      shown->empty() ? 0.0 : log_probability(ranking->scores, ranking->rest);
  answer["pairs"] = Json::array();
  for (const WeightedPair& pair : inference.infer(*ranking, *clicks)) {
    answer["pairs"].push_back({{"winner_rank", pair.winner_rank},
                               {"loser_rank", pair.loser_rank},
                               {"rho", pair.rho},
                               {"weight", pair.weight}});
  }
  answer["document_weight"] = document_weights(list, rules).value();
  return answer;
}

void explain(const PairRules& rules) {
  std::ios::sync_with_stdio(false);
  PairInference inference(rules);
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
    const Result<Json> answer = line.is_discarded() ? Result<Json>(Error{"not valid JSON"})
                                                    : explanation(line, rules, inference);
    if (answer) {
      print_json(*answer);
    } else {
      fmt::print(stderr, "line {}: {}\n", number, answer.error().message);
      any_wrong = true;
    }
  }
  if (any_wrong) throw Exit(kNegative, "");
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "JSON lines {scores, ranking, clicks} on stdin -> pairs, rho, weights on stdout");
  const auto options = std::make_shared<PairOptions>();
  add_pair_options(*command, *options);
  command->callback([options] { explain(options->rules()); });
}

}  // namespace plackett::command
