#include "dataset/cache_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "base/aligned.h"
#include "dataset/plain_docs.h"
#include "plackett/synthetic.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Bytes = AlignedVector<std::byte>;

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kPage = 4096;

// Two folds of a few queries with 17 features or so: a row is padded, and the file small.
SyntheticOptions small() {
  SyntheticOptions options;
  options.folds = 2;
  options.queries = 10;
  options.min_docs = 1;
  options.mean_docs = 4;
  options.max_docs = 9;
  options.features = 20;
  options.noise_features = 3;
  options.constant_features = 2;
  return options;
}

Bytes bytes_of(const std::filesystem::path& path) {
  const std::string text = testing::slurp(path);
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void write(const Bytes& bytes, const std::filesystem::path& path) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// Text with ids of documents, values out of range and documents without labels.
LoadOptions published_options() {
  return {.out_of_range = OutOfRange::kClamp, .unlabelled = Unlabelled::kSkip};
}
Dataset published_data(const testing::TemporaryFolder& folder) {
  testing::put(folder.path() / "text" / "train.txt",
               "1 qid:70 1:1e39 2:3 #docid = GX000-00-0000001\n0 qid:70 1:2 2:4\n"
               "-1 qid:70 1:2 2:4\n-1 qid:71 1:2 2:4\n2 qid:5 1:1 2:5 #docid = GX1\n");
  testing::put(folder.path() / "text" / "test.txt", "1 qid:9 1:3 2:-1e39\n");
  return load_dataset(folder / "text", published_options()).value();
}
Bytes published_cache() {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(write_cache(published_data(folder), published_options(), folder / "c").ok());
  return bytes_of(folder / "c");
}

Bytes small_cache() {
  const testing::TemporaryFolder folder;
  const Dataset dataset = make_synthetic(small(), {}).value();
  EXPECT_TRUE(write_cache(dataset, {}, folder / "c").ok());
  return bytes_of(folder / "c");
}

std::uint64_t number_at(const Bytes& bytes, std::size_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

std::size_t data_begin(const Bytes& bytes) {
  return (kHeaderBytes + number_at(bytes, 24) + kPage - 1) / kPage * kPage;
}

std::string message(const Bytes& bytes, const ParseCacheOptions& options = {.name = "x.cache"}) {
  const auto cached = parse_cache(bytes, options);
  return cached ? "" : cached.error().message;
}

void expect_same(const Split& left, const Split& right) {
  ASSERT_EQ(left.query_count(), right.query_count());
  ASSERT_EQ(left.feature_count(), right.feature_count());
  const auto& a = left.storage();
  const auto& b = right.storage();
  EXPECT_TRUE(std::equal(a.query_begin, a.query_begin + a.query_count + 1, b.query_begin));
  EXPECT_TRUE(std::equal(a.labels, a.labels + left.doc_count(), b.labels));
  EXPECT_EQ(testing::plain_ids(left), testing::plain_ids(right));
  EXPECT_EQ(a.doc_id_begin == nullptr, b.doc_id_begin == nullptr);
  const std::size_t floats = left.doc_count() * padded_width(left.feature_count());
  EXPECT_EQ(std::memcmp(a.rows, b.rows, floats * sizeof(float)), 0);
}

void expect_same(const Dataset& left, const Dataset& right) {
  EXPECT_EQ(left.name, right.name);
  EXPECT_EQ(left.origin, right.origin);
  EXPECT_EQ(left.max_label, right.max_label);
  EXPECT_EQ(left.source_feature_count, right.source_feature_count);
  ASSERT_EQ(left.folds.size(), right.folds.size());
  for (std::size_t number = 0; number < left.folds.size(); ++number) {
    const Fold& a = left.folds[number];
    const Fold& b = right.folds[number];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.feature_ids, b.feature_ids);
    EXPECT_EQ(a.constant_feature_ids, b.constant_feature_ids);
    EXPECT_EQ(a.scaling, b.scaling);
    EXPECT_EQ(a.changes.unlabelled_documents, b.changes.unlabelled_documents);
    EXPECT_EQ(a.changes.unlabelled_queries, b.changes.unlabelled_queries);
    ASSERT_EQ(a.changes.out_of_range.size(), b.changes.out_of_range.size());
    for (std::size_t at = 0; at < a.changes.out_of_range.size(); ++at) {
      EXPECT_EQ(a.changes.out_of_range[at].feature_id, b.changes.out_of_range[at].feature_id);
      EXPECT_EQ(a.changes.out_of_range[at].count, b.changes.out_of_range[at].count);
      EXPECT_EQ(a.changes.out_of_range[at].first, b.changes.out_of_range[at].first);
    }
    expect_same(a.train, b.train);
    expect_same(a.test, b.test);
    ASSERT_EQ(a.validation.has_value(), b.validation.has_value());
    if (a.validation) expect_same(*a.validation, *b.validation);
  }
}

TEST(Cache, LoadsToTheSameDatasetAsItsSource) {
  const testing::TemporaryFolder folder;
  LoadOptions given;
  given.keep_feature_ids = {7, 2, 40};
  for (const LoadOptions& options :
       {LoadOptions{}, LoadOptions{.scaling = Scaling::kNone},
        LoadOptions{.drop_constant_features = false}, LoadOptions{.threads = 3}, given}) {
    Dataset dataset = load_dataset("synthetic", options).value();
    dataset.folds[1].validation.reset();
    ASSERT_TRUE(write_cache(dataset, options, folder / "c").ok());
    EXPECT_TRUE(is_cache(folder / "c"));
    const auto loaded = load_dataset(folder / "c", options);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    expect_same(dataset, *loaded);
  }
}

TEST(Cache, KeepsIdsAndWhatLoadingChanged) {
  const testing::TemporaryFolder folder;
  const Dataset dataset = published_data(folder);
  EXPECT_THAT(testing::plain_ids(dataset.folds[0].train),
              ::testing::ElementsAre("70/GX000-00-0000001", "70/", "5/GX1"));
  ASSERT_EQ(dataset.folds[0].changes.out_of_range.size(), 2U);
  ASSERT_EQ(dataset.folds[0].changes.unlabelled_queries, 1U);
  ASSERT_TRUE(write_cache(dataset, published_options(), folder / "c").ok());
  expect_same(dataset, load_dataset(folder / "c", published_options()).value());
}

TEST(Cache, OfVersion1IsReadWithoutIds) {
  const std::filesystem::path seeds(PLACKETT_SOURCE_DIR "/fuzz/corpus/cache");
  for (const char* name : {"one_fold", "two_folds_given_features"}) {
    const Bytes bytes = bytes_of(seeds / name);
    ASSERT_EQ(number_at(bytes, 8), 1U) << name;  // the version, and the 0 after it
    const auto cached = parse_cache(bytes, {.name = name});
    ASSERT_TRUE(cached.ok()) << cached.error().message;
    const Fold& fold = cached->dataset.folds[0];
    EXPECT_EQ(fold.train.query_id(Query{0}), std::nullopt);
    EXPECT_EQ(fold.train.doc_id(Query{0}, Doc{0}), "");
    EXPECT_TRUE(fold.changes.out_of_range.empty());
  }
}

TEST(Cache, AnIdOutsideItsBytesOrWithABlankIsRefused) {
  const testing::TemporaryFolder folder;
  const Dataset sound = published_data(folder);
  const auto refusal = [&](std::vector<std::uint64_t> begin, const char* ids) {
    Dataset dataset = sound;
    Split::Storage storage = sound.folds[0].train.storage();
    storage.doc_id_begin = begin.data();
    storage.doc_ids = ids;
    dataset.folds[0].train = Split(storage);
    const auto written = write_cache(dataset, {}, folder / "c");
    return written ? "" : written.error().message;
  };
  EXPECT_EQ(refusal({0, 1, 1, 2}, "ab"), "");
  EXPECT_THAT(refusal({1, 1, 1, 2}, "ab"), HasSubstr("ids start at byte 1; expected 0"));
  EXPECT_THAT(refusal({0, 3, 1, 2}, "ab"),
              HasSubstr("the id of document 0 goes from byte 0 to 3; there are 2"));
  EXPECT_THAT(refusal({0, 1, 1, 2}, "a "), HasSubstr("byte 1 of the ids is 0x20; ids have no "));
}

TEST(Cache, IsTheSameBytesForAnyNumberOfThreads) {
  const testing::TemporaryFolder folder;
  const Dataset dataset = load_dataset("synthetic", {}).value();
  ASSERT_TRUE(write_cache(dataset, {.threads = 1}, folder / "1").ok());
  ASSERT_TRUE(write_cache(dataset, {.threads = 4}, folder / "4").ok());
  EXPECT_EQ(bytes_of(folder / "1"), bytes_of(folder / "4"));
}

TEST(Cache, RowsLieAtCacheLines) {
  const Bytes bytes = small_cache();
  const Dataset dataset = parse_cache(bytes, {}).value().dataset;
  EXPECT_EQ(reinterpret_cast<const std::byte*>(dataset.folds[0].train.storage().rows),
            bytes.data() + data_begin(bytes));
  for (const Fold& fold : dataset.folds) {
    for (const Split* split : {&fold.train, &*fold.validation, &fold.test}) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(split->storage().rows) % kAlignment, 0U);
    }
  }
}

TEST(Cache, SplitsOutliveTheDatasetAndTheFile) {
  const testing::TemporaryFolder folder;
  write(small_cache(), folder / "c");
  Split split;
  {
    const auto cached = open_cache(folder / "c", {}).value();
    split = cached.dataset.folds[1].test;
  }
  std::filesystem::remove(folder / "c");
  expect_same(split, make_synthetic(small(), {}).value().folds[1].test);
}

TEST(Cache, TakesNoMoreThanItsRowsAndTwentyFourBytesADocument) {
  constexpr std::size_t kSmallHeader = 2 * kPage;
  const testing::TemporaryFolder folder;
  SyntheticOptions single_docs = small();  // the most index a document
  single_docs.queries = 5000;
  single_docs.min_docs = single_docs.mean_docs = single_docs.max_docs = 1;
  for (const SyntheticOptions& options : {SyntheticOptions{}, single_docs}) {
    const Dataset dataset = make_synthetic(options, {.scaling = Scaling::kNone}).value();
    ASSERT_TRUE(write_cache(dataset, {.scaling = Scaling::kNone}, folder / "c").ok());
    std::uint64_t allowed = kSmallHeader;
    for (const Fold& fold : dataset.folds) {
      for (const Split* split : {&fold.train, &*fold.validation, &fold.test}) {
        allowed += split->doc_count() * (padded_width(split->feature_count()) * 4 + 24);
      }
    }
    EXPECT_LE(std::filesystem::file_size(folder / "c"), allowed);
  }
}

class CacheDamage : public ::testing::TestWithParam<Bytes (*)()> {};

INSTANTIATE_TEST_SUITE_P(OfEveryKind, CacheDamage,
                         ::testing::Values(&small_cache, &published_cache));

TEST_P(CacheDamage, EveryFlippedBitOfItsIndexIsFoundWithoutReadingTheFeatures) {
  const Bytes bytes = GetParam()();
  ParseCacheOptions index_only{.name = "x.cache"};
  index_only.cache.verify_features = false;
  ASSERT_EQ(message(bytes, index_only), "");
  for (std::size_t at = 0; at < data_begin(bytes); ++at) {
    Bytes damaged = bytes;
    for (int bit = 0; bit < 8; ++bit) {
      damaged[at] ^= std::byte{1} << bit;
      EXPECT_THAT(message(damaged, index_only), StartsWith("x.cache: "))
          << "byte " << at << " bit " << bit;
      damaged[at] ^= std::byte{1} << bit;
    }
  }
}

TEST(Cache, FlippedBitsOfFeaturesAreFoundAndPlaced) {
  Bytes bytes = small_cache();
  for (std::size_t at = data_begin(bytes); at < bytes.size(); at += 13) {
    bytes[at] ^= std::byte{1} << (at % 8);
    EXPECT_THAT(message(bytes), HasSubstr("checksum of feature chunk 0 does not match: the file "
                                          "is damaged"));
    bytes[at] ^= std::byte{1} << (at % 8);
  }
  bytes.back() ^= std::byte{1};
  EXPECT_EQ(message(bytes),
            "x.cache: Fold2 test: checksum of feature chunk 0 does not match: the file is damaged");
  bytes[data_begin(bytes)] ^= std::byte{1};
  const std::string first =
      "x.cache: Fold1 train: checksum of feature chunk 0 does not match: the file is damaged";
  for (const unsigned threads : {1U, 4U}) {
    EXPECT_EQ(message(bytes, {.name = "x.cache", .cache = {.threads = threads}}), first);
  }
}

TEST(Cache, EveryChunkOfALargeSplitIsChecked) {
  const testing::TemporaryFolder folder;
  SyntheticOptions large;  // 9 MB of features for training: two whole chunks and a part
  large.folds = 1;
  large.queries = 4000;
  const Dataset dataset = make_synthetic(large, {}).value();
  ASSERT_TRUE(write_cache(dataset, {}, folder / "c").ok());
  const Bytes bytes = bytes_of(folder / "c");
  constexpr std::size_t kChunk = std::size_t{4} << 20;
  for (const std::size_t chunk : {0, 1}) {
    for (const std::size_t at : {chunk * kChunk, (chunk + 1) * kChunk - 1}) {
      Bytes damaged = bytes;
      damaged[data_begin(bytes) + at] ^= std::byte{64};
      EXPECT_EQ(message(damaged), "x.cache: Fold1 train: checksum of feature chunk " +
                                      std::to_string(chunk) +
                                      " does not match: the file is damaged");
    }
  }
}

TEST(Cache, EveryCutIsFoundAndNamed) {
  const Bytes bytes = small_cache();
  for (std::size_t size = 0; size < bytes.size(); size += size < 300 ? 1 : 37) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const char* expected = size == 0  ? "x.cache: empty file; a plackett cache"
                           : size < 8 ? "x.cache: not a plackett cache; one starts"
                           : size < kHeaderBytes
                               ? "a cache's header alone has 64: the file was truncated"
                               : ": the file was truncated or extended";
    EXPECT_THAT(message(cut), HasSubstr(expected)) << size;
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(message(longer), "x.cache: " + std::to_string(longer.size()) +
                                 " bytes; its header announces " + std::to_string(bytes.size()) +
                                 ": the file was truncated or extended");
}

TEST(Cache, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(message(Bytes(100, std::byte{'x'})),
            "x.cache: not a plackett cache; one starts with PLKCACHE");
  EXPECT_EQ(message({}), "x.cache: empty file; a plackett cache starts with PLKCACHE");
  const Bytes bytes = small_cache();
  Bytes damaged = bytes;
  damaged[8] = std::byte{9};
  EXPECT_EQ(message(damaged),
            "x.cache: cache format version 9; this plackett reads versions 1 and 2");
  damaged = bytes;
  damaged[12] = std::byte{1};
  EXPECT_EQ(message(damaged), "x.cache: reserved bytes are not 0: the file is damaged");
  damaged = bytes;
  damaged[31] = std::byte{0xFF};
  EXPECT_EQ(message(damaged),
            "x.cache: its header announces more than a file can hold: the file is damaged");
  damaged = bytes;
  damaged[200] ^= std::byte{4};
  EXPECT_EQ(message(damaged), "x.cache: checksum of the index does not match: the file is damaged");
}

TEST_P(CacheDamage, BehindTheChecksumsIsStillNoCrash) {
  const Bytes bytes = GetParam()();
  for (std::size_t at = 8; at < data_begin(bytes); ++at) {
    for (const int value : {0, 1, 127, 255}) {
      Bytes damaged = bytes;
      damaged[at] = std::byte(value);
      const auto cached = parse_cache(damaged, {.check = false});
      if (!cached) continue;
      for (const Fold& fold : cached->dataset.folds) {
        EXPECT_GT(fold.train.doc_count() + fold.test.doc_count(), 1U);
        EXPECT_EQ(testing::plain_ids(fold.train).size(), fold.train.doc_count());
      }
    }
  }
}

TEST(Cache, AValueThatIsNotFiniteIsRefusedEvenWithTheRightChecksum) {
  for (const float value : {NAN, INFINITY, -INFINITY}) {
    Bytes bytes = small_cache();
    std::memcpy(bytes.data() + data_begin(bytes), &value, sizeof value);
    EXPECT_EQ(message(bytes, {.name = "x.cache", .check = false}),
              "x.cache: Fold1 train: document 0 has a feature that is not finite");
  }
}

TEST(Cache, OtherOptionsThanItsOwnAreRefused) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "x.cache";
  const auto refusal = [&path](const LoadOptions& asked) {
    const auto loaded = load_dataset(path, asked);
    return loaded ? "" : loaded.error().message;
  };
  write(small_cache(), path);
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.scaling = Scaling::kNone}),
            path + ": written with scaling query-minmax; asked for none; convert it again");
  EXPECT_EQ(refusal({.drop_constant_features = false}),
            path +
                ": written with constant features dropped; asked for constant features kept; "
                "convert it again");
  LoadOptions given;
  given.keep_feature_ids = {3, 1};
  EXPECT_EQ(refusal(given), path +
                                ": its Fold1 holds 18 features that are not the 2 asked for, in "
                                "their order; convert it again");
  given.keep_feature_ids = load_dataset(path, {}).value().folds[0].feature_ids;
  EXPECT_EQ(refusal(given), "");

  given.keep_feature_ids = {3, 1};
  const Dataset chosen = make_synthetic(small(), given).value();
  ASSERT_TRUE(write_cache(chosen, given, path).ok());
  EXPECT_EQ(refusal(given), "");
  EXPECT_EQ(refusal({}), path +
                             ": written with 2 given features; asked for constant features "
                             "dropped; convert it again");
}

TEST(Cache, OtherTreatmentsOfTheSourceAreRefusedWhereTheyMatter) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "x.cache";
  const auto refusal = [&path](const LoadOptions& asked) {
    const auto loaded = load_dataset(path, asked);
    return loaded ? "" : loaded.error().message;
  };
  write(published_cache(), path);
  EXPECT_EQ(refusal(published_options()), "");
  EXPECT_EQ(
      refusal({.unlabelled = Unlabelled::kSkip}),
      path + ": text was written with out-of-range clamp; asked for refuse; convert it again");
  EXPECT_EQ(refusal({.out_of_range = OutOfRange::kClamp}),
            path + ": text was written with unlabelled skip; asked for refuse; convert it again");
  write(small_cache(), path);
  EXPECT_EQ(refusal(published_options()), "");
}

TEST(Cache, RecordsHowItWasLoaded) {
  const testing::TemporaryFolder folder;
  LoadOptions options;
  options.scaling = Scaling::kNone;
  options.keep_feature_ids = {5, 4};
  options.out_of_range = OutOfRange::kMissing;
  options.unlabelled = Unlabelled::kSkip;
  const Dataset dataset = make_synthetic(small(), options).value();
  ASSERT_TRUE(write_cache(dataset, options, folder / "c").ok());
  const LoadOptions recorded = open_cache(folder / "c", {}).value().loaded_with;
  EXPECT_EQ(recorded.scaling, Scaling::kNone);
  EXPECT_EQ(recorded.keep_feature_ids, options.keep_feature_ids);
  EXPECT_EQ(recorded.out_of_range, OutOfRange::kMissing);
  EXPECT_EQ(recorded.unlabelled, Unlabelled::kSkip);
}

TEST(Cache, FeaturesAreReadOnlyWhereAskedFor) {
  const testing::TemporaryFolder folder;
  Bytes bytes = small_cache();
  bytes.back() ^= std::byte{1};
  write(bytes, folder / "c");
  EXPECT_TRUE(load_dataset(folder / "c", {.verify_cache = false}).ok());
  EXPECT_THAT(load_dataset(folder / "c", {}).error().message, HasSubstr("damaged"));
}

TEST(Cache, ADatasetThatMakesNoSenseIsNotWritten) {
  const testing::TemporaryFolder folder;
  const auto refusal = [&folder](const Dataset& dataset) {
    const auto written = write_cache(dataset, {}, folder / "c");
    EXPECT_FALSE(std::filesystem::exists(folder / "c"));
    return written ? "" : written.error().message;
  };
  EXPECT_THAT(refusal({}), HasSubstr("c: no folds; a dataset has at least 1"));
  const Dataset sound = make_synthetic(small(), {}).value();
  Dataset dataset = sound;
  dataset.max_label = 0;
  EXPECT_THAT(refusal(dataset), HasSubstr("; the dataset's largest is 0"));
  dataset = sound;
  dataset.folds[1].feature_ids[2] = 0;
  EXPECT_THAT(refusal(dataset), HasSubstr("Fold2: feature id 0; ids start at 1"));
  dataset = sound;
  dataset.folds[0].feature_ids.pop_back();
  EXPECT_THAT(refusal(dataset), HasSubstr("Fold1 train: 18 features; its fold has 17"));
  dataset = sound;
  AlignedVector<float> rows(sound.folds[0].test.doc_count() * 32, 0.0F);
  rows[3] = NAN;
  Split::Storage storage = sound.folds[0].test.storage();
  storage.rows = rows.data();
  dataset.folds[0].test = Split(storage);
  EXPECT_THAT(refusal(dataset), HasSubstr("Fold1: document 0 has a feature that is not finite"));
  rows[3] = 0;
  rows[31] = 1;
  EXPECT_THAT(refusal(dataset), HasSubstr("Fold1: document 0 has something in its padding"));
}

TEST(Cache, NothingElseIsTakenForOne) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(is_cache(folder.path()));
  EXPECT_FALSE(is_cache(folder / "absent"));
  std::ofstream(folder / "short") << "PLKCACH";
  EXPECT_FALSE(is_cache(folder / "short"));
  std::ofstream(folder / "text") << "2 qid:1 1:0.5\n";
  EXPECT_FALSE(is_cache(folder / "text"));
  EXPECT_THAT(load_dataset(folder / "text", {}).error().message, HasSubstr("not a dataset"));
}

}  // namespace
}  // namespace plackett
