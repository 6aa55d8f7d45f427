// The cache's reader on any bytes. Checksums are computed but not compared when the first pass
// is made, or mutations would never get past them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "dataset/cache.h"
#include "dataset/info.h"

namespace {

using namespace plackett;

void require(bool holds) {
  if (!holds) std::abort();
}

// Touches every byte that the dataset claims to have.
void read_all(const Split& split, std::uint32_t max_label) {
  require(summarise(split, max_label).docs == split.doc_count());
  double sum = 0;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const FeatureView view = split.features(Query{query});
    for (std::uint32_t doc = 0; doc < view.doc_count(); ++doc) {
      for (const float value : view.row(Doc{doc})) sum += value > 0 ? 1 : 0;
    }
  }
  require(sum >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // No slack at the end: a read past it is a read past the block.
  const std::shared_ptr<std::byte> copy(
      static_cast<std::byte*>(::operator new (size, std::align_val_t{64})),
      [](std::byte* memory) { ::operator delete (memory, std::align_val_t{64}); });
  if (size > 0) std::memcpy(copy.get(), data, size);
  CacheBytes source{.bytes = {copy.get(), size}, .owner = copy, .path = "cache"};
  source.compare_checksums = false;
  const auto loose = parse_cache(source);
  source.compare_checksums = true;
  const auto strict = parse_cache(source);
  require(loose.ok() || !strict.ok());
  if (!loose) {
    require(loose.error().message.starts_with("cache: "));
    return 0;
  }
  for (const Fold& fold : loose->dataset.folds) {
    read_all(fold.train, loose->dataset.max_label);
    if (fold.validation) read_all(*fold.validation, loose->dataset.max_label);
    read_all(fold.test, loose->dataset.max_label);
  }
  const auto sound = verify_rows(*loose, "cache", 1);
  require(sound.ok() || sound.error().message.starts_with("cache: "));
  return 0;
}
