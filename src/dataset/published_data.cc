#include "plackett/published_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "dataset/build_fold.h"

namespace plackett {
namespace {

// clang-format off
// Queries and documents, counted in the files of LETOR 4.0 themselves.
constexpr std::array<PublishedFold, 5> kMq2008Folds{{
    {{471, 9630}, {157, 2707}, {156, 2874}},
    {{471, 9404}, {156, 2874}, {157, 2933}},
    {{470, 8643}, {157, 2933}, {157, 3635}},
    {{470, 8514}, {157, 3635}, {157, 3062}},
    {{470, 9442}, {157, 3062}, {157, 2707}},
}};
constexpr std::array<PublishedFold, 5> kWeb10kFolds{{
    {{6000}, {2000}, {2000}}, {{6000}, {2000}, {2000}}, {{6000}, {2000}, {2000}},
    {{6000}, {2000}, {2000}}, {{6000}, {2000}, {2000}},
}};
constexpr std::array<PublishedFold, 5> kWeb30kFolds{{
    {{18919}, {6306}, {6306}}, {{18918}, {6306}, {6307}}, {{18918}, {6307}, {6306}},
    {{18919}, {6306}, {6306}}, {{18919}, {6306}, {6306}},
}};
constexpr std::array<PublishedFold, 1> kYahooSet1{{{{19944, 473134}, {2994, 71083}, {6983, 165660}}}};
constexpr std::array<PublishedFold, 1> kYahooSet2{{{{1266, 34815}, {1266, 34881}, {3798, 103174}}}};
constexpr std::array<PublishedFold, 1> kIstella{{{{23219}, {}, {9799}}}};
constexpr std::array<PublishedFold, 1> kIstellaS{{{{19245}, {7211}, {6562}}}};
constexpr std::array<PublishedFold, 1> kIstellaX{{{{6000}, {2000}, {2000}}}};

constexpr std::array<PublishedFile, 15> kWeb10kFiles{{
    {"Fold1/train.txt",
     "6eb3fae4e1186e1242a6520f53a98abdbcde5b926dd19a28e51239284b1d55dc"},
    {"Fold1/vali.txt",
     "e86fb3fe7e8a5f16479da7ce04f783ae85735f17f66016786c3ffc797dd9d4db"},
    {"Fold1/test.txt",
     "33fe002374a4fce58c4e12863e4eee74745d5672a26f3e4ddacc20ccfe7d6ba0"},
    {"Fold2/train.txt",
     "40e4a2fcc237d9c164cbb6a3f2fa91fe6cf7d46a419d2f73e21cf090285659eb"},
    {"Fold2/vali.txt",
     "33fe002374a4fce58c4e12863e4eee74745d5672a26f3e4ddacc20ccfe7d6ba0"},
    {"Fold2/test.txt",
     "44add582ccd674cf63af24d3bf6e1074e87a678db77f00b44c37980a3010917a"},
    {"Fold3/train.txt",
     "f13005ceb8de0db76c93b02ee4b2bded6f925097d3ab7938931e8d07aa72acd7"},
    {"Fold3/vali.txt",
     "44add582ccd674cf63af24d3bf6e1074e87a678db77f00b44c37980a3010917a"},
    {"Fold3/test.txt",
     "c0a5a3c6bd7790d0b4ff3d5e961d0c8c5f8ff149089ce492540fa63035801b7a"},
    {"Fold4/train.txt",
     "6c1677cf9b2ed491e26ac6b8c8ca7dfae9c1a375e2bce8cba6df36ab67ce5836"},
    {"Fold4/vali.txt",
     "c0a5a3c6bd7790d0b4ff3d5e961d0c8c5f8ff149089ce492540fa63035801b7a"},
    {"Fold4/test.txt",
     "dc6083c24a5f0c03df3c91ad3eed7542694115b998acf046e51432cb7a22b848"},
    {"Fold5/train.txt",
     "4249797a2f0f46bff279973f0fb055d4a78f67f337769eabd56e82332c044794"},
    {"Fold5/vali.txt",
     "dc6083c24a5f0c03df3c91ad3eed7542694115b998acf046e51432cb7a22b848"},
    {"Fold5/test.txt",
     "e86fb3fe7e8a5f16479da7ce04f783ae85735f17f66016786c3ffc797dd9d4db"},
}};
constexpr std::array<PublishedFile, 15> kWeb30kFiles{{
    {"Fold1/train.txt",
     "40b8eee4d1221cf8205e81603441c1757dd024a3baac25a47756210b03c031d6"},
    {"Fold1/vali.txt",
     "7647834b84c849a61e5cf3c999a2f72a4785613286fd972a5615e9fcb58f94d8"},
    {"Fold1/test.txt",
     "9a4668fd2615e6772d2e5c4d558d084b2daaf2405571eaf3e4d0526f4da096c7"},
    {"Fold2/train.txt",
     "a6d12dc4cc8c2dd0743b58c49cad12bd0f6f1cbeda54b54a91e5b54e0b96e7ca"},
    {"Fold2/vali.txt",
     "9a4668fd2615e6772d2e5c4d558d084b2daaf2405571eaf3e4d0526f4da096c7"},
    {"Fold2/test.txt",
     "d192c023baebdae148d902d716aeebf3df2f2f1ce5aee12be4f0b8bb76a8c04a"},
    {"Fold3/train.txt",
     "3d0eb52a6702b2c48750a6de89e757cfac499c8ec1d38e3843cb531c059f2f74"},
    {"Fold3/vali.txt",
     "d192c023baebdae148d902d716aeebf3df2f2f1ce5aee12be4f0b8bb76a8c04a"},
    {"Fold3/test.txt",
     "ba2487a27c21dceea0b9afaadbb6b392d5f652eb0fb8649cbd201bb894c47c12"},
    {"Fold4/train.txt",
     "21e389656be3c2bfe92eb4fb898d2f30dc24990fc524aada7471b949f176778d"},
    {"Fold4/vali.txt",
     "ba2487a27c21dceea0b9afaadbb6b392d5f652eb0fb8649cbd201bb894c47c12"},
    {"Fold4/test.txt",
     "a7ba03d708ae6b21556a8a6859d52e37cc0dcb2cbff992c630ef6173bb02122a"},
    {"Fold5/train.txt",
     "a19da1799650b08c0dc3baaec6c590469ef1773148082e1a10b8504f2f5e9a8b"},
    {"Fold5/vali.txt",
     "a7ba03d708ae6b21556a8a6859d52e37cc0dcb2cbff992c630ef6173bb02122a"},
    {"Fold5/test.txt",
     "7647834b84c849a61e5cf3c999a2f72a4785613286fd972a5615e9fcb58f94d8"},
}};
constexpr std::array<PublishedFile, 2> kIstellaFiles{{
    {"full/train.txt",
     "8b08ca4c36281e408bfa026303461a6162398a1eec22fb79db0709c76bf6d189"},
    {"full/test.txt",
     "4b34523af8e030718f0216bcae0a35caee1e34e5198ff3e76c08a75db61aac65"},
}};
constexpr std::array<PublishedFile, 3> kIstellaSFiles{{
    {"sample/train.txt",
     "5cda4187b88b597ca6fa98d6cd3a6d7551ba69ffff700eae63a59fbc8af385b8"},
    {"sample/vali.txt",
     "f225dd95772fa65dc685351ff2643945fbd9a9c0e874aa1c538d485595e7c890"},
    {"sample/test.txt",
     "2cd1a4f46fa21ea2489073979b5e5913146d1e451f1d6e268bc4e472d39da5d7"},
}};
constexpr std::array<PublishedFile, 3> kIstellaXFiles{{
    {"train.txt",
     "710378b3536a2156ae0747f0683e2e811e992e7a12014408ff93fbb1ea5a3340"},
    {"vali.txt",
     "9de516e2e0dfd0e0a29cf4b233df8e22f2b547f260f7881c7dc1c7237101ee7e"},
    {"test.txt",
     "c2b808bae0ccbc40df9519b6a3906a297c8207eb273304c22d506a8612fa9eef"},
}};
// clang-format on

constexpr std::string_view kLetor =
    "Qin and Liu, Introducing LETOR 4.0 Datasets, arXiv:1306.2597 (folds, features, labels); "
    "Swaminathan et al., README of slates_semisynth_expts (queries)";
constexpr std::string_view kMq2008Source =
    "Qin and Liu, Introducing LETOR 4.0 Datasets, arXiv:1306.2597 (folds, features, labels); "
    "Swaminathan et al., README of slates_semisynth_expts (queries); the files of LETOR 4.0, "
    "counted (queries and documents per file)";
constexpr std::string_view kMslr =
    "microsoft.com/en-us/research/project/mslr (folds, features, labels); "
    "tensorflow.org/datasets/catalog/mslr_web (queries)";
constexpr std::string_view kYahoo =
    "Chapelle and Chang, Yahoo! Learning to Rank Challenge Overview, JMLR W&CP 14, 2011 (queries, "
    "documents, labels); tensorflow_datasets, yahoo_ltrc.py (largest feature id)";
constexpr std::string_view kIstellaSource =
    "README of the Istella LETOR archives (features); tensorflow.org/datasets/catalog/istella "
    "(queries, documents)";
constexpr std::string_view kIstellaMainSource =
    "README of the Istella LETOR archives (features); tensorflow.org/datasets/catalog/istella "
    "(queries, documents); Oosterhuis and de Rijke, CIKM 2018 (labels)";
constexpr std::string_view kChecksums =
    "tensorflow_datasets, ranking/*/checksums.tsv (archives); pytorchltr, datasets/svmrank/*.py "
    "(files)";

constexpr std::array<PublishedData, 9> kPublished{{
    {.name = "MQ2007",
     .counts_source = kLetor,
     .fold_count = 5,
     .features = 46,
     .max_label = 2,
     .queries = 1692},
    {.name = "MQ2008",
     .counts_source = kMq2008Source,
     .fold_count = 5,
     .features = 46,
     .max_label = 2,
     .queries = 784,
     .documents = 15'211,
     .folds = kMq2008Folds},
    {.name = "MSLR-WEB10K",
     .counts_source = kMslr,
     .fold_count = 5,
     .features = 136,
     .max_label = 4,
     .queries = 10'000,
     .folds = kWeb10kFolds,
     .checksums_source = kChecksums,
     .archive = {"MSLR-WEB10K.zip",
                 "2902142ea33f18c59414f654212de5063033b707d5c3939556124b1120d3a0ba", 1'234'144'912},
     .files = kWeb10kFiles},
    {.name = "MSLR-WEB30K",
     .counts_source = kMslr,
     .fold_count = 5,
     .features = 136,
     .max_label = 4,
     .queries = 31'531,
     .folds = kWeb30kFolds,
     .checksums_source = kChecksums,
     .archive = {"MSLR-WEB30K.zip",
                 "08cb7977e1d5cbdeb57a9a2537a0923dbca6d46a76db9a6afc69e043c85341ae", 3'849'406'307},
     .files = kWeb30kFiles},
    {.name = "Yahoo set1",
     .counts_source = kYahoo,
     .features = 699,
     .max_label = 4,
     .queries = 29'921,
     .documents = 709'877,
     .folds = kYahooSet1},
    {.name = "Yahoo set2",
     .counts_source = kYahoo,
     .features = 700,
     .max_label = 4,
     .queries = 6'330,
     .documents = 172'870,
     .folds = kYahooSet2},
    {.name = "Istella",
     .counts_source = kIstellaMainSource,
     .has_validation = false,
     .features = 220,
     .max_label = 4,
     .queries = 33'018,
     .documents = 10'454'629,
     .folds = kIstella,
     .checksums_source = kChecksums,
     .archive = {"istella-letor.tar.gz",
                 "d45899d9a6a0e48afb250aac7ee3dc50e73e263687f15761d754515cd8284e0b", 1'288'401'248},
     .files = kIstellaFiles},
    {.name = "Istella-S",
     .counts_source = kIstellaSource,
     .features = 220,
     .queries = 33'018,
     .documents = 3'408'630,
     .folds = kIstellaS,
     .checksums_source = kChecksums,
     .archive = {"istella-s-letor.tar.gz",
                 "41b21116a3650cc043dbe16f02ee39f4467f9405b37fdbcc9a6a05e230a38981", 472'129'615},
     .files = kIstellaSFiles},
    {.name = "Istella-X",
     .counts_source = kIstellaSource,
     .features = 220,
     .queries = 10'000,
     .documents = 26'791'447,
     .folds = kIstellaX,
     .checksums_source = kChecksums,
     .archive = {"istella-X.tar.gz",
                 "e67be60d1c6a68983a669e4de9df2c395914717b2017cb3b68a97eb89f2ea763", 4'743'657'398},
     .files = kIstellaXFiles},
}};

bool same_name(std::string_view one, std::string_view other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(),
      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

// Of the whole dataset, each query once: folds share their queries, but not their test queries.
PublishedSplit counts_of(const Dataset& dataset) {
  PublishedSplit all;
  const auto add = [&all](const Split& split) {
    all.queries += split.query_count();
    all.documents += split.doc_count();
  };
  if (dataset.folds.size() > 1) {
    for (const Fold& fold : dataset.folds) add(fold.test);
  } else {
    for (const auto& [name, split] : splits_of(dataset.folds.front())) add(*split);
  }
  return all;
}

}  // namespace

std::span<const PublishedData> published_data() { return kPublished; }

Result<const PublishedData*> find_published(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PublishedData& one : kPublished) {
    if (same_name(one.name, name)) return &one;
    names.push_back(one.name);
  }
  return Error{fmt::format("unknown dataset \"{}\"; known are {}", name, fmt::join(names, ", "))};
}

std::vector<PublishedFact> compare_with(const PublishedData& published, const Dataset& dataset) {
  std::vector<PublishedFact> facts;
  const auto add = [&facts](std::string what, std::uint64_t number, std::uint64_t found) {
    if (number > 0) facts.push_back({std::move(what), number, found});
  };
  const auto add_split = [&add](const std::string& place, const PublishedSplit& split,
                                const PublishedSplit& found) {
    add(place + "queries", split.queries, found.queries);
    add(place + "documents", split.documents, found.documents);
  };
  const auto with_validation = static_cast<std::uint64_t>(
      std::count_if(dataset.folds.begin(), dataset.folds.end(),
                    [](const Fold& fold) { return fold.validation.has_value(); }));
  add("folds", published.fold_count, dataset.folds.size());
  facts.push_back({"folds with validation data",
                   published.has_validation ? published.fold_count : 0, with_validation});
  add("largest feature id", published.features, dataset.source_feature_count);
  add("largest label", published.max_label.value_or(0), dataset.max_label);
  add_split("", {published.queries, published.documents}, counts_of(dataset));
  for (std::size_t number = 0; number < published.folds.size(); ++number) {
    const PublishedFold& fold = published.folds[number];
    for (const auto& [name, split] :
         {std::pair{"train", &fold.train}, std::pair{"validation", &fold.validation},
          std::pair{"test", &fold.test}}) {
      PublishedSplit found;
      std::string place = published.fold_count > 1 ? fmt::format("Fold{} {} ", number + 1, name)
                                                   : fmt::format("{} ", name);
      if (number < dataset.folds.size()) {
        for (const auto& [part, held] : splits_of(dataset.folds[number])) {
          if (part == name) found = {held->query_count(), held->doc_count()};
        }
      }
      add_split(place, *split, found);
    }
  }
  return facts;
}

std::optional<std::string_view> recognise(const Dataset& dataset) {
  for (const PublishedData& one : kPublished) {
    const auto facts = compare_with(one, dataset);
    if (std::all_of(facts.begin(), facts.end(),
                    [](const PublishedFact& fact) { return fact.found == fact.published; })) {
      return one.name;
    }
  }
  return std::nullopt;
}

}  // namespace plackett
