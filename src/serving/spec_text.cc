#include "serving/spec_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>

namespace plackett::serving {
namespace {

template <typename T>
bool read_whole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_list(std::string_view text, std::vector<std::uint32_t>& list) {
  list.clear();
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    std::uint32_t value = 0;
    if (!read_whole(text.substr(0, space), value)) return false;
    list.push_back(value);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return true;
}

bool read_field(std::string_view key, std::string_view value, ModelSpec& spec) {
  if (key == "name") {
    spec.name = value;
    return true;
  }
  if (key == "feature") {
    spec.feature_names.emplace_back(value);
    return true;
  }
  if (key == "ranker") {
    const auto kind = parse_ranker_kind(value);
    if (kind) spec.ranker.kind = *kind;
    return kind.ok();
  }
  if (key == "activation") {
    const auto activation = parse_activation(value);
    if (activation) spec.ranker.activation = *activation;
    return activation.ok();
  }
  if (key == "setting") {
    const std::size_t space = value.find(' ');
    if (space == std::string_view::npos) return false;
    spec.settings.push_back(
        {std::string(value.substr(0, space)), std::string(value.substr(space + 1))});
    return true;
  }
  if (key == "learner") {
    spec.learner = value;
    return true;
  }
  if (key == "scaling") {
    spec.scaling = value;
    return true;
  }
  if (key == "features") return read_whole(value, spec.ranker.feature_count);
  if (key == "hidden") return read_list(value, spec.ranker.hidden);
  if (key == "feature_ids") return read_list(value, spec.feature_ids);
  if (key == "shown") return read_whole(value, spec.shown);
  if (key == "seed") return read_whole(value, spec.seed);
  if (key == "open_seconds") return read_whole(value, spec.open_seconds);
  if (key == "temperature") return read_whole(value, spec.temperature);
  return false;
}

}  // namespace

std::string to_text(const ModelSpec& spec) {
  std::string text;
  const auto line = [&text](std::string_view key, const auto& value) {
    text += fmt::format("{} {}\n", key, value);
  };
  line("name", spec.name);
  line("features", spec.ranker.feature_count);
  for (const std::string& name : spec.feature_names) line("feature", name);
  line("feature_ids", fmt::format("{}", fmt::join(spec.feature_ids, " ")));
  line("ranker", name_of(spec.ranker.kind));
  line("hidden", fmt::format("{}", fmt::join(spec.ranker.hidden, " ")));
  line("activation", name_of(spec.ranker.activation));
  line("learner", spec.learner);
  for (const GivenSetting& setting : spec.settings) {
    line("setting", setting.name + " " + setting.value);
  }
  line("shown", spec.shown);
  line("scaling", spec.scaling);
  line("seed", spec.seed);
  line("temperature", spec.temperature);
  line("open_seconds", spec.open_seconds);
  return text;
}

Result<ModelSpec> parse_spec_text(std::string_view text) {
  ModelSpec spec;
  spec.ranker.hidden.clear();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view value = space == line.size() ? "" : line.substr(space + 1);
    if (!read_field(line.substr(0, space), value, spec)) {
      return Error{
          fmt::format("the store's spec of a model has a line \"{}\"; that is no field of "
                      "this version",
                      line)};
    }
  }
  return check(std::move(spec));
}

}  // namespace plackett::serving
