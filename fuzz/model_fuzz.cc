// Model files with any checksum: what is accepted makes a ranker, and is written as it was read.
#include <cstdlib>

#include "plackett/model_file.h"

namespace {

constexpr std::size_t kMostParameters = std::size_t{1} << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto model = plackett::parse_model(bytes, {.name = "input", .check = false});
  if (!model) {
    require(!model.error().message.empty());
    return 0;
  }
  if (model->parameters.size() > kMostParameters) return 0;
  const auto ranker = plackett::restore_ranker(*model);
  require(ranker.ok());
  std::vector<float> parameters(model->parameters.size());
  (*ranker)->get_parameters(parameters);
  require(parameters == model->parameters);
  const auto again = plackett::parse_model(plackett::serialise_model(*model), {});
  require(again.ok());
  require(again->parameters == model->parameters && again->feature_ids == model->feature_ids);
  return 0;
}
