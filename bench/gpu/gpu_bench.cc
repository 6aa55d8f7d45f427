// How fast a GPU does runs of PDGD or another method, as shares of what limits it:
//
//   gpu_bench [--quick] [--method NAME] [--runs N] [--impressions N] [--shape NAME]
//             [--test-queries N]
//   gpu_bench --host [--runs N] [--shape NAME]
//
// NAME is a method as compare takes it: pdgd:neural:steps=adagrad. Memory limits PDGD, pairwise and
// DBGD with linear rankers: an impression reads all its query's features at least once, as fast as
// a copy, which is measured first. Instructions limit MGD, and multiply-adds networks: both are
// counted, and taken at the card's highest clock. Beside the figures are the targets of the shapes
// that have one, and whether they were measured higher before; they are an H200's. Every run must
// be delivered once, and some are compared with the engine's own, which must be the same to the
// bit. Needs nothing but a driver; without a usable GPU it says why and ends with 0.
//
// --host needs no GPU: it times what the processor does for runs of five methods, on a device that
// keeps and computes nothing.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/kernels.h"
#include "bench_data.h"
#include "experiment/run_inputs.h"
#include "gpu/device_method.h"
#include "gpu/gpu_backend.h"
#include "gpu/run_checks.h"
#include "gpu/run_limits.h"
#include "measure.h"
#include "plackett/method_entry.h"
#include "plackett/simulation.h"

namespace plackett::bench {
namespace {

struct Case {
  std::string_view name;
  Shape shape;
  std::uint32_t test_queries;
};

// What a fold of these datasets has, roughly: training queries, documents of each, features.
constexpr Case kCases[] = {{"mslr", {136, 125, 6'000}, 2'000},
                           {"mq2008", {46, 19, 470}, 157},
                           {"yahoo", {699, 24, 20'000}, 6'700},
                           {"istella", {220, 315, 5'000}, 1'000}};

struct Settings {
  std::string method = "pdgd";
  std::uint32_t runs = 8'448;
  std::uint64_t impressions = 4'000;
  std::string shape;               // empty: all
  std::uint32_t test_queries = 0;  // 0: the shape's own
  bool quick = false;
  bool host = false;
};

// Takes no time. Has the size of an H200.
class NoDevice final : public gpu::Device {
 public:
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Result<gpu::DeviceLimits> limits() override {
    return gpu::DeviceLimits{.free_bytes = std::uint64_t{139} << 30,
                             .shared_bytes = 227 << 10,
                             .all_shared_bytes = 228 << 10,
                             .processors = 132};
  }
  [[nodiscard]] Result<void*> allocate(std::uint64_t /*bytes*/) override { return &memory_; }
  void free(void* /*memory*/) override {}
  Result<void> upload(void* /*to*/, const void* /*from*/, std::uint64_t bytes) override {
    uploaded_ += bytes;
    return {};
  }
  Result<void> copy(void* /*to*/, const void* /*from*/, std::uint64_t /*bytes*/) override {
    return {};
  }
  Result<void> download(void* /*to*/, const void* /*from*/, std::uint64_t /*bytes*/) override {
    return {};
  }
  Result<void> launch(const gpu::Launch& /*launch*/) override { return {}; }
  Result<void> finish() override { return {}; }

  [[nodiscard]] std::uint64_t uploaded() const { return uploaded_; }  // bytes

 private:
  std::string name_ = "no device";
  std::byte memory_{};
  std::atomic<std::uint64_t> uploaded_ = 0;
};

// A large copy's bytes read and written per second.
Result<double> copy_bandwidth(gpu::Device& device) {
  constexpr int kCopies = 5;
  const auto limits = device.limits();
  if (!limits) return limits.error();
  const std::uint64_t size = std::min(std::uint64_t{4} << 30, limits->free_bytes / 4);
  const auto from = gpu::DeviceMemory::make(device, size);
  if (!from) return from.error();
  const auto to = gpu::DeviceMemory::make(device, size);
  if (!to) return to.error();
  std::vector<double> seconds;
  for (int repeat = 0; repeat < kCopies; ++repeat) {
    Result<void> done;
    seconds.push_back(seconds_of([&] {
      done = device.copy(to->as<void>(), from->as<const void>(), size);
      if (done) done = device.finish();
    }));
    if (!done) return done.error();
  }
  return 2 * static_cast<double>(size) / median(seconds);
}

// False if a run is not the engine's, or not delivered once.
bool measure(Backend& backend, const Case& one, const Settings& settings, const Card& card) {
  Shape shape = one.shape;
  std::uint32_t test_queries = settings.test_queries > 0 ? settings.test_queries : one.test_queries;
  if (settings.quick) {
    shape.queries = 100;
    test_queries = 50;
  }
  Dataset data = make_dataset(shape);
  data.folds.front().test = make_split({shape.features, shape.docs, test_queries});
  SimulationSpec spec;
  apply(parse_method_entry(settings.method).value(), spec);
  spec.click_model = "informational";
  spec.runs = settings.runs;
  spec.impressions = settings.impressions;
  const std::vector<Simulation> simulations{Simulation::prepare(data, spec).value()};
  double learning = 0;
  double measuring = 0;
  std::vector<RunRecord> records(spec.runs);
  Delivered delivered(spec.runs);
  const auto keep = [&](const Job& job, RunRecord record) -> Result<void> {
    learning += record.seconds - record.evaluation_seconds;
    measuring += record.evaluation_seconds;
    delivered.add(job.run);
    records[job.run] = std::move(record);
    return {};
  };
  const double wall = seconds_of([&] {
    run_jobs({simulations, run_major(simulations)}, backend, {}, keep).value();
  });
  bool right = delivered.each_once();
  std::uint32_t checked = 0;
  for (std::uint32_t run = 0; run < spec.runs; run += spec.runs / 4 + 1, ++checked) {
    right = right && same(records[run], simulations.front().run(run, {}).value());
  }
  const double impressions =
      static_cast<double>(delivered.runs()) * static_cast<double>(spec.impressions);
  const double rate = impressions / learning;
  const auto learner = RunInputs(simulations.front()).learner(0).value();
  const Limit limit =
      limit_of(gpu::device_method(simulations.front().spec(), *learner).value(), shape, card);
  const double share = rate / limit.rate;
  const double points = static_cast<double>(records.front().curve.size()) * delivered.runs();
  fmt::print(
      "{:<8} {:<8} {:>3} x {:<3} {:>6} runs  {:7.2f} M impressions/s, {:.2f} of {:.1f}: {}{}  "
      "evaluation {:4.1f} % of the time, {:.1f} M queries/s  all {:.1f} s  {}\n",
      settings.method, one.name, shape.features, shape.docs, delivered.runs(), rate * 1e-6, share,
      limit.rate * 1e-6, limit.basis,
      settings.quick ? "" : target_text(settings.method, one.name, rate, share),
      100 * measuring / (learning + measuring), points * test_queries / measuring * 1e-6, wall,
      right ? fmt::format("{} runs have the engine's bits", checked) : "WRONG");
  return right;
}

// What the processor does for runs of several methods on one dataset.
void measure_host(const Case& one, const Settings& settings) {
  Dataset data = make_dataset(one.shape);
  data.folds.front().test = make_split({one.shape.features, one.shape.docs, one.test_queries});
  std::vector<Simulation> simulations;
  for (const char* method : {"pdgd", "pairwise", "dbgd", "mgd", "pdgd:neural"}) {
    SimulationSpec spec;
    apply(parse_method_entry(method).value(), spec);
    spec.click_model = "informational";
    spec.runs = settings.runs;
    spec.impressions = settings.impressions;
    simulations.push_back(Simulation::prepare(data, spec).value());
  }
  auto device = std::make_unique<NoDevice>();
  const NoDevice& counted = *device;
  const auto backend = gpu::make_device_backend(std::move(device));
  const auto keep = [](const Job&, const RunRecord&) { return Result<void>(); };
  const std::clock_t start = std::clock();
  const double seconds = seconds_of([&] {
    run_jobs({simulations, run_major(simulations)}, *backend, {}, keep).value();
  });
  const double of_cores = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print("{:<8} {} methods, {} runs each: {:.2f} s, {:.2f} s of the cores, {:.2f} GB sent\n",
             one.name, simulations.size(), settings.runs, seconds, of_cores,
             1e-9 * static_cast<double>(counted.uploaded()));
}

int run(const Settings& settings) {
  if (settings.host) {
    for (const Case& one : kCases) {
      if (settings.shape.empty() || settings.shape == one.name) measure_host(one, settings);
    }
    return EXIT_SUCCESS;
  }
  auto opened = gpu::open_gpu();
  if (!opened) {
    fmt::print("{}\n", opened.error().message);
    return EXIT_SUCCESS;
  }
  auto device = std::move(opened).value();
  const auto measured = copy_bandwidth(*device);
  const auto limits = device->limits();
  if (!measured || !limits) {
    fmt::print(stderr, "{}\n", (measured ? limits.error() : measured.error()).message);
    return EXIT_FAILURE;
  }
  const Card card{
      .bandwidth = *measured, .processors = limits->processors, .clock_hz = limits->clock_hz};
  fmt::print("{}, a copy moves {:.2f} TB/s; engine's kernels: {}\n", device->name(),
             card.bandwidth * 1e-12, kernels().name);
  const auto backend = gpu::make_device_backend(std::move(device));
  bool right = true;
  for (const Case& one : kCases) {
    if (!settings.shape.empty() && settings.shape != one.name) continue;
    right = measure(*backend, one, settings, card) && right;
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace plackett::bench

namespace {

// Ends the benchmark if the value is none.
std::uint32_t positive(std::string_view option, const char* value) {
  std::uint32_t number = 0;
  const std::string_view text = value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number > 0) return number;
  fmt::print(stderr, "{} {}; expected an integer from 1 on\n", option, value);
  std::exit(EXIT_FAILURE);
}

}  // namespace

int main(int count, char** arguments) {
  plackett::bench::Settings settings;
  for (int at = 1; at < count; ++at) {
    const std::string_view option = arguments[at];
    const bool has_value = at + 1 < count;
    if (option == "--quick") {
      settings.quick = true;
      settings.runs = 64;
      settings.impressions = 100;
    } else if (option == "--host") {
      settings.host = true;
    } else if (option == "--runs" && has_value) {
      settings.runs = positive(option, arguments[++at]);
    } else if (option == "--impressions" && has_value) {
      settings.impressions = positive(option, arguments[++at]);
    } else if (option == "--test-queries" && has_value) {
      settings.test_queries = positive(option, arguments[++at]);
    } else if (option == "--method" && has_value) {
      settings.method = arguments[++at];
      if (const auto entry = plackett::parse_method_entry(settings.method); !entry) {
        fmt::print(stderr, "{}\n", entry.error().message);
        return EXIT_FAILURE;
      }
    } else if (option == "--shape" && has_value) {
      settings.shape = arguments[++at];
    } else {
      fmt::print(stderr, "unknown option {}\n", option);
      return EXIT_FAILURE;
    }
  }
  return plackett::bench::run(settings);
}
