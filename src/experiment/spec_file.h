// A comparison as TOML. Every key with its meaning and default: docs/experiments.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "plackett/comparison_spec.h"
#include "plackett/result.h"

namespace plackett {

// Keys that the text leaves out stand as in default_comparison(). Fails with "name:line: value;
// rule" on the first thing that is wrong; whether it can run is for check() to say. `name` stands
// first in errors.
Result<ComparisonSpec> parse_spec(std::string_view text, const std::string& name);

Result<ComparisonSpec> read_spec(const std::filesystem::path& path);

// The spec with every key spelled out, always in the same form: parse_spec gives the same spec
// back, and two specs are the same where their texts are.
std::string to_toml(const ComparisonSpec& spec);

}  // namespace plackett
