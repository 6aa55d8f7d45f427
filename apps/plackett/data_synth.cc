// plackett data synth: generated data as LETOR text.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command.h"
#include "plackett/synthetic.h"

namespace plackett::command {
namespace {

// A number in place of the preset's.
struct Override {
  std::uint32_t SyntheticOptions::*number;
  std::optional<std::uint32_t> given;
};

struct SynthOptions {
  std::string folder;
  std::string preset = SyntheticOptions{}.preset;
  SimulationSpec spec;  // of which the seed is read
  std::vector<Override> overrides;
};

std::uint64_t bytes_in(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

void synth(const SynthOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  SyntheticOptions synthetic = take(synthetic_preset(options.preset));
  synthetic.seed = options.spec.seed;
  for (const Override& one : options.overrides) {
    if (one.given) synthetic.*one.number = *one.given;
  }
  take(write_synthetic(synthetic, options.folder));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}: generated {} queries in {}, {} features, labels 0 to {}, {} bytes, {:.1f} s\n",
             options.folder, synthetic.queries, counted(synthetic.folds, "fold"),
             synthetic.features, synthetic.grades - 1, bytes_in(options.folder), seconds);
}

}  // namespace

void add_data_synth(CLI::App& data) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = data.add_subcommand("synth", "Generate a dataset and write it as LETOR text");
  command->add_option("folder", options->folder, "a folder that does not exist yet")->required();
  command->add_option(
      "--preset", options->preset,
      fmt::format("what to start from: {}", fmt::join(synthetic_preset_names(), ", ")));
  add_options(*command, simulation_options(), options->spec, {"seed"});

  using Options = SyntheticOptions;
  const std::pair<const char*, std::pair<const char*, std::uint32_t Options::*>> numbers[] = {
      {"--folds", {"folds, 1 to 5", &Options::folds}},
      {"--queries", {"queries over train, validation and test", &Options::queries}},
      {"--docs", {"documents per query, on average", &Options::mean_docs}},
      {"--min-docs", {"fewest documents per query", &Options::min_docs}},
      {"--max-docs", {"most documents per query", &Options::max_docs}},
      {"--features", {"features, including noise and constant ones", &Options::features}},
      {"--noise-features", {"random features", &Options::noise_features}},
      {"--constant-features", {"constant features", &Options::constant_features}},
      {"--grades", {"labels, 3 or 5", &Options::grades}},
  };
  options->overrides.reserve(std::size(numbers));  // the options below point into it
  for (const auto& [name, what] : numbers) {
    options->overrides.push_back({what.second, std::nullopt});
    command
        ->add_option(name, options->overrides.back().given,
                     fmt::format("{} (the preset's; {} in {})", what.first, Options{}.*what.second,
                                 Options{}.preset))
        ->type_name("UINT");
  }
  command->callback([options] { synth(*options); });
}

}  // namespace plackett::command
