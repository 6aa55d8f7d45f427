#include "experiment/runs_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/hash.h"

namespace plackett {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "plackett-runs";
constexpr std::string_view kRunKind = "run";
constexpr int kVersion = 2;
constexpr std::string_view kChecksumKey = "{\"checksum\":\"";
constexpr std::size_t kHexDigits = 16;
// Where the part of a line starts that its checksum covers.
constexpr std::size_t kBody = kChecksumKey.size() + kHexDigits + 2;

// With quotes; bytes that are not UTF-8 are replaced.
std::string json_text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The shortest text that reads back to the same double; JSON readers drop the sign of "-0".
std::string number(double value) {
  return value == 0 && std::signbit(value) ? "-0.0" : fmt::format("{}", value);
}

// `body` is everything after the checksum, with the closing brace.
std::string sealed(const std::string& body) {
  const std::uint64_t sum = checksum(std::string_view(body));
  return fmt::format("{}{}\",{}\n", kChecksumKey, hex(sum), body);
}

std::uint64_t from_hex(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

template <typename Element, typename Value>
std::string array(const std::vector<Element>& elements, Value value) {
  std::string out;
  for (const Element& point : elements) out += (out.empty() ? "" : ",") + value(point);
  return "[" + out + "]";
}

bool sound_curve(const std::vector<CurvePoint>& curve) {
  std::uint64_t last = 0;
  for (const CurvePoint& point : curve) {
    if (point.impression <= last || !std::isfinite(point.offline) || !std::isfinite(point.online)) {
      return false;
    }
    last = point.impression;
  }
  return last > 0;
}

// The caller writes the run again to see whether the line was valid.
std::optional<FinishedRun> read_run(const Json& json) {
  try {
    FinishedRun run;
    run.cell = from_hex(json.at("cell").get<std::string>());
    json.at("dataset").get_to(run.dataset);
    json.at("method").get_to(run.method);
    json.at("click_model").get_to(run.click_model);
    json.at("user").get_to(run.user);
    run.data = from_hex(json.at("data").get<std::string>());
    run.published = json.value("published", std::string());
    run.user_file = from_hex(json.at("user_file").get<std::string>());
    json.at("run").get_to(run.record.run);
    json.at("fold").get_to(run.record.fold);
    const auto impression = json.at("impression").get<std::vector<std::uint64_t>>();
    const auto offline = json.at("offline").get<std::vector<double>>();
    const auto online = json.at("online").get<std::vector<double>>();
    if (offline.size() != impression.size() || online.size() != impression.size()) return {};
    for (std::size_t at = 0; at < impression.size(); ++at) {
      run.record.curve.push_back({impression[at], offline[at], online[at]});
    }
    if (!sound_curve(run.record.curve)) return {};
    const Json metrics = json.value("metrics", Json::array());
    for (const Json& metric : metrics) {
      run.record.metrics.push_back({metric.at("name"), metric.at("values")});
      if (run.record.metrics.back().values.size() != impression.size()) return {};
    }
    if (json.contains("validation")) json.at("validation").get_to(run.record.validation);
    if (json.contains("windows")) {
      const auto shown = json.at("windows").at("online").get<std::vector<double>>();
      const auto best = json.at("windows").at("best").get<std::vector<double>>();
      if (shown.size() != best.size()) return {};
      for (std::size_t at = 0; at < shown.size(); ++at) {
        if (!std::isfinite(shown[at]) || !std::isfinite(best[at])) return {};
        run.record.windows.push_back({shown[at], best[at]});
      }
    }
    if (json.contains("restarts")) run.record.restarts = json.at("restarts").get<std::uint64_t>();
    const Json files = json.value("drift_files", Json::object());
    for (const auto& [file, sum] : files.items()) {
      run.drift_files[file] = from_hex(sum.get<std::string>());
    }
    return run;
  } catch (const Json::exception&) {
    return {};
  }
}

// Whether `line`, without its break, is `written`; ignores the checksum unless `check`.
bool same(std::string_view line, std::string_view written, bool check) {
  written.remove_suffix(1);
  const std::size_t from = check ? 0 : kBody;
  return line.size() == written.size() && line.substr(from) == written.substr(from);
}

Result<RunsHeader> parse_header(std::string_view line, const ParseRunsOptions& options) {
  const Error no_header{fmt::format("{}:1: not a results file", options.name)};
  if (line.size() < kBody || !line.starts_with(kChecksumKey)) return no_header;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.value("kind", Json()) != kMagic) return no_header;
  RunsHeader header;
  try {
    if (const int version = json.at("version").get<int>(); version != kVersion) {
      return Error{fmt::format("{}:1: format version {}; this plackett reads version {}",
                               options.name, version, kVersion)};
    }
    json.at("plackett").get_to(header.plackett);
  } catch (const Json::exception&) {
    return no_header;
  }
  if (!same(line, to_line(header), options.check)) {
    return Error{fmt::format("{}:1: damaged; its checksum does not match", options.name)};
  }
  return header;
}

std::optional<FinishedRun> parse_run(std::string_view line, const ParseRunsOptions& options) {
  if (line.size() < kBody || !line.starts_with(kChecksumKey)) return {};
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return {};
  auto run = read_run(json);
  if (!run || !same(line, to_line(*run), options.check)) return {};
  return run;
}

}  // namespace

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::string to_line(const RunsHeader& header) {
  return sealed(fmt::format(R"("kind":"{}","version":{},"plackett":{}}})", kMagic, kVersion,
                            json_text(header.plackett)));
}

std::string to_line(const FinishedRun& run) {
  const auto& curve = run.record.curve;
  std::string body =
      fmt::format(R"("kind":"{}","cell":"{}","dataset":{},"method":{},"click_model":{},"user":{},)",
                  kRunKind, hex(run.cell), json_text(run.dataset), json_text(run.method),
                  json_text(run.click_model), json_text(run.user));
  body += fmt::format(R"("data":"{}",)", hex(run.data));
  if (!run.published.empty()) body += fmt::format(R"("published":{},)", json_text(run.published));
  body += fmt::format(R"("user_file":"{}","run":{},"fold":{},)", hex(run.user_file), run.record.run,
                      run.record.fold);
  body += fmt::format(
      R"("impression":{},"offline":{},"online":{})",
      array(curve, [](const CurvePoint& point) { return fmt::format("{}", point.impression); }),
      array(curve, [](const CurvePoint& point) { return number(point.offline); }),
      array(curve, [](const CurvePoint& point) { return number(point.online); }));
  for (const MetricCurve& metric : run.record.metrics) {
    const bool first = &metric == &run.record.metrics.front();
    std::vector<std::string> values;
    for (const double value : metric.values) values.push_back(number(value));
    body += fmt::format(R"({}{{"name":{},"values":[{}]}})", first ? ",\"metrics\":[" : ",",
                        json_text(metric.name), fmt::join(values, ","));
  }
  if (!run.record.metrics.empty()) body += "]";
  if (std::isfinite(run.record.validation)) {
    body += fmt::format(R"(,"validation":{})", number(run.record.validation));
  }
  if (const auto& windows = run.record.windows; !windows.empty()) {
    body += fmt::format(R"(,"windows":{{"online":{},"best":{}}})",
                        array(windows, [](const Window& one) { return number(one.online); }),
                        array(windows, [](const Window& one) { return number(one.best); }));
  }
  if (run.record.restarts) body += fmt::format(R"(,"restarts":{})", *run.record.restarts);
  for (const auto& [file, sum] : run.drift_files) {
    const bool first = file == run.drift_files.begin()->first;
    body +=
        fmt::format(R"({}{}:"{}")", first ? ",\"drift_files\":{" : ",", json_text(file), hex(sum));
  }
  if (!run.drift_files.empty()) body += "}";
  return sealed(body + "}");
}

std::string to_line(const FinishedRun& run, const RunTiming& timing) {
  return fmt::format(R"({{"cell":"{}","run":{},"seconds":{:.6f},"evaluation_seconds":{:.6f},)"
                     R"("threads":{}}})"
                     "\n",
                     hex(run.cell), run.record.run, timing.seconds, timing.evaluation_seconds,
                     timing.threads);
}

Result<RunsFile> parse_runs(std::string_view text, const ParseRunsOptions& options) {
  const std::size_t first = text.find('\n');
  auto header = parse_header(text.substr(0, first), options);
  if (!header) return header.error();
  if (first == std::string_view::npos) {
    return Error{fmt::format("{}:1: the first line is incomplete", options.name)};
  }
  RunsFile file;
  file.header = std::move(header).value();
  text.remove_prefix(first + 1);
  for (std::size_t line = 2; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    std::optional<FinishedRun> run;
    if (end != std::string_view::npos) run = parse_run(text.substr(0, end), options);
    if (run) {
      file.runs.push_back(std::move(*run));
      file.line_of_runs.push_back(line);
    } else {
      file.damaged.push_back(line);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return file;
}

std::map<RunKey, RunTiming> parse_timings(std::string_view text) {
  std::map<RunKey, RunTiming> timings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    try {
      const Json json = Json::parse(line);
      const RunKey key{from_hex(json.at("cell").get<std::string>()), json.at("run")};
      timings.insert_or_assign(key, RunTiming{json.at("seconds"), json.at("evaluation_seconds"),
                                              std::max(1U, json.at("threads").get<unsigned>())});
    } catch (const Json::exception&) {
      continue;
    }
  }
  return timings;
}

}  // namespace plackett
