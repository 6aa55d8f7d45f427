// A small comparison, and a results folder that it grows in.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "plackett/results.h"

namespace plackett::testing {

inline ComparisonSpec small_spec() {
  ComparisonSpec spec = default_comparison();
  spec.methods = {{.entry = parse_method_entry("pdgd").value()},
                  {.entry = parse_method_entry("pdgd:learning-rate=0.01").value()}};
  spec.click_models = {"perfect", "navigational"};
  spec.common.runs = 3;
  spec.common.impressions = 30;
  return spec;
}

// Continues the experiment for `most` more runs.
inline std::size_t go_on(const std::string& folder, const ComparisonSpec& spec, unsigned threads,
                         std::size_t most) {
  std::atomic<std::size_t> stored{0};
  RunOptions options{.threads = threads};
  options.watch.stop = [&] { return stored >= most; };
  FolderWatch watch;
  watch.stored = [&](std::size_t, const RunRecord&) { ++stored; };
  const auto done = run_in_folder(spec, folder, options, watch);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return done ? done->finished() : 0;
}

}  // namespace plackett::testing
