#include "dataset/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <new>

#include "base/hash.h"
#include "dataset/cache_format.h"
#include "dataset/synthetic.h"
#include "scratch.h"

namespace plackett {
namespace {

using testing::expect_same_folds;
using ::testing::HasSubstr;
using testing::read;
using testing::ScratchFolder;

SyntheticOptions small() {
  SyntheticOptions options;
  options.folds = 2;
  options.queries = 10;
  options.min_docs = 2;
  options.mean_docs = 3;
  options.max_docs = 6;
  options.features = 20;
  return options;
}

Dataset small_dataset(const LoadOptions& load = {}) {
  return std::move(*make_synthetic(small(), load));
}

// A cache of the small dataset.
std::filesystem::path small_cache(const ScratchFolder& folder, const LoadOptions& load = {}) {
  const auto path = folder.path() / "small.cache";
  const auto written = write_cache(small_dataset(load), load, path);
  EXPECT_TRUE(written.ok());
  return path;
}

std::string load_error(const std::filesystem::path& path, const LoadOptions& options = {}) {
  const auto dataset = load_dataset(path.string(), options);
  return dataset ? "no error" : dataset.error().message;
}

TEST(Cache, GivesBackTheDatasetBitByBit) {
  const ScratchFolder folder;
  const auto path = small_cache(folder);
  const auto cached = load_dataset(path.string(), {});
  ASSERT_TRUE(cached.ok()) << cached.error().message;
  const Dataset original = small_dataset();
  expect_same_folds(original, *cached);
  EXPECT_EQ(cached->name, original.name);
  EXPECT_EQ(cached->origin, original.origin);
}

TEST(Cache, HoldsADatasetWithoutValidation) {
  const ScratchFolder folder;
  folder.write("set/train.txt", "1 qid:1 1:2\n0 qid:1 1:4\n");
  folder.write("set/test.txt", "0 qid:3 1:1\n");
  const auto original = load_dataset((folder.path() / "set").string(), {});
  ASSERT_TRUE(original.ok());
  ASSERT_TRUE(write_cache(*original, {}, folder.path() / "cache").ok());
  const auto cached = load_dataset((folder.path() / "cache").string(), {});
  ASSERT_TRUE(cached.ok()) << cached.error().message;
  expect_same_folds(*original, *cached);
}

TEST(Cache, RowsAreUsedInPlaceAndOutliveTheDataset) {
  const ScratchFolder folder;
  Split kept;
  {
    auto cache = open_cache(small_cache(folder));
    ASSERT_TRUE(cache.ok());
    kept = cache->dataset.folds[0].train;
    EXPECT_EQ(reinterpret_cast<const std::byte*>(kept.storage().rows),
              cache->rows.front().bytes.data());
  }
  EXPECT_EQ(testing::rows(kept, 0), testing::rows(small_dataset().folds[0].train, 0));
}

TEST(Cache, CostsAtMost16BytesADocumentBesideTheRows) {
  const ScratchFolder folder;
  auto options = *synthetic_preset("default");
  options.folds = 1;
  const auto dataset = make_synthetic(options, {});
  const auto path = folder.path() / "cache";
  ASSERT_TRUE(write_cache(*dataset, {}, path).ok());
  const Fold& fold = dataset->folds[0];
  const std::uint64_t docs =
      fold.train.doc_count() + fold.validation->doc_count() + fold.test.doc_count();
  const std::uint64_t rows = docs * padded_width(fold.train.feature_count()) * sizeof(float);
  EXPECT_LE(std::filesystem::file_size(path), rows + docs * 16 + 8192);
}

TEST(Cache, TheSameDatasetGivesTheSameFileForAnyThreads) {
  const ScratchFolder folder;
  const auto path = small_cache(folder);
  const std::string once = read(path);
  LoadOptions threads;
  threads.threads = 4;
  small_cache(folder, threads);
  EXPECT_EQ(read(path), once);
}

TEST(Cache, OpeningDoesNotReadFeatureData) {
  // 64 MiB of rows: touching them would take over 10,000 page faults.
  const ScratchFolder folder;
  SyntheticOptions options = *synthetic_preset("mq2008");
  options.folds = 1;
  options.queries = 6000;
  options.features = 130;
  const auto path = folder.path() / "cache";
  {
    const auto dataset = make_synthetic(options, {});
    ASSERT_TRUE(write_cache(*dataset, {}, path).ok());
  }
  ASSERT_GT(std::filesystem::file_size(path), 50U << 20);
  const auto faults = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
  };
  const long before = faults();
  const auto cache = open_cache(path);
  ASSERT_TRUE(cache.ok());
  EXPECT_LT(faults() - before, 1000);
}

// --- contradicting options -------------------------------------------------------------------

TEST(Cache, OtherScalingIsRefused) {
  const ScratchFolder folder;
  LoadOptions raw;
  raw.scaling = Scaling::kNone;
  EXPECT_THAT(load_error(small_cache(folder), raw),
              HasSubstr("small.cache: cache with scaling query-minmax where none is asked for; "
                        "convert the data again"));
  EXPECT_THAT(load_error(small_cache(folder, raw)),
              HasSubstr("cache with scaling none where query-minmax is asked for"));
}

TEST(Cache, OtherChoiceOfConstantFeaturesIsRefused) {
  const ScratchFolder folder;
  LoadOptions all;
  all.drop_constant_features = false;
  EXPECT_THAT(load_error(small_cache(folder), all),
              HasSubstr("cache with constant features dropped where keeping all is asked for"));
  EXPECT_THAT(load_error(small_cache(folder, all)),
              HasSubstr("cache with constant features kept where dropping the constant ones"));
}

TEST(Cache, GivenFeaturesMustBeThoseItHolds) {
  const ScratchFolder folder;
  LoadOptions same;
  same.keep_feature_ids = small_dataset().folds[0].feature_ids;
  EXPECT_EQ(load_error(small_cache(folder), same), "no error");
  LoadOptions other;
  other.keep_feature_ids = {2, 1};
  EXPECT_THAT(load_error(small_cache(folder), other),
              HasSubstr("cache whose Fold1 has other features (16 of them) than the 2 asked for"));
  EXPECT_THAT(load_error(small_cache(folder, other)),
              HasSubstr("cache with a given list of features"));
}

// What opening and checking a file of these bytes says.
Result<Cache> parse_copy(const std::string& bytes, bool compare_checksums) {
  const std::shared_ptr<std::byte> copy(
      static_cast<std::byte*>(::operator new (bytes.size() + 1, std::align_val_t{64})),
      [](std::byte* memory) { ::operator delete (memory, std::align_val_t{64}); });
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  auto cache = parse_cache({.bytes = {copy.get(), bytes.size()},
                            .owner = copy,
                            .path = "cache",
                            .compare_checksums = compare_checksums});
  if (!cache || !compare_checksums) return cache;
  if (auto sound = verify_rows(*cache, "cache", 1); !sound) return sound.error();
  return cache;
}

// --- damage ----------------------------------------------------------------------------------

TEST(CacheDamage, EveryCutIsAnError) {
  const ScratchFolder folder;
  const std::string whole = read(small_cache(folder));
  for (std::size_t size = 0; size < whole.size(); size += size < 300 ? 1 : 61) {
    const auto cache = parse_copy(whole.substr(0, size), true);
    ASSERT_FALSE(cache.ok()) << size;
    EXPECT_THAT(cache.error().message,
                ::testing::AnyOf(HasSubstr("damaged cache"), HasSubstr("not a plackett cache")));
  }
  EXPECT_THAT(load_error(folder.write("cut", whole.substr(0, whole.size() - 1))),
              HasSubstr("bytes, of the "));
  EXPECT_THAT(load_error(folder.write("long", whole + "x")), HasSubstr("damaged cache"));
}

TEST(CacheDamage, EveryFlippedByteIsAnError) {
  const ScratchFolder folder;
  const std::string whole = read(small_cache(folder));
  ASSERT_TRUE(parse_copy(whole, true).ok());
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string bad = whole;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << byte % 8));
    EXPECT_FALSE(parse_copy(bad, true).ok()) << "byte " << byte;
  }
}

TEST(CacheDamage, AFlippedBitInTheIndexIsNamedEvenWhereTheCacheIsTrusted) {
  const ScratchFolder folder;
  std::string bad = read(small_cache(folder));
  bad[100] = static_cast<char>(bad[100] ^ 1);
  LoadOptions trust;
  trust.verify_cache = false;
  EXPECT_THAT(load_error(folder.write("flipped", bad), trust),
              HasSubstr("flipped: damaged cache: the checksum of its index differs; convert the "
                        "data again"));
}

TEST(CacheDamage, AFlippedBitInTheFeaturesIsNamedUnlessTheCacheIsTrusted) {
  const ScratchFolder folder;
  std::string bad = read(small_cache(folder));
  bad.back() = static_cast<char>(bad.back() ^ 1);
  const auto path = folder.write("flipped", bad);
  EXPECT_THAT(load_error(path), HasSubstr("damaged cache: the checksum of Fold2 test's feature "
                                          "data differs within the 4 MiB from byte "));
  LoadOptions trust;
  trust.verify_cache = false;
  EXPECT_EQ(load_error(path, trust), "no error");
}

TEST(CacheDamage, AnotherVersionIsNamed) {
  const ScratchFolder folder;
  std::string other = read(small_cache(folder));
  other[8] = 2;
  EXPECT_THAT(load_error(folder.write("other", other)),
              HasSubstr("other: cache of version 2; this plackett reads version 1"));
}

TEST(CacheDamage, AForeignFileIsNotACache) {
  const ScratchFolder folder;
  for (const char* text : {"", "x", "0 qid:1 1:2\n", "PLKCACH", "SQLite format 3"}) {
    EXPECT_THAT(load_error(folder.write("foreign", text)),
                HasSubstr("foreign: not a plackett cache (it does not begin with PLKCACHE); a "
                          "dataset is a folder of LETOR files, a cache or 'synthetic'"));
  }
}

TEST(CacheDamage, TablesThatMakeNoSenseAreFoundWithoutChecksums) {
  const ScratchFolder folder;
  const std::string whole = read(small_cache(folder));
  // Every 8-byte word of the index set to values that would read far outside.
  cache_format::Header header;
  std::memcpy(&header, whole.data(), sizeof header);
  for (std::size_t at = cache_format::kChecksumFrom; at + 8 <= header.data_begin; at += 8) {
    for (const std::uint64_t value :
         {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 32, std::uint64_t{0}}) {
      std::string bad = whole;
      std::memcpy(bad.data() + at, &value, sizeof value);
      const auto cache = parse_copy(bad, false);
      if (!cache) continue;
      for (const Fold& fold : cache->dataset.folds) {
        for (std::uint32_t query = 0; query < fold.train.query_count(); ++query) {
          for (const int label : testing::labels(fold.train, query)) EXPECT_LE(label, 31);
          for (const auto& row : testing::rows(fold.train, query)) EXPECT_FALSE(row.empty());
        }
      }
    }
  }
}

// --- writing ---------------------------------------------------------------------------------

TEST(CacheWriting, LeavesNothingBehindWhereItFails) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path() / "taken");
  const auto onto_folder = write_cache(small_dataset(), {}, folder.path() / "taken");
  ASSERT_FALSE(onto_folder.ok());
  EXPECT_THAT(onto_folder.error().message, HasSubstr("taken: a folder; a cache is one file"));
  EXPECT_FALSE(write_cache(small_dataset(), {}, folder.path() / "no" / "cache").ok());
  EXPECT_EQ(folder.file_count(), 0U);
}

}  // namespace
}  // namespace plackett
