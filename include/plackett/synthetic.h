// Synthetic data from a seeded generator, to try things without real data. What it looks like and
// what it is not good for: docs/synthetic.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// What is generated. The queries form 5 parts; fold f trains on 3 of them, validates on the next
// and tests on the last, all rotated by f.
struct SyntheticOptions {
  std::string preset = "default";       // a name for this set of options
  std::uint64_t seed = 1;               // of all random numbers
  std::uint32_t folds = 5;              // 1 to 5
  std::uint32_t queries = 800;          // over all parts, at least 5
  std::uint32_t min_docs = 10;          // documents per query
  std::uint32_t mean_docs = 20;         // before the cut at max_docs
  std::uint32_t max_docs = 40;          // documents per query
  std::uint32_t features = 46;          // in all
  std::uint32_t noise_features = 8;     // of those, random
  std::uint32_t constant_features = 4;  // of those, constant
  std::uint32_t grades = 5;             // 3 or 5
};

// The options of a preset; the error lists the known ones.
PLACKETT_EXPORT Result<SyntheticOptions> synthetic_preset(std::string_view name);
// The names of all presets.
PLACKETT_EXPORT std::vector<std::string> synthetic_preset_names();

// The data, as load_dataset would return it if it were read from files. Deterministic in `options`;
// a query's documents do not depend on the number of queries, folds or threads.
PLACKETT_EXPORT Result<Dataset> make_synthetic(const SyntheticOptions& options,
                                               const LoadOptions& load);

// Writes the data as LETOR text: folder/Fold1/train.txt and so on. Loading it gives the dataset of
// make_synthetic, except name and origin (and max_label, if there are so few documents that none
// has the highest). The folder must not exist; it appears when everything is written.
PLACKETT_EXPORT Result<void> write_synthetic(const SyntheticOptions& options,
                                             const std::filesystem::path& folder);

}  // namespace plackett
