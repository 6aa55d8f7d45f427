// Embedded data, made up by a seeded generator: what to try things on where no real data is.
// What it looks like and what it is not good for: docs/synthetic.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/result.h"

namespace plackett {

struct SyntheticOptions {
  std::string preset = "default";  // the name it goes by; says nothing about the rest
  std::uint64_t seed = 1;
  // The queries form 5 parts; fold f trains on 3 of them, validates on the next and tests on
  // the last, all rotated by f.
  std::uint32_t folds = 5;       // 1 to 5
  std::uint32_t queries = 800;   // over all parts, at least 5
  std::uint32_t min_docs = 10;   // documents a query
  std::uint32_t mean_docs = 20;  // before the cut at max_docs
  std::uint32_t max_docs = 40;
  std::uint32_t features = 46;  // of which:
  std::uint32_t noise_features = 8;
  std::uint32_t constant_features = 4;
  std::uint32_t grades = 5;  // 3 or 5
};

// The parameters of a preset; the error names those there are.
Result<SyntheticOptions> synthetic_preset(std::string_view name);
std::vector<std::string> synthetic_preset_names();

// The data, as load_dataset would give it had it been read from files.
// Deterministic in `options`; a query's documents are the same whatever the number of queries,
// folds or threads.
Result<Dataset> make_synthetic(const SyntheticOptions& options, const LoadOptions& load);

// Writes the data as LETOR text, folder/Fold1/train.txt and so on; loading that gives the same
// dataset as make_synthetic but for its name and origin (and for max_label, where so few
// documents were asked for that none has the highest). The folder appears when all is written;
// it must not be there before.
Result<void> write_synthetic(const SyntheticOptions& options, const std::filesystem::path& folder);

}  // namespace plackett
