// plackett data synth: made-up data as LETOR text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command.h"
#include "data_commands.h"
#include "dataset/synthetic.h"

namespace plackett::command {
namespace {

// A number that stands in place of the preset's.
struct Override {
  std::uint32_t SyntheticOptions::*number;
  std::optional<std::uint32_t> given;
};

struct SynthOptions {
  std::string folder;
  std::string preset = SyntheticOptions{}.preset;
  std::uint64_t seed = SyntheticOptions{}.seed;
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
  synthetic.seed = options.seed;
  for (const Override& one : options.overrides) {
    if (one.given) synthetic.*one.number = *one.given;
  }
  take(write_synthetic(synthetic, options.folder));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print(
      "{}: made up {} queries in {} fold{}, {} features, labels 0 to {}, {} bytes, {:.1f} s\n",
      options.folder, synthetic.queries, synthetic.folds, synthetic.folds == 1 ? "" : "s",
      synthetic.features, synthetic.grades - 1, bytes_in(options.folder), seconds);
}

}  // namespace

void add_data_synth(CLI::App& data) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = data.add_subcommand("synth", "Make up a dataset and write it as LETOR text");
  command->add_option("folder", options->folder, "a folder that is not there yet")->required();
  command
      ->add_option("--preset", options->preset,
                   fmt::format("what to start from: {}", fmt::join(synthetic_preset_names(), ", ")))
      ->capture_default_str();
  add_seed_option(*command, options->seed, "of all randomness");

  using Options = SyntheticOptions;
  const std::pair<const char*, std::pair<const char*, std::uint32_t Options::*>> numbers[] = {
      {"--folds", {"folds, 1 to 5", &Options::folds}},
      {"--queries", {"queries over train, validation and test", &Options::queries}},
      {"--docs", {"documents a query, on average", &Options::mean_docs}},
      {"--min-docs", {"fewest documents of a query", &Options::min_docs}},
      {"--max-docs", {"most documents of a query", &Options::max_docs}},
      {"--features",
       {"features, those of noise and the constant ones among them", &Options::features}},
      {"--noise-features", {"features that say nothing", &Options::noise_features}},
      {"--constant-features", {"features that never change", &Options::constant_features}},
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
